/** `SVC_DATA_DIR`: the folder of the embedded database and the generated development secrets. */
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** The folder is unusable; the message names the variable and the folder. */
export class DataDirError extends Error {
  override readonly name = 'DataDirError';
}

/**
 * Makes the folder if it is missing. Other users may pass through it but not list it, since the database runs as
 * another user when the process runs as root. Every secret in it is a file that only its owner can read. Throws
 * `DataDirError`.
 */
export const openDataDir = (dataDir: string): void => {
  try {
    makeFolders(resolve(dataDir));
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' || code === 'ENOTDIR' ? 'not a folder' : code;
    throw new DataDirError(`SVC_DATA_DIR ${resolve(dataDir)} cannot be used (${why})`);
  }
};

/** Not Node's recursive mkdir, which never ends if a file system reports ENOENT below an existing folder. */
const makeFolders = (folder: string): void => {
  try {
    makeFolder(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !isAbsent(dirname(folder))) throw error;
    makeFolders(dirname(folder));
    makeFolder(folder);
  }
};

const makeFolder = (folder: string): void => {
  try {
    mkdirSync(folder, { mode: 0o711 });
  } catch (error) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
};

const isAbsent = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) === undefined;
