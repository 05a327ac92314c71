/**
 * Revokes again the Grants that are in force again after a restore. The sources are the status lists kept beside the
 * fence, the revocations made while nothing could sign the lists, and the log.
 */
import { type DidWeb, type GrantId, kidOfJws } from '@svc/protocol';
import { getBit } from '@svc/status-list';
import { auditEvent, SYSTEM } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import type { RevokedRecord, UnlistedEntries } from '../fence/records.ts';
import { readOwnCredential } from '../grants/own-credential.ts';
import { Revoker } from '../grants/revoke-grant.ts';
import { setStatusBits } from '../grants/status-list.ts';
import type { UnrevokedGrant } from '../ports/restores.ts';
import type { Repositories } from '../ports/store.ts';
import { identityOfKey } from '../service-keys/service-identity.ts';
import type { FenceRecord } from './fence-records.ts';
import type { FenceRecords } from './plan-restore.ts';
import { PUT_KEYS_BACK } from './put-keys-back.ts';
import type { LoggedRevocations } from './read-log.ts';

/** Request id in the audit log. */
const REQUEST_ID = 'svc-admin-restore';

/** Number of Grants in one transaction. For each, its row and a row of the audit log are written. */
const STEP = 5_000;
/** Deadline of one step. A disk that was just restored may fetch each page from remote storage. */
const DEADLINE_MS = 60_000;

export interface RevokeOptions {
  /** Number of Grants of a list that one transaction revokes. */
  readonly step?: number;
}

/**
 * Answers how many Grants were in force again and were revoked since `sinceMs`. This includes those of an earlier,
 * interrupted restore, because the number is signed. Every step is safe to repeat. Rejects with the error of the first
 * step that fails.
 */
export const revokeAgain = async (
  deps: ServiceDeps,
  { lists, revoked }: Pick<FenceRecords, 'lists'> & { readonly revoked: readonly RevokedRecord[] },
  logged: LoggedRevocations,
  sinceMs: number,
  { step = STEP }: RevokeOptions = {},
): Promise<number> => {
  for (const list of lists) await revokeByList(deps, readList(deps, list), step);
  for (const record of revoked)
    if (record.kind === 'unlisted') await revokeByList(deps, readUnlisted(record), step);
  for (const [grantId, principal] of logged.grants)
    await revokeOne(deps, principal as DidWeb, grantId as GrantId);
  return deps.store.restores.countRevoked(REQUEST_ID, sinceMs);
};

/**
 * Revokes the Grants of a list. Every published bit stays set, also those of lost Grants, because a reader of the list
 * alone must still see them revoked. A list that is not in this database has only lost Grants.
 *
 * A kill switch may have revoked all Grants of a list. So they are revoked in steps, each in its own transaction. The
 * first step also writes the list. If a later step is interrupted, the next restore finds the rest.
 */
const revokeByList = async (deps: ServiceDeps, list: RevokedEntries, step: number): Promise<void> => {
  const { store, clock } = deps;
  const inSteps = { deadlineMs: DEADLINE_MS };
  const lost = await store.transaction((tx) => beginList(deps, tx, list, step), inSteps);
  if (lost === null || lost.grants.length === 0) return;
  const chunks = inChunks(lost.grants, step);
  for (const grants of chunks.slice(1))
    await store.transaction((tx) => revokeStep(deps, tx, grants), inSteps);
  const revokedAtMs = await store.revocation.passBarrier(lost.principal, clock.nowMs());
  for (const grants of chunks)
    await store.transaction((tx) => tx.grants.setRevoked(idsOf(grants), revokedAtMs), inSteps);
};

/** Entries of a list that are revoked. */
interface RevokedEntries {
  readonly url: string;
  readonly bits: Uint8Array;
  /** Version under which the list was kept; null: the list did not have these entries yet. */
  readonly version: number | null;
}

/** Throws where the service did not sign the list. */
export const readList = (
  { identity, crypto }: ServiceDeps,
  { name: url, kept }: FenceRecord,
): RevokedEntries => {
  const text = String(kept.credential);
  // A bit is used whatever happened since to the key or to the service's DID, because it can only take authority away.
  const signer = { identity: identityOfKey(identity, kidOfJws(text, text.length) ?? ''), crypto };
  const read = readOwnCredential(signer, url, text, { atAnyTime: true });
  if ('problem' in read)
    throw new Error(`the list ${url} beside the fence: ${read.problem}. ${PUT_KEYS_BACK}`);
  return { url, bits: read.bits, version: Number(kept.version) };
};

/** The entries of Grants that were revoked while nothing could sign the list; none where the list has them since. */
const readUnlisted = ({ url, bits }: UnlistedEntries): RevokedEntries => ({
  url,
  bits: Buffer.from(bits, 'base64'),
  version: null,
});

const inChunks = <One>(all: readonly One[], size: number): readonly (readonly One[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );

/**
 * Does the first step. Answers all Grants of the list that are to be revoked; null: the list is not in this database.
 */
const beginList = async (
  deps: ServiceDeps,
  tx: Repositories,
  { url, bits, version }: RevokedEntries,
  step: number,
) => {
  const unrevoked = await tx.restores.listUnrevoked(url);
  const grants = unrevoked.filter(({ index }) => getBit(bits, index));
  await revokeStep(deps, tx, grants.slice(0, step));
  const list = await tx.statusLists.findForUpdate(url);
  if (list === null) return null;
  const missing = Array.from({ length: list.sizeBits }, (_, index) => index).filter(
    (index) => getBit(bits, index) && !getBit(list.bits, index),
  );
  if (missing.length > 0) await setStatusBits(deps, tx, list, missing);
  if (version !== null) await tx.restores.raiseListVersion(url, version + 1);
  return { principal: list.principal, grants };
};

const revokeStep = async (
  deps: ServiceDeps,
  tx: Repositories,
  grants: readonly UnrevokedGrant[],
): Promise<void> => {
  if (grants.length === 0) return;
  await tx.grants.recordRevocation(idsOf(grants));
  await tx.audit.insertAll(
    grants.map(({ id: target, orgId }) =>
      auditEvent(deps, SYSTEM, { action: 'grant.revoke', target, requestId: REQUEST_ID, orgId }),
    ),
  );
};

const idsOf = (grants: readonly UnrevokedGrant[]): readonly GrantId[] => grants.map(({ id }) => id);

/** Revokes a Grant of the log. Does nothing where it is revoked already, or is not in this database. */
const revokeOne = async (deps: ServiceDeps, principal: DidWeb, grantId: GrantId): Promise<void> => {
  if ((await standingOf(deps, principal, grantId)) !== 'in force') return;
  const orgId = (await deps.store.principals.find(principal))?.orgId ?? null;
  await new Revoker().revoke({ deps, caller: SYSTEM, principal, grantId, requestId: REQUEST_ID, orgId });
};

/**
 * State here of a Grant that was revoked by the log. `unknown`: it is not in this database, or of another Principal.
 */
export const standingOf = async (
  { store }: Pick<ServiceDeps, 'store'>,
  principal: string,
  grantId: string,
): Promise<'in force' | 'revoked' | 'unknown'> => {
  const grant = await store.grants.find(grantId as GrantId);
  if (grant?.principal !== principal) return 'unknown';
  return grant.revocationRecordedAtMs === null ? 'in force' : 'revoked';
};
