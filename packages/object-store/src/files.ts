/**
 * Objects as files below a folder, on one machine or on a network file system with atomic links. An object is written
 * to a draft, flushed, and linked under its name, which succeeds only once. Then the folders of its path are flushed.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ObjectStoreError } from '@svc/service';
import { type ByteRange, type Driver, FinalError, MAX_OBJECT_BYTES } from './driver.ts';
import { flushFolder, makeFolders, orNull, unlessThere, writeFlushed } from './durable-files.ts';
import { isFolder, isObjectName } from './names.ts';
import { Places } from './places.ts';

/** No folder of objects has this name. */
const DRAFTS = '.drafts';
const GONE = 'the folder of the objects is not there: is it mounted?';
/**
 * Places shared by all stores of this process. A call occupies one of the four threads that a process has for files,
 * host names and more, and a mount that does not answer keeps the thread. Another thread that opens a store gets the
 * memory of these places.
 */
export const FILE_PLACES = Places.of(2);
/** Longer than any write takes: an older draft was left by a process that died. */
const DRAFT_LIFE_MS = 3_600_000;

export interface FolderOptions {
  /** True: a missing folder is made. False: every call rejects until the folder exists. */
  readonly mayMake?: boolean;
  /**
   * True: the folder is only read, and may be a copy of the objects, or new. So the files that the store keeps beside
   * the objects are not required, and nothing is made.
   */
  readonly isCopy?: boolean;
  /** Default: those of the process. */
  readonly places?: Places;
}

/** If the folder may not be made, it is not accessed before the first call, since the access may hang. */
export const openFiles = async (root: string, options: FolderOptions = {}): Promise<Driver> => {
  const { isCopy = false, mayMake = !isCopy, places = FILE_PLACES } = options;
  let found: Calls | null = null;
  /** While the folder is missing, nothing below it is found, and the next call looks for the folder again. */
  const find = async (): Promise<Calls> => {
    const home = await orNull(() => realpath(root));
    if (home === null) return callsBelow(resolve(root), isCopy);
    found = callsBelow(home, isCopy);
    return found;
  };
  const calls = async (): Promise<Calls> => found ?? find();
  if (mayMake) {
    await makeFolders(join(root, DRAFTS));
    await find();
  }
  return {
    ...{ attempts: 1, places },
    create: async (...args) => (await calls()).create(...args),
    replace: async (...args) => (await calls()).replace(...args),
    read: async (...args) => (await calls()).read(...args),
    size: async (...args) => (await calls()).size(...args),
    list: async (...args) => (await calls()).list(...args),
    remove: async (...args) => (await calls()).remove(...args),
  };
};

type Calls = Omit<Driver, 'attempts' | 'places'>;

const callsBelow = (home: string, isCopy: boolean): Calls => {
  let isTidied = false;
  /** If the folder is a mount point without a mount, the drafts are missing. */
  const assertThere = () => assertFolder(isCopy ? home : join(home, DRAFTS));
  /** The result of `reading`; null if the folder exists and does not contain it. */
  const unlessGone = async <T>(reading: () => Promise<T | null>): Promise<T | null> => {
    const found = await reading();
    if (found === null) await assertThere();
    return found;
  };
  /** Writes and flushes the draft, runs `place`, and flushes the folder that `place` has put it into. */
  const write = async <T>(
    name: string,
    bytes: Uint8Array,
    signal: AbortSignal,
    place: (draft: string, path: string) => Promise<T>,
  ): Promise<T> => {
    const path = join(home, name);
    const draft = join(home, DRAFTS, randomBytes(16).toString('hex'));
    try {
      // The draft comes first: if the folder is no longer mounted, no other folder is made in its place. The draft
      // becomes an object of `home`, so it belongs to that folder's owner, whoever has made `.drafts`.
      await writeFlushed(draft, bytes, home).catch(async (error: unknown) => {
        await assertThere();
        throw error;
      });
      // Drafts that cannot be removed do not prevent writing.
      if (!isTidied) await removeOldDrafts(join(home, DRAFTS)).catch(() => {});
      isTidied = true;
      await makeFoldersBelow(home, dirname(name));
      signal.throwIfAborted();
      return await place(draft, path);
    } finally {
      await rm(draft, { force: true });
      // Flushed even if another process was first, since that process may not have flushed it.
      await orNull(() => flushFolder(dirname(path)));
    }
  };
  return {
    create: (name, bytes, signal) =>
      write(name, bytes, signal, async (draft, path) =>
        (await unlessThere(() => link(draft, path))) ? 'created' : 'there',
      ),
    replace: (name, bytes, signal) => write(name, bytes, signal, rename),
    read: (name, range, signal) =>
      unlessGone(() =>
        withFile(join(home, name), (file, size) => {
          if (range === null && size > MAX_OBJECT_BYTES) throw new FinalError(`${name} has ${size} bytes`);
          return readUpTo(file, range ?? { offset: 0, length: size }, signal);
        }),
      ),
    size: (name) => unlessGone(() => withFile(join(home, name), async (_, size) => size)),
    list: async (folder, after, limit) => {
      await assertThere();
      await orNull(() => assertReal(join(home, folder)));
      const keys: string[] = [];
      for await (const key of keysBelow(home, folder, after)) {
        if (keys.length === limit) return { keys, isLast: false };
        keys.push(key);
      }
      return { keys, isLast: true };
    },
    async remove(name) {
      await assertThere();
      await orNull(() => assertReal(dirname(join(home, name))));
      const path = join(home, name);
      await rm(path, { force: true });
      // Without the flush a deleted object could come back after a power failure, and nothing would look for it again.
      await orNull(() => flushFolder(dirname(path)));
    },
  };
};

/** If the folder is missing, that says nothing about an object in it. */
const assertFolder = async (path: string): Promise<void> => {
  if ((await orNull(() => stat(path))) === null) throw new ObjectStoreError('unavailable', GONE);
};

/** Makes the missing folders of a path, and flushes each folder that has got a new one. */
const makeFoldersBelow = async (home: string, folder: string): Promise<void> => {
  let path = home;
  for (const segment of folder.split('/')) {
    const parent = path;
    path = join(path, segment);
    await unlessThere(() => makeFolders(path));
    await assertReal(path);
    await flushFolder(parent);
  }
};

/** A link in the place of a folder is not followed, wherever it leads. */
const assertReal = async (folder: string): Promise<void> => {
  if ((await realpath(folder)) !== folder)
    throw new FinalError('a link leads out of the folder of the objects');
};

const openReal = async (path: string): Promise<FileHandle> => {
  await assertReal(dirname(path));
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
};

const withFile = <T>(path: string, work: (file: FileHandle, size: number) => Promise<T>): Promise<T | null> =>
  orNull(async () => {
    const file = await openReal(path);
    try {
      return await work(file, (await file.stat()).size);
    } finally {
      await file.close();
    }
  });

const readUpTo = async (file: FileHandle, { offset, length }: ByteRange, signal: AbortSignal) => {
  const bytes = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(bytes, done, length - done, offset + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
};

/** Objects in the order of their names, as S3 lists them: a folder is sorted by its name with a `/` at the end. */
async function* keysBelow(home: string, folder: string, after: string | null): AsyncGenerator<string> {
  const entries = (await orNull(() => readdir(join(home, folder), { withFileTypes: true }))) ?? [];
  const keys = entries.map((entry) => `${folder}/${entry.name}${entry.isDirectory() ? '/' : ''}`).sort();
  for (const key of keys) {
    const isBehind = after === null || key > after;
    if (isObjectName(key) && isBehind) yield key;
    const below = key.slice(0, -1);
    // All names in a folder that sorts before `after` sort before it too, unless `after` lies in this folder.
    if (key.endsWith('/') && isFolder(below) && (isBehind || after.startsWith(key)))
      yield* keysBelow(home, below, after);
  }
}

const removeOldDrafts = async (folder: string): Promise<void> => {
  const oldest = Date.now() - DRAFT_LIFE_MS;
  for (const name of await readdir(folder)) {
    const draft = await orNull(() => stat(join(folder, name)));
    if (draft !== null && draft.mtimeMs < oldest) await rm(join(folder, name), { force: true });
  }
};
