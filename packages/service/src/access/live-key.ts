/**
 * A key that is revoked while its call is under way changes nothing any more: the row is locked and read again in the
 * transaction that does the work. Operator and console secrets have no row, nor has the service itself.
 */
import type { SystemActor } from '../audit/audit-event.ts';
import { unauthorized } from '../errors.ts';
import type { Repositories } from '../ports/store.ts';
import type { Caller } from './caller.ts';

export const holdLiveKey = async (
  tx: Pick<Repositories, 'apiKeys'>,
  caller: Caller | SystemActor,
): Promise<void> => {
  if (caller.class === 'admin' || caller.class === 'provision' || caller.class === 'system') return;
  if (!(await tx.apiKeys.holdLive(caller.key.keyHash))) throw unauthorized('This API key is not live.');
};
