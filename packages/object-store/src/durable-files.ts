/**
 * Files that survive a crash of the machine, in folders that processes of several users share: the service runs as its
 * own user, `svc-admin` often as root. Only its owner can read a file, so what root makes is given to the owner of the
 * folder.
 */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Writes a new file, given to the owner of the folder `ownedAs`; rejects with EEXIST if there is one. The file's name
 * survives a crash once its folder is flushed.
 */
export const writeFlushed = async (
  path: string,
  content: string | Uint8Array,
  ownedAs = dirname(path),
): Promise<void> => {
  const file = await open(path, 'wx', 0o600);
  try {
    await giveToOwnerOf(ownedAs, file);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
};

export const flushFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Uses the open file, never its name: the owner of the folder may put a link in its place meanwhile. */
const giveToOwnerOf = async (folder: string, made: FileHandle): Promise<void> => {
  if (!isRoot()) return;
  // One call after the other: a call into a mount that hangs occupies a thread.
  const { uid, gid } = await stat(folder);
  const own = await made.stat();
  if (own.uid !== uid || own.gid !== gid) await made.chown(uid, gid);
};

/**
 * Makes the missing folders of a path, for the owner of the existing ones. One after another: if a file system does not
 * allow folders, such as `/proc`, Node's recursive `mkdir` never ends.
 */
export const makeFolders = async (path: string): Promise<void> => {
  const missing: string[] = [];
  for (let folder = resolve(path); (await orNull(() => stat(folder))) === null; folder = dirname(folder))
    missing.unshift(folder);
  const [first] = missing;
  for (const made of missing) {
    // If the folder exists, another process was faster.
    await unlessThere(() => mkdir(made, { mode: 0o700 }));
    if (first === undefined || !isRoot()) continue;
    const folder = await open(made, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await giveToOwnerOf(dirname(first), folder);
    } finally {
      await folder.close();
    }
  }
};

/** False if something exists at that path. */
export const unlessThere = async (making: () => Promise<unknown>): Promise<boolean> => {
  try {
    await making();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
};

/** Null if there is no such file or folder. */
export const orNull = async <T>(reading: () => Promise<T>): Promise<T | null> => {
  try {
    return await reading();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
};

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Windows does not have such owners. */
const isRoot = (): boolean => process.getuid?.() === 0;
