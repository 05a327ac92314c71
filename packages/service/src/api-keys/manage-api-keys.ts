/** Lists, issues and revokes the keys of an owner. Each change writes one audit event in its transaction. */
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
 * With the longest labels and DIDs, these and the live keys (at the default `maxLiveKeys`) take less than 2^20 bytes,
 * which is the most that our client libraries read.
 */
const MAX_REVOKED_LISTED = 900;

/** Every live key and the 900 that were revoked last; the newest first. */
export const listOwnedKeys = (
  { store }: Pick<ServiceDeps, 'store'>,
  owner: KeyOwner,
): Promise<readonly ApiKeyRecord[]> => store.apiKeys.list(subjectsOf(owner), owner.roles, MAX_REVOKED_LISTED);

const subjectsOf = ({ subject, formerSubjects = [] }: KeyOwner): readonly [string, ...string[]] => [
  subject,
  ...formerSubjects,
];

/**
 * The only role of keys that the owner has. `INVALID_REQUEST` for an owner that is a Principal and a relying party at
 * once.
 */
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
 * Issues a key. Refuses a caller whose own key has been revoked since it was authenticated, and a caller to which the
 * owner does not belong any more. So a key or DID that was taken back issues no further key. After the answer to a
 * revocation, the list shows every key that was issued with the revoked key. `INVALID_REQUEST` when the owner has
 * reached its limit of live keys.
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

/** Idempotent: a key that is revoked already keeps its time, and nothing more is recorded. */
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

/** The audit event of a change to a key; the org of the key's owner sees it. */
export const auditedKey = async (
  tx: Repositories,
  action: 'api_key.create' | 'api_key.revoke',
  key: ApiKeyRecord,
  requestId: string,
) => {
  const { keyId, subject, role } = key;
  return { action, target: keyId, requestId, orgId: await orgOfKey(tx, key), details: { subject, role } };
};

/** The org that owns the key, or that the owner of the key belongs to. */
const orgOfKey = async (tx: Repositories, { role, subject }: ApiKeyRecord): Promise<OrgId | null> => {
  if (role === 'observer') return null;
  if (role === 'org:read' || role === 'org:admin') return subject as OrgId;
  const repository = role === 'principal' ? tx.principals : tx.relyingParties;
  return (await repository.find(subject))?.orgId ?? null;
};
