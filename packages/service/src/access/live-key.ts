/**
 * The transaction that does a call's work locks the row of the call's key and reads it again. So a call changes nothing
 * when its key has been revoked meanwhile, or when the DID has been taken from its org meanwhile. The operator, the
 * console and the service itself have no key row. A call that needs both rows locks the row of the DID before the row
 * of the key, in the same order as a transfer of the DID.
 */
import type { OrgId } from '@svc/protocol';
import type { SystemActor } from '../audit/audit-event.ts';
import { notFound, unauthorized } from '../errors.ts';
import type { ApiKeyRole } from '../ports/api-keys.ts';
import type { Repositories } from '../ports/store.ts';
import type { Caller } from './caller.ts';
import { isOfOrg } from './reading.ts';

type WithRow = Extract<Caller, { readonly key: unknown }>;

/**
 * Called after a wait. Throws `UNAUTHORIZED` when the key has been revoked meanwhile. It locks nothing, so it never
 * delays the key's revocation.
 */
export const assertLiveKey = async (
  { apiKeys }: Pick<Repositories, 'apiKeys'>,
  caller: Caller | SystemActor,
): Promise<void> => {
  if (!hasRow(caller)) return;
  const [known] = await apiKeys.findByHashes([caller.key.keyHash]);
  if (known == null || known.revokedAtMs !== null) throw notLive();
};

export const lockLiveKey = async (
  tx: Pick<Repositories, 'apiKeys'>,
  caller: Caller | SystemActor,
): Promise<void> => {
  if (!hasRow(caller)) return;
  if (!(await tx.apiKeys.lockLive(caller.key.keyHash))) throw notLive();
};

/**
 * Locks the row of the Principal or relying party that a key is for, so that it stays unchanged. Throws `NOT_FOUND`
 * when it is not the caller's any more.
 */
export const lockOwner = async (
  tx: Pick<Repositories, 'principals' | 'relyingParties'>,
  caller: Caller,
  subject: string,
  role: ApiKeyRole,
): Promise<void> => {
  if (role === 'principal') assertStillOf(caller, await tx.principals.findForShare(subject), subject);
  if (role === 'rp') assertStillOf(caller, await tx.relyingParties.findForShare(subject), subject);
};

/** Throws `NOT_FOUND` when the row has been removed, or belongs to another org than the caller's. */
export const assertStillOf = (
  caller: Caller | SystemActor,
  member: { readonly orgId: OrgId | null } | null,
  did: string,
): void => {
  if (member === null || (caller.class === 'org' && !isOfOrg(caller, member.orgId)))
    throw notFound(`No ${did} for this key.`);
};

const hasRow = (caller: Caller | SystemActor): caller is WithRow =>
  caller.class !== 'admin' && caller.class !== 'provision' && caller.class !== 'system';

const notLive = () => unauthorized('This API key is not live.');
