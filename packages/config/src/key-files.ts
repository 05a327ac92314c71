/** The files with the service's signing keys: where they are, who may read them, and how they are replaced. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { type KeyPurpose, KeySetError } from '@svc/service';
import type { KeySources } from '@svc/signers';
import type { Config } from './config.ts';

const SOURCE = {
  receipt: { variable: 'SVC_RECEIPT_KEYS', file: 'receipt-keys.json', path: 'receiptKeysPath' },
  status: { variable: 'SVC_STATUS_KEYS', file: 'status-keys.json', path: 'statusKeysPath' },
  key: { variable: 'SVC_SANDBOX_KEYS', file: 'sandbox-keys.json', path: 'sandboxKeysPath' },
} as const;

export interface KeyFile {
  readonly path: string;
  /** True: the process makes the file if it is missing (development). */
  readonly isOwn: boolean;
  /** The variable and the path, as they may be shown. */
  readonly source: string;
}

/** The paths of key sets; a key set that the process does not use has no path. */
export type KeyPaths = Pick<Config, 'dataDir'> &
  Partial<Pick<Config, 'receiptKeysPath' | 'statusKeysPath' | 'sandboxKeysPath'>>;

export const findKeyFile = (purpose: KeyPurpose, config: KeyPaths): KeyFile => {
  const { variable, file, path: name } = SOURCE[purpose];
  const configured = config[name] ?? null;
  const path = configured ?? join(config.dataDir, file);
  const isOwn = configured === null;
  return { path, isOwn, source: isOwn ? `SVC_DATA_DIR: ${path}` : `${variable}: ${shownPath(path)}` };
};

const NOT_SHOWN = '(not shown: the variable must name a file, and not contain the secret itself)';

/** The path of a secret for a message, unless it may be the secret itself, put into the variable by mistake. */
export const shownPath = (path: string): string => {
  const isPath = isAbsolute(path) && !/@|:\/\//.test(path) && !BASE64.test(path);
  return isPath || existsSync(path) || isInFolder(path) ? path : NOT_SHOWN;
};

/** One secret in sixty-four begins with a slash in this form. */
const BASE64 = /^[A-Za-z0-9+/]{20,}={0,2}$/;

const isInFolder = (path: string): boolean => {
  const folder = dirname(path);
  return isAbsolute(path) && folder !== dirname(folder) && existsSync(folder);
};

export interface ReadSecret {
  readonly text: string;
  /** The fault in the permissions to read or replace the file; null: none. */
  readonly exposure: string | null;
}

const OTHERS = 0o007;
const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;
const isWindows = process.platform === 'win32';

/** Room for a set of some hundred keys. */
const MAX_BYTES = 1_048_576;

/**
 * Throws the file system's error, and an error if the file is larger than `maxBytes`. The permissions are checked on
 * the file that is read, not on the path.
 */
export const readSecretFile = (path: string, maxBytes = MAX_BYTES): ReadSecret => {
  // Without O_NONBLOCK, opening a pipe that has no writer would never return.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw Object.assign(new Error('it is not a file'), { code: 'it is not a file' });
    if (stat.size > maxBytes)
      throw Object.assign(new Error(), { code: `it is larger than ${maxBytes} bytes` });
    return { text: readFileSync(file, 'utf8'), exposure: exposureOf(path, stat.mode) };
  } finally {
    closeSync(file);
  }
};

/** Windows has no such permissions and reports that everybody has all of them. */
const exposureOf = (path: string, mode: number): string | null => {
  if (isWindows) return null;
  if ((mode & OTHERS) !== 0)
    return `everybody on this machine may read or write it (mode ${octal(mode)}); run chmod 600 ${path}`;
  const folder = dirname(path);
  const { mode: folderMode } = statSync(folder);
  // In a sticky folder only the owner of a file can replace it.
  const isReplaceable = (folderMode & OTHERS_WRITE) !== 0 && (folderMode & STICKY) === 0;
  return isReplaceable
    ? `everybody on this machine may put another file in its place (${folder} has mode ${octal(folderMode)}); run chmod o-w ${folder}`
    : null;
};
const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, '0');

/**
 * The functions that open the private keys which a key set refers to. `exposed` is called for files that others may
 * read.
 */
export const keySourcesOf = (
  { path }: Pick<KeyFile, 'path'>,
  config: Pick<Config, 'keyPassphrasePath' | 'pkcs11PinPath'>,
  exposed: (what: string) => void,
): KeySources => ({
  folder: dirname(path),
  passphrasePath: config.keyPassphrasePath,
  pinPath: config.pkcs11PinPath,
  readSecret: (secretPath) => {
    const source = sourceOf(secretPath, config);
    const { text, exposure } = orKeySetError(source, 'read', () => readSecretFile(secretPath));
    if (exposure !== null) exposed(`${secretPath}: ${exposure}`);
    return text;
  },
  writeSecret: (secretPath, text) => {
    const folder = dirname(secretPath);
    if (!existsSync(folder))
      throw new KeySetError(
        `${secretPath} cannot be written: the folder ${folder} does not exist. Make it (mkdir -m 700 ${folder}), or name another path`,
      );
    orKeySetError(secretPath, 'written', () => writeBeside(path, secretPath, text));
  },
});

const sourceOf = (
  path: string,
  { keyPassphrasePath, pkcs11PinPath }: Pick<Config, 'keyPassphrasePath' | 'pkcs11PinPath'>,
): string => {
  const shown = shownPath(path);
  if (path === keyPassphrasePath) return `SVC_KEY_PASSPHRASE_FILE: ${shown}`;
  return path === pkcs11PinPath ? `SVC_PKCS11_PIN_FILE: ${shown}` : shown;
};

/** `source` is for the message. Throws `KeySetError` if the file system refuses. */
export const orKeySetError = <T>(source: string, what: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    throw new KeySetError(`${source} cannot be ${what} (${(error as NodeJS.ErrnoException).code})`);
  }
};

export const newPrivateJwk = () => generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });

/** A name that no other process uses, not even one that was killed. */
const draftOf = (path: string): string => `${path}.${randomBytes(6).toString('hex')}.new`;

/**
 * Writes a new file for the users who read the key set: with the set's owner and permissions, if there is a set.
 * Otherwise the service could not read a key that root makes.
 *
 * The file appears whole or not at all. It is on disk when this returns, because the only copy of a private key must be
 * on disk before the set names it. Throws the file system's error, and leaves no file then.
 */
const writeBeside = (setPath: string, path: string, text: string): void => {
  const set = statSync(setPath, { throwIfNoEntry: false });
  const draft = draftOf(path);
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    if (set !== undefined && !isWindows) {
      chownSync(draft, set.uid, set.gid);
      chmodSync(draft, set.mode & 0o770);
    }
    linkSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  flushFolder(dirname(path));
};

/**
 * Flushes the folder if the file system can. Windows and some network drives cannot; the file that was written stays.
 */
const flushFolder = (path: string): void => {
  let folder: number | undefined;
  try {
    folder = openSync(path, 'r');
    fsyncSync(folder);
  } catch {
    // The file itself is already on disk.
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
};

/**
 * Replaces a file. It appears whole or not at all, also after a power failure. It keeps its owner and never gets more
 * permissions. Throws the file system's error.
 */
export const replaceFile = (path: string, text: string): void => {
  const file = openSync(path, 'r');
  const { mode, uid, gid } = fstatSync(file);
  closeSync(file);
  const draft = draftOf(path);
  try {
    writeFileSync(draft, text, { mode: mode & 0o770 & ~OTHERS, flag: 'wx', flush: true });
    if (!isWindows) chownSync(draft, uid, gid);
    renameSync(draft, path);
    flushFolder(dirname(path));
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
};
