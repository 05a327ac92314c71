/**
 * Files that processes of several users share a folder for: the service as its own user, `svc-admin` often as root. Files are
 * readable by their owner alone, so what root makes is given to the owner of the folder that it is made in.
 */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** By what is open, and never by a name: the owner of the folder may put a link in its place meanwhile. */
export const giveToOwnerOf = async (folder: string, made: FileHandle): Promise<void> => {
  if (!isRoot()) return;
  const [{ uid, gid }, own] = await Promise.all([stat(folder), made.stat()]);
  if (own.uid !== uid || own.gid !== gid) await made.chown(uid, gid);
};

/** Makes what is missing of a folder, for the owner of what is there. */
export const makeFolders = async (path: string): Promise<void> => {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined || !isRoot()) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) {
    const folder = await open(made, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await giveToOwnerOf(dirname(first), folder);
    } finally {
      await folder.close();
    }
  }
};

/** Windows has no such owners. */
const isRoot = (): boolean => process.getuid?.() === 0;
