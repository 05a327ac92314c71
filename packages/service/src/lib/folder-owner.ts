/**
 * Files that processes of several users share a folder for: the service as its own user, `svc-admin` often as root. Files are
 * readable by their owner alone, so what root makes is given to the owner of the folder that it is made in.
 */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** By what is open, and never by a name: the owner of the folder may put a link in its place meanwhile. */
export const giveToOwnerOf = async (folder: string, made: FileHandle): Promise<void> => {
  if (!isRoot()) return;
  const [{ uid, gid }, own] = await Promise.all([stat(folder), made.stat()]);
  if (own.uid !== uid || own.gid !== gid) await made.chown(uid, gid);
};

/**
 * Makes what is missing of a folder, for the owner of what is there. One after another: where a file system takes no
 * folders, as `/proc` does, a recursive `mkdir` of Node.js never ends.
 */
export const makeFolders = async (path: string): Promise<void> => {
  const missing: string[] = [];
  for (let folder = resolve(path); !(await isThere(folder)); folder = dirname(folder))
    missing.unshift(folder);
  const [first] = missing;
  for (const made of missing) {
    await mkdir(made, { mode: 0o700 }).catch(unlessMade);
    if (first === undefined || !isRoot()) continue;
    const folder = await open(made, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await giveToOwnerOf(dirname(first), folder);
    } finally {
      await folder.close();
    }
  }
};

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    },
  );

/** Another process was faster. */
const unlessMade = (error: unknown): void => {
  if (codeOf(error) !== 'EEXIST') throw error;
};

/** Windows has no such owners. */
const isRoot = (): boolean => process.getuid?.() === 0;
