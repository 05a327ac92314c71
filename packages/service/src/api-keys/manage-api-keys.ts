/** Listing, issuing and revoking the keys of an owner; one audit event per change, in its transaction. */
import type { ApiKeyId, OrgId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import type { KeyOwner } from '../access/key-owner.ts';
import { lockLiveKey, lockOwner } from '../access/live-key.ts';
import { auditEvent } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { internal, invalidRequest, notFound } from '../errors.ts';
import { logRevocation } from '../fence/revocation-log.ts';
import type { ApiKeyRecord, ApiKeyRole } from '../ports/api-keys.ts';
import type { Repositories } from '../ports/store.ts';
import { type IssuedApiKey, issueApiKey } from './api-key.ts';

/**
 * With the longest labels and DIDs they and the live keys, as many as there may be unless that is set otherwise, have less
 * than the 2^20 bytes that our client libraries read.
 */
const MAX_REVOKED_LISTED = 900;

/** The newest first: every live key, and the 900 that were revoked last. */
export const listOwnedKeys = (
  { store }: Pick<ServiceDeps, 'store'>,
  owner: KeyOwner,
): Promise<readonly ApiKeyRecord[]> => store.apiKeys.list(subjectsOf(owner), owner.roles, MAX_REVOKED_LISTED);

const subjectsOf = ({ subject, formerSubjects = [] }: KeyOwner): readonly [string, ...string[]] => [
  subject,
  ...formerSubjects,
];

/** A key of the only class that the owner has. `INVALID_REQUEST` for an owner that is Principal and relying party at once. */
export const soleRole = ({ subject, roles }: KeyOwner): ApiKeyRole => {
  const [role, ...others] = roles;
  if (role === undefined) throw internal(`key owner ${subject} without a role`);
  if (others.length > 0)
    throw invalidRequest(
      `${subject} is a Principal and a relying party; issue with a key of the one that is meant.`,
    );
  return role;
};

/**
 * Refuses a caller whose own key has been revoked since it was let in, and one that the owner is no longer of: a key or a DID
 * that is taken back leaves no key behind. Whoever has had the answer to a revocation sees in the list every key that was
 * issued with it. `INVALID_REQUEST` where the owner has as many live keys as it may.
 */
export const issueOwnedKey = (
  deps: ServiceDeps,
  caller: Caller,
  owner: KeyOwner,
  { role, label }: { readonly role: ApiKeyRole; readonly label: string | null },
  requestId: string,
): Promise<IssuedApiKey> => {
  const { subject, roles } = owner;
  return deps.store.transaction(
    async (tx) => {
      await lockOwner(tx, caller, subject, role);
      await lockLiveKey(tx, caller);
      const live = await tx.apiKeys.countLiveForUpdate(subjectsOf(owner), roles);
      if (live >= deps.maxLiveKeys)
        throw invalidRequest(
          `${subject} has ${live} live keys, and ${deps.maxLiveKeys} are allowed; revoke one that is not needed.`,
        );
      const issued = await issueApiKey(tx, deps.random, { subject, role, label });
      const event = await auditedKey(tx, 'api_key.create', issued.record, requestId);
      await tx.audit.insert(auditEvent(deps, caller, event));
      return issued;
    },
    { exclusiveKey: `keys ${roles.join(' ')} ${subject}` },
  );
};

/** Idempotent: a key revoked before keeps its time, and nothing is recorded again. */
export const revokeOwnedKey = async (
  deps: ServiceDeps,
  caller: Caller,
  owner: KeyOwner,
  keyId: ApiKeyId,
  requestId: string,
): Promise<ApiKeyRecord> => {
  const key = await deps.store.apiKeys.findById(keyId);
  if (key === null || !subjectsOf(owner).includes(key.subject) || !owner.roles.includes(key.role))
    throw notFound(`No key ${keyId}.`);
  return deps.store.transaction(async (tx) => {
    const revoked = await tx.apiKeys.revoke(key.subject, keyId);
    if (revoked === null) return (await tx.apiKeys.findById(keyId)) ?? key;
    logRevocation(deps, { key_id: keyId });
    const event = await auditedKey(tx, 'api_key.revoke', revoked, requestId);
    await tx.audit.insert(auditEvent(deps, caller, event));
    return revoked;
  });
};

/** What is audited of a key: its owner's org sees it. */
export const auditedKey = async (
  tx: Repositories,
  action: 'api_key.create' | 'api_key.revoke',
  key: ApiKeyRecord,
  requestId: string,
) => {
  const { keyId, subject, role } = key;
  return { action, target: keyId, requestId, orgId: await orgOfKey(tx, key), details: { subject, role } };
};

/** The org that owns the key, or whose member owns it. */
const orgOfKey = async (tx: Repositories, { role, subject }: ApiKeyRecord): Promise<OrgId | null> => {
  if (role === 'observer') return null;
  if (role === 'org:read' || role === 'org:admin') return subject as OrgId;
  const repository = role === 'principal' ? tx.principals : tx.relyingParties;
  return (await repository.find(subject))?.orgId ?? null;
};
