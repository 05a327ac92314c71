/**
 * Files that survive a crash of the machine, in folders that processes of several users share: the service runs as its own
 * user, `svc-admin` often as root. Files are readable by their owner alone, so what root makes is given to the owner of the
 * folder that it is made in.
 */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Writes a new file, given to the owner of the folder `ownedAs`; rejects with EEXIST where there is one. Its name survives a
 * crash once its folder is flushed.
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

/** By what is open, and never by a name: the owner of the folder may put a link in its place meanwhile. */
const giveToOwnerOf = async (folder: string, made: FileHandle): Promise<void> => {
  if (!isRoot()) return;
  // One after the other: a call into a mount that hangs keeps one thread.
  const { uid, gid } = await stat(folder);
  const own = await made.stat();
  if (own.uid !== uid || own.gid !== gid) await made.chown(uid, gid);
};

/**
 * Makes what is missing of a folder, for the owner of what is there. One after another: where a file system takes no
 * folders, as `/proc` does, a recursive `mkdir` of Node.js never ends.
 */
export const makeFolders = async (path: string): Promise<void> => {
  const missing: string[] = [];
  for (let folder = resolve(path); (await orNull(() => stat(folder))) === null; folder = dirname(folder))
    missing.unshift(folder);
  const [first] = missing;
  for (const made of missing) {
    // Where it is there, another process was faster.
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

/** False where something is in that place. */
export const unlessThere = async (making: () => Promise<unknown>): Promise<boolean> => {
  try {
    await making();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
};

/** Null where there is no such file or folder. */
export const orNull = async <T>(reading: () => Promise<T>): Promise<T | null> => {
  try {
    return await reading();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
};

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Windows has no such owners. */
const isRoot = (): boolean => process.getuid?.() === 0;
