/** Revokes again the Grants that a restore gave back: by the status lists kept beside the fence, and by the log. */
import type { DidWeb, GrantId } from '@svc/protocol';
import { getBit } from '@svc/status-list';
import { auditEvent, SYSTEM } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { readOwnCredential } from '../grants/own-credential.ts';
import { Revoker } from '../grants/revoke-grant.ts';
import { setStatusBits } from '../grants/status-list.ts';
import type { Repositories } from '../ports/store.ts';
import type { Kept } from './kept.ts';
import type { LostSpan } from './plan-restore.ts';
import type { LoggedRevocations } from './read-log.ts';

/** For the audit log. */
const REQUEST_ID = 'svc-admin-restore';

/**
 * Answers how many Grants were in force again until the restore began, which may have been cut off before: the number is signed.
 * Every step is safe to repeat. Rejects with the first that does not succeed.
 */
export const revokeAgain = async (
  deps: ServiceDeps,
  lists: readonly Kept[],
  logged: LoggedRevocations,
  { lostFromMs }: Pick<LostSpan, 'lostFromMs'>,
): Promise<number> => {
  for (const list of lists) await revokeByList(deps, list);
  for (const [grantId, principal] of logged.grants)
    await revokeOne(deps, principal as DidWeb, grantId as GrantId);
  return deps.store.restores.countRevoked(REQUEST_ID, lostFromMs);
};

/**
 * Every bit that was published stays set, also those of Grants that are lost: whoever reads the list alone must go on seeing
 * them revoked. A list that is not in this database names only such Grants.
 */
const revokeByList = async (deps: ServiceDeps, { name: url, kept }: Kept): Promise<void> => {
  // A bit counts whatever has become of the key since: it can only take away.
  const read = readOwnCredential(deps, url, String(kept.credential), { atAnyTime: true });
  if ('problem' in read) throw new Error(`the list ${url} beside the fence: ${read.problem}`);
  const lost = await deps.store.transaction((tx) => record(deps, tx, url, read.bits, Number(kept.version)));
  if (lost === null || lost.ids.length === 0) return;
  await deps.store.revocation.stampRevoked(lost.principal, lost.ids, deps.clock.nowMs());
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

/** Nothing where it is revoked already, or was made in the lost span: nothing here rests on it then. */
const revokeOne = async (deps: ServiceDeps, principal: DidWeb, grantId: GrantId): Promise<void> => {
  const grant = await deps.store.grants.find(grantId);
  if (grant?.principal !== principal || grant.revocationRecordedAtMs !== null) return;
  await new Revoker().revoke({ deps, caller: SYSTEM, principal, grantId, requestId: REQUEST_ID });
};
