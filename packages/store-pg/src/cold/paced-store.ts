/**
 * A store of objects for a process that also decides. What is read is decoded on its only thread, which takes milliseconds for each row
 * group: one is decoded at a time, and after it the thread is left to everything else for as long as that took. Who waits to read takes
 * turns with other tenants, since the leaves of a day are read by whoever likes.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { FairQueue, type ObjectStore, ObjectStoreError, type Tenant } from '@svc/service';
import { SharedWork } from './shared-work.ts';

/** Row groups that are in memory and not decoded yet, be they half a megabyte or several: whoever wants more of them waits before they are fetched. */
const FETCHED_AT_ONCE = 8;
const FETCHED_PER_ORG = 4;
/** Half of them may be newcomers and the public. */
const MAX_WAITING = 1_000;
/** Longer than anybody waits for an answer. */
const MAX_WAIT_MS = 20_000;

const account = new AsyncLocalStorage<Tenant | null>();

/** What `work` reads waits in the turn of `tenant`; null: the service itself. */
export const onAccountOf = <T>(tenant: Tenant | null, work: () => Promise<T>): Promise<T> =>
  account.run(tenant, work);

export interface Pace {
  readonly nowMs: () => number;
  readonly nextTurn: () => Promise<unknown>;
  readonly pause: (ms: number) => Promise<unknown>;
}

const REAL: Pace = { nowMs: () => performance.now(), nextTurn: () => nextTurn(), pause: (ms) => pause(ms) };

/** `getRange` hands over its bytes in turn, in the order in which they came from the store; to decode them must take no turn of the event loop. */
export interface PacedStore extends ObjectStore {
  /** For ranges that many want at once and somebody keeps: one that is being read is read for all who ask for it meanwhile. */
  readonly shared: Pick<ObjectStore, 'getRange'>;
  /** Does in turn what takes the thread, once for all who want it under that key meanwhile. */
  inTurn<T>(key: string, work: () => T, stop?: AbortSignal): Promise<T>;
}

export const pacedStore = (objects: ObjectStore, pace: Pace = REAL): PacedStore => {
  const queue = new FairQueue({
    ...{
      atOnce: FETCHED_AT_ONCE,
      atOncePerOrg: FETCHED_PER_ORG,
      maxWaiting: MAX_WAITING,
      waitMs: MAX_WAIT_MS,
    },
    refuse: (why) => new ObjectStoreError('unavailable', `a read of cold days: ${why}`),
  });
  let free = Promise.resolve();
  const leave = async (): Promise<void> => {
    const beganMs = pace.nowMs();
    await pace.nextTurn();
    await pace.pause(pace.nowMs() - beganMs);
  };
  const takeTurn = (): Promise<void> => {
    const turn = free;
    free = turn.then(leave);
    return turn;
  };
  const read: ObjectStore['getRange'] = async (name, range, stop) => {
    const bytes = await objects.getRange(name, range, stop);
    await takeTurn();
    stop?.throwIfAborted();
    return bytes;
  };
  const tenantNow = () => account.getStore() ?? null;
  const [sharedReads, sharedWork] = [new SharedWork(queue), new SharedWork(queue)];
  return {
    ...objects,
    getRange: (name, range, stop) => queue.run({ tenant: tenantNow() }, () => read(name, range, stop), stop),
    shared: {
      getRange: (name, range, stop) =>
        sharedReads.run(`${name} ${range.offset}`, tenantNow(), () => read(name, range), stop),
    },
    inTurn: (key, work, stop) => sharedWork.run(key, tenantNow(), () => takeTurn().then(work), stop),
  };
};
