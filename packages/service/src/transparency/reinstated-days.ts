import type { ServiceDeps } from '../deps.ts';
import type { Day } from '../ports/checkpoints.ts';

/**
 * True when a restore put the checkpoint of this day back: then some of its Receipts may be missing, and it has no
 * tiles (protocol §10).
 */
export const isReinstated = async ({ store }: Pick<ServiceDeps, 'store'>, day: Day): Promise<boolean> =>
  (await store.restores.list()).some(({ reinstatedDays }) => reinstatedDays.includes(day));
