/**
 * A key that is revoked while its call is under way changes nothing any more: the row is locked and read again in the
 * transaction that does the work. Operator and console secrets have no row.
 */
import { unauthorized } from '../errors.ts';
import type { Repositories } from '../ports/store.ts';
import type { Caller } from './caller.ts';

export const holdLiveKey = async (tx: Pick<Repositories, 'apiKeys'>, caller: Caller): Promise<void> => {
  if (caller.class === 'admin' || caller.class === 'provision') return;
  if (!(await tx.apiKeys.holdLive(caller.key.keyHash))) throw unauthorized('This API key is not live.');
};
