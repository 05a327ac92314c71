/**
 * The port, on any driver. Names are checked, data that is read is hashed and compared, each attempt has a deadline,
 * failed attempts are repeated, and only a few calls run at a time. A call that does not end in time keeps its place
 * until it ends: a call that hangs in a mount cannot be cancelled, and another one beside it would hang too.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ObjectName,
  type ObjectPage,
  type ObjectStore,
  ObjectStoreError,
  type ObjectStoreErrorKind,
  Semaphore,
  untilAborted,
} from '@svc/service';
import { type ByteRange, type Driver, FinalError, MAX_OBJECT_BYTES } from './driver.ts';
import { assertHashOf, isFolder, isObjectName, sha256Hex } from './names.ts';
import type { Places } from './places.ts';

export interface Patience {
  /** Milliseconds of an attempt, without its bytes: each MiB adds a second. */
  readonly attemptMs: number;
  /** Milliseconds before the second attempt, doubled before each further one. */
  readonly pauseMs: number;
}

const DEFAULT_PATIENCE: Patience = { attemptMs: 5_000, pauseMs: 100 };

const MAX_WAITING = 1_000;
/** How long to wait for a place, as a number of attempts. */
const WAIT_ATTEMPTS = 4;
/** Milliseconds between two looks for a free place; another thread or store of the process may have freed one. */
const LOOK_MS = 2;
const MAX_PAGE = 1_000;
const MIB = 1024 * 1024;

/**
 * Makes a call in its turn and repeats it until it succeeds. `bytes`: maximum number of transferred bytes, for the
 * deadline.
 */
type Ask = <T>(
  what: string,
  bytes: number,
  call: (signal: AbortSignal) => Promise<T>,
  stop?: AbortSignal,
) => Promise<T>;

const createAsk = (driver: Driver, patience: Patience): Ask => {
  const gate = new Semaphore({
    ...{ atOnce: driver.places.count, maxWaiting: MAX_WAITING },
    full: () => failure('unavailable', `${MAX_WAITING} calls wait for the store already`),
  });
  const waitMs = WAIT_ATTEMPTS * patience.attemptMs;

  return (what, bytes, call, stop) => {
    const { places } = driver;
    if (places.areOverdue) return Promise.reject(overdue(what, places));
    const waited = AbortSignal.timeout(waitMs);
    const given = stop === undefined ? waited : AbortSignal.any([waited, stop]);
    return new Promise((resolve, reject) => {
      const inTurn = async () => {
        const place = await takePlace(places, what, given);
        const left: Promise<unknown>[] = [];
        await attempt(driver.attempts, patience, what, bytes, call, left, stop).then(resolve, reject);
        if (left.length > 0) places.setOverdue(place);
        await Promise.allSettled(left);
        places.free(place);
      };
      gate.run(inTurn, given).catch((error: unknown) => {
        const isLate = error === waited.reason;
        reject(isLate ? failure('unavailable', `${what}: no turn within ${waitMs} ms`) : error);
      });
    });
  };
};

export const checkedStore = (driver: Driver, patience: Patience = DEFAULT_PATIENCE): ObjectStore => {
  const ask = createAsk(driver, patience);

  const head = (name: ObjectName, stop?: AbortSignal): Promise<number | null> =>
    ask(`asking for ${name}`, 0, (signal) => driver.size(name, signal), stop);

  /**
   * `most`: maximum number of bytes that may come, for the deadline. `absent`: kind of the error if there is no object.
   */
  const read = (
    name: ObjectName,
    range: ByteRange | null,
    sha256: string,
    most: number,
    stop?: AbortSignal,
    absent: 'missing' | 'wrong-bytes' = 'missing',
  ) =>
    ask(
      `reading ${name}`,
      most,
      async (signal) => {
        const bytes = await driver.read(name, range, signal);
        if (bytes === null) throw failure(absent, `nothing is stored under ${name}`);
        if ((range !== null && bytes.length !== range.length) || sha256Hex(bytes) !== sha256)
          throw failure('wrong-bytes', `what is stored under ${name} is not what it must be${where(range)}`);
        return bytes;
      },
      stop,
    );

  const readWhole = async (name: ObjectName, stop?: AbortSignal): Promise<Uint8Array> => {
    const sha256 = assertHashOf(name);
    const size = await head(name, stop);
    return read(name, null, sha256, Math.min(size ?? 0, MAX_OBJECT_BYTES), stop);
  };

  /**
   * Reads back what was stored. If a store without conditions is just replacing an object for another writer, it can
   * report the object as missing; so this is tried again, as wrong bytes are.
   */
  const readBack = (name: ObjectName, length: number, stop?: AbortSignal) =>
    read(name, null, assertHashOf(name), length, stop, 'wrong-bytes');

  /** False: the stored object does not match its name, whoever has stored it. */
  const isThere = async (name: ObjectName, length: number, stop?: AbortSignal): Promise<boolean> => {
    const size = await head(name, stop);
    if (size !== null && size !== length) return false;
    try {
      await readBack(name, length, stop);
      return true;
    } catch (error) {
      if (error instanceof ObjectStoreError && error.kind === 'wrong-bytes') return false;
      throw error;
    }
  };

  return {
    async put(name, bytes, stop) {
      const sha256 = assertHashOf(name);
      if (bytes.length > MAX_OBJECT_BYTES || sha256Hex(bytes) !== sha256)
        throw failure('refused', `${name} is not the name of these ${bytes.length} bytes`);
      const written = await ask(
        `storing ${name}`,
        bytes.length,
        (signal) => driver.create(name, bytes, signal),
        stop,
      );
      if (written === 'created' || (await isThere(name, bytes.length, stop))) return written !== 'there';
      await ask(`storing ${name} anew`, bytes.length, (signal) => driver.replace(name, bytes, signal), stop);
      await readBack(name, bytes.length, stop);
      return true;
    },
    get: readWhole,
    async getRange(name, { offset, length, sha256 }, stop) {
      assertHashOf(name);
      if (!isRange(offset, length))
        throw failure('refused', `no range of an object: ${length} bytes from ${offset}`);
      return read(name, { offset, length }, sha256, length, stop);
    },
    async head(name, stop) {
      assertHashOf(name);
      return head(name, stop);
    },
    async list(folder, after, limit, stop) {
      if (!isFolder(folder) || !(limit >= 1 && limit <= MAX_PAGE))
        throw failure('refused', `no page of objects: ${limit} of ${JSON.stringify(folder)}`);
      return ask(
        `listing ${folder}`,
        0,
        async (signal) => {
          const { keys, isLast } = await driver.list(folder, after, limit, signal);
          return pageOf(keys, isLast, folder, after, limit);
        },
        stop,
      );
    },
    async delete(name, stop) {
      assertHashOf(name);
      await ask(`deleting ${name}`, 0, (signal) => driver.remove(name, signal), stop);
    },
  };
};

const isRange = (offset: number, length: number): boolean =>
  [offset, length].every(Number.isSafeInteger) && offset >= 0 && length >= 1 && length <= MAX_OBJECT_BYTES;

const failure = (kind: ObjectStoreErrorKind, message: string): ObjectStoreError =>
  new ObjectStoreError(kind, message);

const overdue = (what: string, { count }: Places): ObjectStoreError =>
  failure('unavailable', `${what}: ${count} calls have not ended`);

/** Rejects when all places are overdue, and with the reason of `given` once that is aborted. */
const takePlace = async (places: Places, what: string, given: AbortSignal): Promise<number> => {
  for (;;) {
    const place = places.take();
    if (place !== null) return place;
    if (places.areOverdue) throw overdue(what, places);
    given.throwIfAborted();
    await pause(LOOK_MS);
  }
};

/**
 * The part of an SDK's error that is passed on. The error itself contains the request with its credentials, and is
 * dropped.
 */
const textOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';

const where = (range: ByteRange | null): string =>
  range === null ? '' : `, from ${range.offset} for ${range.length} bytes`;

/** `left` receives calls that had not ended when they were given up. */
const attempt = async <T>(
  attempts: number,
  { attemptMs, pauseMs }: Patience,
  what: string,
  bytes: number,
  call: (signal: AbortSignal) => Promise<T>,
  left: Promise<unknown>[],
  stop?: AbortSignal,
): Promise<T> => {
  for (let made = 1; ; made++) {
    stop?.throwIfAborted();
    const deadline = AbortSignal.timeout(attemptMs + Math.ceil((1000 * bytes) / MIB));
    const signal = stop === undefined ? deadline : AbortSignal.any([deadline, stop]);
    const calling = call(signal);
    try {
      return await untilAborted(calling, signal);
    } catch (error) {
      if (signal.aborted) left.push(calling);
      stop?.throwIfAborted();
      if (error instanceof FinalError) throw failure('refused', `${what}: ${error.message}`);
      if (made >= attempts || (error instanceof ObjectStoreError && error.kind === 'missing'))
        throw error instanceof ObjectStoreError ? error : failure('unavailable', `${what}: ${textOf(error)}`);
    }
    await pause(
      pauseMs * 2 ** (made - 1) * (0.5 + Math.random() / 2),
      undefined,
      stop === undefined ? {} : { signal: stop },
    );
  }
};

/** Refuses a listing that makes no progress or leaves the folder. */
const pageOf = (
  keys: readonly string[],
  isLast: boolean,
  folder: string,
  after: string | null,
  limit: number,
): ObjectPage => {
  const last = keys.at(-1) ?? null;
  const isInOrder = keys.every(
    (key, i) => key.startsWith(`${folder}/`) && isBehind(key, i === 0 ? after : (keys[i - 1] ?? null)),
  );
  if (!isInOrder || keys.length > limit || (last === null && !isLast))
    throw failure('wrong-bytes', `the listing of ${folder} is none`);
  // Other files in the folder are not objects of this store.
  return { names: keys.filter(isObjectName), next: isLast ? null : last };
};

const isBehind = (key: string, other: string | null): boolean =>
  other === null || Buffer.compare(Buffer.from(key), Buffer.from(other)) > 0;
