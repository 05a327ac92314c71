/**
 * A store of objects for a process that also decides. What is read is decoded on its only thread, which takes milliseconds for each row
 * group: one is decoded at a time, and after it the thread is left to everything else for as long as that took.
 */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { ObjectStore } from '@svc/service';

export interface Pace {
  readonly nowMs: () => number;
  readonly nextTurn: () => Promise<unknown>;
  readonly pause: (ms: number) => Promise<unknown>;
}

const REAL: Pace = { nowMs: () => performance.now(), nextTurn: () => nextTurn(), pause: (ms) => pause(ms) };

/** `getRange` hands over its bytes in turn, in the order in which they came; to decode them must take no turn of the event loop. */
export const pacedStore = (objects: ObjectStore, pace: Pace = REAL): ObjectStore => {
  let free = Promise.resolve();
  const leave = async (): Promise<void> => {
    const beganMs = pace.nowMs();
    await pace.nextTurn();
    await pace.pause(pace.nowMs() - beganMs);
  };
  return {
    ...objects,
    async getRange(name, range, stop) {
      const bytes = await objects.getRange(name, range, stop);
      const turn = free;
      free = turn.then(leave);
      await turn;
      stop?.throwIfAborted();
      return bytes;
    },
  };
};
