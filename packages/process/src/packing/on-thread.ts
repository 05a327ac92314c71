/**
 * The long work of a day on a thread of its own, one for each piece: what it held is given back with it. A day is
 * packed by two, one of which reads back what the other one stores.
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
 * Memory limits of one thread. A row group, its rows and what they are made of take some tens; buffers come beside
 * them. With twice as much for the young generation packing took a tenth less of the time, and on Node 24 more memory
 * than it may.
 */
const LIMITS = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 24 };

/** A thread that waits for a mount ends when that answers. */
const END_MS = 5_000;

/**
 * `program`: the file that runs `runPackThread` where it finds itself on a thread. A day that does not fit into the
 * limits rejects.
 */
export const workOnThread = (program: URL, places: PackPlaces): DayWork => {
  /** Threads that were told to end and have not. */
  const ending = new Set<Worker>();

  const assertNoneEnding = (): void => {
    if (ending.size > 0)
      throw new ObjectStoreError('unavailable', 'a thread that was to end waits for it still');
  };

  /** Once `stop` is aborted the thread is ended wherever it is, as by a kill: what it leaves is what a kill leaves. */
  const runOn = async (task: PackTask, stop: AbortSignal): Promise<unknown> => {
    stop.throwIfAborted();
    const workerData: PackThreadData = { ...places, task, filePlaces: filePlaces() };
    const thread = new Worker(program, {
      ...{ workerData, resourceLimits: LIMITS },
      transferList: 'objects' in task ? [task.objects] : [],
    });
    // It has none once it has ended.
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
      // The other thread has been told to end by then.
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

/** As it was thrown there. */
const errorOf = ({ name, kind, message }: Extract<PackOutcome, { ok: false }>): Error => {
  if (name === 'ObjectStoreError') return new ObjectStoreError(kind as ObjectStoreErrorKind, message);
  if (name === 'StoreError') return new StoreError(kind as StoreErrorKind, message);
  return Object.assign(new Error(message), { name });
};
