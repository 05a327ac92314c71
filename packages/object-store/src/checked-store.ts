/**
 * The port, on whatever driver: names are checked, what is read is hashed and compared, each attempt has a deadline, what failed
 * is tried again, and no more is under way than a few calls at a time.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ObjectName,
  type ObjectPage,
  type ObjectStore,
  ObjectStoreError,
  type ObjectStoreErrorKind,
  Semaphore,
} from '@svc/service';
import { type ByteRange, type Driver, FinalError, MAX_OBJECT_BYTES } from './driver.ts';
import { assertHashOf, isFolder, isObjectName, sha256Hex } from './names.ts';

export interface Patience {
  /** Of an attempt, before its bytes: each MiB takes a second more at most. */
  readonly attemptMs: number;
  /** Before the second attempt, doubled before each further one. */
  readonly pauseMs: number;
}

export const DEFAULT_PATIENCE: Patience = { attemptMs: 5_000, pauseMs: 100 };

const AT_ONCE = 8;
const MAX_WAITING = 1_000;
const MAX_PAGE = 1_000;
const MIB = 1024 * 1024;

export const checkedStore = (driver: Driver, patience: Patience = DEFAULT_PATIENCE): ObjectStore => {
  const gate = new Semaphore({
    ...{ atOnce: AT_ONCE, maxWaiting: MAX_WAITING },
    full: () => failure('unavailable', `${MAX_WAITING} calls wait for the store already`),
  });
  /** Makes the call until it succeeds, in its turn. */
  const ask = <T>(
    what: string,
    bytes: number,
    call: (signal: AbortSignal) => Promise<T>,
    stop?: AbortSignal,
  ): Promise<T> => gate.run(() => attempt(driver.attempts, patience, what, bytes, call, stop), stop);

  const head = (name: ObjectName, stop?: AbortSignal): Promise<number | null> =>
    ask(`asking for ${name}`, 0, (signal) => driver.size(name, signal), stop);

  /** `most`: how many bytes may come, by which the deadline is set. */
  const read = (
    name: ObjectName,
    range: ByteRange | null,
    sha256: string,
    most: number,
    stop?: AbortSignal,
  ) =>
    ask(
      `reading ${name}`,
      most,
      async (signal) => {
        const bytes = await driver.read(name, range, signal);
        if (bytes === null) throw failure('missing', `nothing is stored under ${name}`);
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
      if (written !== 'created') await readWhole(name, stop);
      return written !== 'there';
    },
    get: readWhole,
    async getRange(name, { offset, length, sha256 }, stop) {
      assertHashOf(name);
      if (
        ![offset, length].every(Number.isSafeInteger) ||
        offset < 0 ||
        length < 1 ||
        length > MAX_OBJECT_BYTES
      )
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

const failure = (kind: ObjectStoreErrorKind, message: string): ObjectStoreError =>
  new ObjectStoreError(kind, message);

/** Of an SDK's error this alone goes further: it holds the request too, with what authorised it. */
const textOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';

const where = (range: ByteRange | null): string =>
  range === null ? '' : `, from ${range.offset} for ${range.length} bytes`;

const attempt = async <T>(
  attempts: number,
  { attemptMs, pauseMs }: Patience,
  what: string,
  bytes: number,
  call: (signal: AbortSignal) => Promise<T>,
  stop?: AbortSignal,
): Promise<T> => {
  for (let made = 1; ; made++) {
    stop?.throwIfAborted();
    const deadline = AbortSignal.timeout(attemptMs + Math.ceil((1000 * bytes) / MIB));
    try {
      return await call(stop === undefined ? deadline : AbortSignal.any([deadline, stop]));
    } catch (error) {
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

/** A listing that leads nowhere, or out of the folder, is none. */
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
  // Whatever else somebody has put there is not ours.
  return { names: keys.filter(isObjectName), next: isLast ? null : last };
};

const isBehind = (key: string, other: string | null): boolean =>
  other === null || Buffer.compare(Buffer.from(key), Buffer.from(other)) > 0;
