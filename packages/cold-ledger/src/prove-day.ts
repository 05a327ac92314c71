/** Checks whether a recorded day is in the store as the service packed and published it. */
import { assertAnswers } from '@svc/object-store';
import {
  type CheckpointRecord,
  type ColdManifest,
  type Day,
  messageOf,
  ObjectStoreError,
  type ServiceDeps,
  StoreError,
} from '@svc/service';
import { type DayWork, type DayWorkDeps, dayWork } from './day-work.ts';
import type { ColdDay } from './manifest.ts';
import { manifestReader, type ReadManifest } from './read-manifest.ts';
import { assertSameStore, isSureOfStore } from './same-store.ts';

export interface ProveDeps extends DayWorkDeps, Pick<ServiceDeps, 'crypto' | 'identity' | 'log'> {
  readonly store: Pick<ServiceDeps['store'], 'coldDays' | 'checkpoints'>;
  /** Runs the work; default: on the caller's thread. */
  readonly work?: DayWork;
}

export const workOf = (deps: Pick<ProveDeps, 'work'> & DayWorkDeps): DayWork => deps.work ?? dayWork(deps);

const readOrProblem = (read: ReadManifest, text: string): ColdDay | string => {
  try {
    return read(text);
  } catch (error) {
    return messageOf(error);
  }
};

/**
 * Resolves if `error` concerns one day alone, so that the others may go on: the store and the database answer.
 * Otherwise, and once `stop` is aborted, rejects with `error`; if another store answers, rejects as `assertSameStore`
 * does.
 */
export const assertOfDay = async (
  { objects, store }: Pick<ProveDeps, 'objects' | 'store'>,
  error: unknown,
  stop: AbortSignal,
): Promise<void> => {
  const isAway = await Promise.all([assertAnswers(objects, stop), store.coldDays.countCold()]).then(
    () => false,
    () => true,
  );
  if (isAway || stop.aborted) throw error;
  await assertSameStore({ objects, store }, stop);
};

/**
 * Runs `work` on a day, and repeats it once if the store or the database failed and both answer now. So a short outage
 * is not noted as a fault of the day.
 */
export const throughOutage = async <T>(
  deps: Pick<ProveDeps, 'objects' | 'store'>,
  stop: AbortSignal,
  work: () => Promise<T>,
): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ObjectStoreError || error instanceof StoreError)) throw error;
    await assertOfDay(deps, error, stop);
    return work();
  }
};

/** Rejects for a day that is not recorded. */
export const readRecordedDay = async (
  store: ProveDeps['store'],
  day: Day,
): Promise<{ readonly recorded: ColdManifest; readonly published: CheckpointRecord }> => {
  const [recorded, published] = await Promise.all([
    store.coldDays.findManifest(day),
    store.checkpoints.find(day),
  ]);
  if (recorded === null || published === null) throw new Error(`${day} has no manifest or no checkpoint`);
  return { recorded, published };
};

/**
 * Reads every byte that the manifest of a recorded day names, and compares it with the day's checkpoint. With
 * `isCopied`, also compares every column of every Receipt that is kept beside the ledger, since the checkpoint covers
 * only what is signed.
 *
 * Resolves with the difference, or with the reason why this day could not be compared; either is noted in the database
 * and logged. Null: no difference, or stopped. Rejects if the store or the database does not answer, or the store is
 * another one.
 */
export const proveDay = async (
  deps: ProveDeps,
  day: Day,
  stop: AbortSignal,
  { isCopied = false }: { readonly isCopied?: boolean } = {},
): Promise<string | null> => {
  const { crypto, identity, log, store } = deps;
  const { recorded, published } = await readRecordedDay(store, day);
  const find = async (): Promise<string | null> => {
    const manifest = readOrProblem(manifestReader(identity, crypto), recorded.manifest);
    if (typeof manifest === 'string') return manifest;
    const problem = await workOf(deps).findProblem(manifest, published, stop);
    if (problem !== null || !isCopied) return problem;
    const lost = await workOf(deps).findLoss(manifest, stop);
    return lost === null ? null : `its objects differ from what is kept in ${lost}`;
  };
  const problem = await throughOutage(deps, stop, find).catch(async (error: unknown) => {
    if (stop.aborted) return null;
    await assertOfDay(deps, error, stop);
    return `it could not be proven: ${messageOf(error)}`;
  });
  if (!(await isSureOfStore(deps, stop))) return null;
  if (problem !== null) log.error('cold.not_proven', { day, problem });
  await store.coldDays.noteProof(day, problem);
  return problem;
};

/**
 * Number of days of each kind in a round; the rest is left to the next round. Without a limit, a round with some
 * hundred million Receipts would take longer than the hour until the next one.
 */
const DAYS_A_ROUND = 8;
const EVERY_DAYS = 30;

/**
 * Proves some of the cold days, each once a month, and some of the packed days that were not proven when last read.
 * Resolves with the number of proven days, and the days that were not proven.
 */
export const proveAgain = async (
  deps: ProveDeps & Pick<ServiceDeps, 'clock'>,
  stop: AbortSignal,
): Promise<{ readonly proven: number; readonly notProven: readonly Day[] }> => {
  let proven = 0;
  const notProven: Day[] = [];
  const nowMs = deps.clock.nowMs();
  for (const day of await deps.store.coldDays.listToProve(EVERY_DAYS, DAYS_A_ROUND, nowMs)) {
    if (stop.aborted) break;
    if ((await proveDay(deps, day, stop, { isCopied: true })) !== null) notProven.push(day);
    else if (!stop.aborted) proven += 1;
  }
  return { proven, notProven };
};
