/**
 * Runs the long work of a day on separate threads, one for each piece, whose memory is released when it ends. Two
 * threads pack a day: one stores objects, the other reads them back.
 */
import { MessageChannel, Worker } from 'node:worker_threads';
import { type DayWork, type PackedDay, packedOf, type ReadBackDay, type WrittenDay } from '@svc/cold-ledger';
import { filePlaces, freeFilePlacesOf } from '@svc/object-store';
import {
  ObjectStoreError,
  type ObjectStoreErrorKind,
  StoreError,
  type StoreErrorKind,
  untilAborted,
  withinMs,
} from '@svc/service';
import type { PackOutcome, PackPlaces, PackTask, PackThreadData } from './pack-thread.ts';

/**
 * Memory limits of one thread. A row group, its rows and what is made of them take some tens of MB; buffers come in
 * addition. With twice the young generation, packing took a tenth less time, but on Node 24 more memory than it may.
 */
const LIMITS = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 24 };

/** Milliseconds to wait for a thread to end; one that waits for a mount ends only when the mount answers. */
const END_MS = 5_000;

/**
 * `program`: the file that runs `runPackThread` when it is started on a thread. Rejects for a day that exceeds the
 * memory limits.
 */
export const workOnThread = (program: URL, places: PackPlaces): DayWork => {
  /** Threads that were told to end and have not ended. */
  const ending = new Set<Worker>();

  const assertNoneEnding = (): void => {
    if (ending.size > 0)
      throw new ObjectStoreError('unavailable', 'an earlier thread was told to end and has not ended yet');
  };

  /** Once `stop` is aborted, the thread is terminated wherever it is. What it leaves is the same as after a kill. */
  const runOn = async (task: PackTask, stop: AbortSignal): Promise<unknown> => {
    stop.throwIfAborted();
    const workerData: PackThreadData = { ...places, task, filePlaces: filePlaces() };
    const thread = new Worker(program, {
      ...{ workerData, resourceLimits: LIMITS },
      transferList: 'objects' in task ? [task.objects] : [],
    });
    // Read now: a thread that has ended has no id.
    const { threadId } = thread;
    thread.once('exit', () => freeFilePlacesOf(threadId));
    try {
      return await untilAborted(answerOf(thread), stop);
    } finally {
      ending.add(thread);
      const ended = thread.terminate().finally(() => ending.delete(thread));
      await withinMs(END_MS, ended, () => {});
    }
  };

  const runAlone = async (task: PackTask, stop: AbortSignal): Promise<unknown> => {
    assertNoneEnding();
    return runOn(task, stop);
  };

  return {
    async pack(day, stop) {
      assertNoneEnding();
      const { port1, port2 } = new MessageChannel();
      const failed = new AbortController();
      const either = AbortSignal.any([stop, failed.signal]);
      const tasks = [
        { what: 'write', day, objects: port1 },
        { what: 'readBack', objects: port2 },
      ] as const;
      const done = tasks.map((task) =>
        runOn(task, either).catch((error: unknown) => {
          failed.abort(error);
          throw error;
        }),
      );
      // When one thread fails, the other has been told to end.
      await Promise.allSettled(done);
      const [written, readBack] = (await Promise.all(done)) as [WrittenDay, ReadBackDay];
      return packedOf(written, readBack);
    },
    clear: async (manifest, stop) => (await runAlone({ what: 'clear', manifest }, stop)) as PackedDay,
    findProblem: async (manifest, published, stop) =>
      (await runAlone({ what: 'findProblem', manifest, published }, stop)) as string | null,
    findLoss: async (manifest, stop) =>
      (await runAlone({ what: 'findLoss', manifest }, stop)) as string | null,
  };
};

const answerOf = (thread: Worker): Promise<unknown> =>
  new Promise((resolve, reject) => {
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('the packing thread ended without an answer')));
    thread.once('message', (outcome: PackOutcome) =>
      outcome.ok ? resolve(outcome.value) : reject(errorOf(outcome)),
    );
  });

/** The error as the thread threw it. */
const errorOf = ({ name, kind, message }: Extract<PackOutcome, { ok: false }>): Error => {
  if (name === 'ObjectStoreError') return new ObjectStoreError(kind as ObjectStoreErrorKind, message);
  if (name === 'StoreError') return new StoreError(kind as StoreErrorKind, message);
  return Object.assign(new Error(message), { name });
};
