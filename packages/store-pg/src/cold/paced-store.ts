/**
 * A store of objects for a process that also decides. What is read is decoded on its only thread, which takes milliseconds for each row
 * group: one is decoded at a time, and after it the thread is left to everything else for as long as that took.
 */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { type ObjectStore, ObjectStoreError, Semaphore } from '@svc/service';

/** Row groups that are in memory and not decoded yet, be they half a megabyte or several: whoever wants more of them waits before they are fetched. */
const FETCHED_AT_ONCE = 8;
const MAX_WAITING = 1_000;

export interface Pace {
  readonly nowMs: () => number;
  readonly nextTurn: () => Promise<unknown>;
  readonly pause: (ms: number) => Promise<unknown>;
}

const REAL: Pace = { nowMs: () => performance.now(), nextTurn: () => nextTurn(), pause: (ms) => pause(ms) };

/** `getRange` hands over its bytes in turn, in the order in which they came; to decode them must take no turn of the event loop. */
export const pacedStore = (objects: ObjectStore, pace: Pace = REAL): ObjectStore => {
  const gate = new Semaphore({
    ...{ atOnce: FETCHED_AT_ONCE, maxWaiting: MAX_WAITING },
    full: () => new ObjectStoreError('unavailable', `${MAX_WAITING} reads of cold days wait already`),
  });
  let free = Promise.resolve();
  const leave = async (): Promise<void> => {
    const beganMs = pace.nowMs();
    await pace.nextTurn();
    await pace.pause(pace.nowMs() - beganMs);
  };
  return {
    ...objects,
    getRange(name, range, stop) {
      const read = async () => {
        const bytes = await objects.getRange(name, range, stop);
        const turn = free;
        free = turn.then(leave);
        await turn;
        stop?.throwIfAborted();
        return bytes;
      };
      return gate.run(read, stop);
    },
  };
};
