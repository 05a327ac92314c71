/** What the commands about cold days share: the worker's configuration, its lock, and the day that they name. */
import { UsageError } from '@svc/cli/command-line';
import type { PackDaysDeps } from '@svc/cold-ledger';
import { type Environment, type loadWorkerSecrets, secretsOfOthers } from '@svc/config';
import { readWorkerConfig } from '@svc/process';
import type { Day, Store } from '@svc/service';
import { isDay } from '@svc/transparency';
import { withOpened } from './open.ts';

/**
 * Uses the worker's configuration, so that no secret of the API is needed. `load`: loads the signing keys; default:
 * none.
 */
export const withPacking = (
  env: Environment,
  work: (packing: PackDaysDeps, store: Store) => Promise<number>,
  load: typeof loadWorkerSecrets = secretsOfOthers,
): Promise<number> =>
  withOpened(env, { read: readWorkerConfig, load }, ({ packing, service: { store } }) => {
    if (packing === null)
      throw new UsageError(
        'SVC_COLD is not set: set it to the store of cold days, as the worker has it (with `npm start`: file:// and the folder cold in SVC_DATA_DIR)',
      );
    return work(packing, store);
  });

/** Runs in place of the worker's job `pack-days`, under its lock, so that no worker runs the job meanwhile. */
export const asPacker = (
  env: Environment,
  work: (packing: PackDaysDeps, stop: AbortSignal) => Promise<number>,
  load?: typeof loadWorkerSecrets,
): Promise<number> =>
  withPacking(
    env,
    async (packing, store) => {
      const done = await store.exclusive('job:pack-days', async (lost) => {
        const code = await work(packing, lost);
        // If the lock was lost, the work was not completed, whatever was counted.
        lost.throwIfAborted();
        return code;
      });
      if (!done.held)
        throw new Error('a worker runs pack-days at this moment: try again when its round has ended');
      return done.value;
    },
    load,
  );

/**
 * The numbers of days must be given: a default that is shorter than the worker's setting would pack or remove days too
 * early.
 */
export const assertDaysSet = (env: Environment, names: readonly string[]): void => {
  const unset = env.SVC_ENV === 'production' ? names.filter((name) => !env[name]) : [];
  if (unset.length > 0)
    throw new UsageError(
      `${unset.join(' and ')} must be set to what the worker has; the defaults are 35 and 7 days`,
    );
};

/** The operand or option as a day. Throws `UsageError` if it is none. */
export const dayOf = (value: unknown): Day => {
  if (typeof value !== 'string' || !isDay(value))
    throw new UsageError(`${String(value)} is not a day: write it as YYYY-MM-DD`);
  return value;
};
