/**
 * A key that is revoked while its call is under way changes nothing any more: the row is locked and read again in the
 * transaction that does the work. Operator and console secrets have no row, nor has the service itself.
 */
import type { SystemActor } from '../audit/audit-event.ts';
import { unauthorized } from '../errors.ts';
import type { Repositories } from '../ports/store.ts';
import type { Caller } from './caller.ts';

type WithRow = Extract<Caller, { readonly key: unknown }>;

/** After a wait: `UNAUTHORIZED` where the key has been revoked meanwhile. */
export const assertLiveKey = async (
  { apiKeys }: Pick<Repositories, 'apiKeys'>,
  { key: { keyHash } }: Pick<WithRow, 'key'>,
): Promise<void> => {
  const [known] = await apiKeys.findByHashes([keyHash]);
  if (known == null || known.revokedAtMs !== null) throw notLive();
};

export const holdLiveKey = async (
  tx: Pick<Repositories, 'apiKeys'>,
  caller: Caller | SystemActor,
): Promise<void> => {
  if (caller.class === 'admin' || caller.class === 'provision' || caller.class === 'system') return;
  if (!(await tx.apiKeys.holdLive(caller.key.keyHash))) throw notLive();
};

const notLive = () => unauthorized('This API key is not live.');
