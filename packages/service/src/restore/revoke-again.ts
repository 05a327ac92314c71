/** Takes away again what a restore gave back: by the status lists and keys kept beside the fence, and by the log. */
import type { DidWeb, GrantId } from '@svc/protocol';
import { getBit } from '@svc/status-list';
import { auditEvent, SYSTEM } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { readOwnCredential } from '../grants/own-credential.ts';
import { Revoker } from '../grants/revoke-grant.ts';
import { setStatusBits } from '../grants/status-list.ts';
import type { Repositories } from '../ports/store.ts';
import { compromiseKey, retireKey } from '../signing-keys/signing-keys.ts';
import type { Kept } from './kept.ts';
import type { LoggedRevocations } from './read-log.ts';

/** For the audit log. */
const REQUEST_ID = 'svc-admin-restore';

/** What was in force again until now. */
export interface RevokedAgain {
  readonly grants: number;
  readonly keys: number;
  readonly apiKeys: number;
}

/** Every step is safe to repeat. Rejects with the first that does not succeed. */
export const revokeAgain = async (
  deps: ServiceDeps,
  lists: readonly Kept[],
  revoked: readonly Kept[],
  logged: LoggedRevocations,
): Promise<RevokedAgain> => {
  const counts = { grants: 0, keys: 0, apiKeys: 0 };
  for (const list of lists) counts.grants += await revokeByList(deps, list);
  for (const [grantId, principal] of logged.grants)
    if (await revokeOne(deps, principal as DidWeb, grantId as GrantId)) counts.grants += 1;
  const states = [
    ...revoked.map(({ name, kept }) => ({ name, principal: kept.principal, state: kept.state })),
  ];
  for (const [kid, principal] of logged.compromisedKeys)
    states.push({ name: `key:${kid}`, principal, state: 'compromised' });
  for (const { name, principal, state } of states)
    if (name.startsWith('key:') && (await moveKey(deps, String(principal), name.slice(4), state)))
      counts.keys += 1;
  const apiKeys = revoked.map(({ name }) => name).filter((name) => name.startsWith('api-key:'));
  for (const keyId of [...apiKeys.map((name) => name.slice(8)), ...logged.apiKeys])
    if (await deps.store.restores.revokeApiKey(keyId)) counts.apiKeys += 1;
  return counts;
};

/**
 * Every bit that was published stays set, also those of Grants that are lost: whoever reads the list alone must go on seeing
 * them revoked. A list that is not in this database names only such Grants.
 */
const revokeByList = async (deps: ServiceDeps, { name: url, kept }: Kept): Promise<number> => {
  const read = readOwnCredential(deps, url, String(kept.credential));
  if ('problem' in read) throw new Error(`the list ${url} beside the fence: ${read.problem}`);
  const lost = await deps.store.transaction((tx) => record(deps, tx, url, read.bits, Number(kept.version)));
  if (lost === null || lost.ids.length === 0) return 0;
  await deps.store.revocation.stampRevoked(lost.principal, lost.ids, deps.clock.nowMs());
  return lost.ids.length;
};

const record = async (
  deps: ServiceDeps,
  tx: Repositories,
  url: string,
  bits: Uint8Array,
  version: number,
) => {
  const unrevoked = await tx.restores.listUnrevoked(url);
  const ids = unrevoked.filter(({ index }) => getBit(bits, index)).map(({ id }) => id);
  await tx.grants.recordRevocation(ids);
  const list = await tx.statusLists.findForUpdate(url);
  if (list === null) return null;
  const missing = Array.from({ length: list.sizeBits }, (_, index) => index).filter(
    (index) => getBit(bits, index) && !getBit(list.bits, index),
  );
  if (missing.length > 0) await setStatusBits(deps, tx, list, missing);
  await tx.restores.raiseListVersion(url, version + 1);
  for (const target of ids)
    await tx.audit.insert(
      auditEvent(deps, SYSTEM, { action: 'grant.revoke', target, requestId: REQUEST_ID }),
    );
  return { principal: list.principal, ids };
};

/** False: it is revoked already, or was made in the lost span and nothing here rests on it. */
const revokeOne = async (deps: ServiceDeps, principal: DidWeb, grantId: GrantId): Promise<boolean> => {
  const grant = await deps.store.grants.find(grantId);
  if (grant?.principal !== principal || grant.revocationRecordedAtMs !== null) return false;
  await new Revoker().revoke({ deps, caller: SYSTEM, principal, grantId, requestId: REQUEST_ID });
  return true;
};

const moveKey = async (deps: ServiceDeps, did: string, kid: string, state: unknown): Promise<boolean> => {
  const principal = await deps.store.principals.find(did);
  const key = principal?.keys.find((one) => one.kid === kid);
  if (principal == null || key === undefined || key.state === state || key.state === 'compromised')
    return false;
  const request = { caller: SYSTEM, principal: principal.did, kid, requestId: REQUEST_ID };
  await (state === 'compromised' ? compromiseKey(deps, request) : retireKey(deps, request));
  return true;
};
