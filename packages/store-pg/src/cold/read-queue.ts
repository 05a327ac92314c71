/**
 * Reads of cold days for a process that also decides. Row groups are decoded elsewhere, on a thread of its own; what is
 * found there is taken over one by one, and after each this thread is left to everything else for as long as that took.
 * So it is after a Receipt that is looked up by its id, which is decoded here: a page of each column takes less time
 * than to have another thread do it. What is in memory for all that is bounded, and who waits to read takes turns with
 * other tenants, since the leaves of a day are read by whoever likes.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import {
  type GroupSource,
  groupReader,
  type ReadElsewhere,
  type ReadGroup,
  type Wanted,
} from '@svc/cold-ledger';
import {
  FairLimiter,
  type ObjectStore,
  ObjectStoreError,
  Semaphore,
  type Tenant,
  untilAborted,
} from '@svc/service';
import { SharedWork } from './shared-work.ts';

/**
 * Row groups that are in memory and not decoded yet, be they half a megabyte or several: whoever wants more of them
 * waits before they are fetched.
 */
const FETCHED_AT_ONCE = 8;
const FETCHED_PER_ORG = 4;
/** One is decoded while what was found in another is taken over. */
const DECODED_AT_ONCE = 2;
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

/** A tail that is being read is read for all who ask for it meanwhile. */
export interface ReadQueue extends GroupSource {
  /**
   * Does in turn what takes this thread, once for all who want it under that key meanwhile. Afterwards the thread is
   * left to everything else for as long as that took.
   */
  inTurn<T>(key: string, work: () => T, stop?: AbortSignal): Promise<T>;
}

export const readQueue = (
  objects: Pick<ObjectStore, 'getRange'>,
  read: ReadElsewhere,
  pace: Pace = REAL,
  readHere: ReadGroup = groupReader(),
): ReadQueue => {
  const refusal = (why: string) => new ObjectStoreError('unavailable', `a read of cold days: ${why}`);
  const queue = new FairLimiter({
    ...{ atOnce: FETCHED_AT_ONCE, atOncePerOrg: FETCHED_PER_ORG },
    ...{ maxWaiting: MAX_WAITING, waitMs: MAX_WAIT_MS, refuse: refusal },
  });
  const decoding = new Semaphore({
    ...{ atOnce: DECODED_AT_ONCE, maxWaiting: FETCHED_AT_ONCE },
    full: () => refusal('too many at once'),
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
  const tenantNow = () => account.getStore() ?? null;
  const [sharedTails, sharedWork] = [new SharedWork(queue), new SharedWork(queue)];
  return {
    readGroup(place, range, wanted, stop) {
      const work = async () => {
        const fetched = { ...place, group: await objects.getRange(place.name, range, stop) };
        if (isLookUp(wanted)) {
          await takeTurn();
          stop?.throwIfAborted();
          return readHere(fetched, wanted);
        }
        return decoding.run(async () => {
          stop?.throwIfAborted();
          const found = await read(fetched, wanted);
          await takeTurn();
          return found.open();
        });
      };
      // A caller that stops gets its rejection at once; work that was handed over keeps its place until it is done.
      const found = queue.run({ tenant: tenantNow() }, work, stop);
      return stop === undefined ? found : untilAborted(found, stop);
    },
    readTail: (name, range, stop) =>
      sharedTails.run(`${name} ${range.offset}`, tenantNow(), () => objects.getRange(name, range), stop),
    inTurn: (key, work, stop) => sharedWork.run(key, tenantNow(), () => takeTurn().then(work), stop),
  };
};

const isLookUp = ({ where }: Wanted): boolean =>
  where.some(({ column, oneOf }) => column === 'receipt_id' && oneOf.length === 1);
