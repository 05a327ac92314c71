/**
 * Refuses a start if the database belongs to a deployment with a fence or cold days, and the configuration does not say
 * where they are.
 */
import type { Store } from '@svc/service';
import { ConfigurationError } from './configuration.ts';

/**
 * Rejects if the database has a fence. Without this check a restored backup would go unnoticed although the deployment
 * has a fence.
 */
export const refuseWithoutFence = async ({ restores }: Pick<Store, 'restores'>): Promise<void> => {
  const { seq } = await restores.findLast();
  if (seq === 0) return;
  throw new ConfigurationError([
    'SVC_FENCE is none, and this database has a fence: set SVC_FENCE to the place of the fence, as every other process has it, or give the fence up with svc-admin fence give-up',
  ]);
};

/** Rejects if days are cold. Without this check a read of one would answer 503, as if the fault were temporary. */
export const refuseWithoutCold = async ({ coldDays }: Pick<Store, 'coldDays'>): Promise<void> => {
  const count = await coldDays.countCold();
  if (count === 0) return;
  throw new ConfigurationError([
    `SVC_COLD is not set, and ${count === 1 ? 'a day' : `${count} days`} of this database can be read only from that store: set SVC_COLD to it, as every other process has it`,
  ]);
};
