/**
 * The transaction that does a call's work locks and reads again the row of its key, so that a key revoked meanwhile, or an org
 * that the DID was taken from meanwhile, changes nothing. Operator and console secrets have no row, nor has the service
 * itself. A call that needs both rows locks that of the DID before that of the key, as a transfer of the DID does.
 */
import type { OrgId } from '@svc/protocol';
import type { SystemActor } from '../audit/audit-event.ts';
import { notFound, unauthorized } from '../errors.ts';
import type { ApiKeyRole } from '../ports/api-keys.ts';
import type { Repositories } from '../ports/store.ts';
import type { Caller } from './caller.ts';
import { isOfOrg } from './reading.ts';

type WithRow = Extract<Caller, { readonly key: unknown }>;

/** After a wait: `UNAUTHORIZED` where the key has been revoked meanwhile. Nothing is locked: its revocation waits for nobody. */
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
 * The row of a Principal or relying party that a key is for stays as it is. `NOT_FOUND` where it is not the caller's
 * any more.
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

/** Throws `NOT_FOUND` where the locked row is gone, or belongs to another org than the caller's. */
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
