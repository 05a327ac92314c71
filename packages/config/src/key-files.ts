/** The files that hold the service's signing keys: where they are, who may read them, and how a key that leaked leaves one. */
import { generateKeyPairSync } from 'node:crypto';
import { chownSync, closeSync, fstatSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KeyPurpose, KeySetError } from '@svc/service';
import type { Config } from './config.ts';

const SOURCE = {
  receipt: { variable: 'SVC_RECEIPT_KEYS', file: 'receipt-keys.json', path: 'receiptKeysPath' },
  status: { variable: 'SVC_STATUS_KEYS', file: 'status-keys.json', path: 'statusKeysPath' },
  key: { variable: 'SVC_SANDBOX_KEYS', file: 'sandbox-keys.json', path: 'sandboxKeysPath' },
} as const;

export interface KeyFile {
  readonly path: string;
  /** Made here if it is not there: development. */
  readonly isOwn: boolean;
  /** For messages: the variable and the path. */
  readonly source: string;
}

export const findKeyFile = (purpose: KeyPurpose, config: Config): KeyFile => {
  const { variable, file, path: name } = SOURCE[purpose];
  const configured = config[name];
  const path = configured ?? join(config.dataDir, file);
  const isOwn = configured === null;
  return { path, isOwn, source: `${isOwn ? 'SVC_DATA_DIR' : variable}: ${path}` };
};

export interface ReadSecret {
  readonly text: string;
  /** What is wrong with who may read it, or null. */
  readonly exposure: string | null;
}

const OTHERS = 0o007;
const isWindows = process.platform === 'win32';

/** Throws what the file system throws. The rights are those of the very file that is read. */
export const readSecretFile = (path: string): ReadSecret => {
  const file = openSync(path, 'r');
  try {
    const mode = fstatSync(file).mode & 0o777;
    // Windows has no such rights and says that everybody may.
    const isExposed = !isWindows && (mode & OTHERS) !== 0;
    const exposure = isExposed
      ? `everybody on this machine may read or write it (mode ${mode.toString(8).padStart(4, '0')}); run chmod 600 ${path}`
      : null;
    return { text: readFileSync(file, 'utf8'), exposure };
  } finally {
    closeSync(file);
  }
};

interface KeyInFile {
  readonly kid: string;
  readonly d?: string;
}

export interface WithdrawnKey {
  /** The kid, without DID, of the key that signs from now on. */
  readonly active: string;
  readonly isChanged: boolean;
}

/**
 * Takes the private part of a key out of its file, and puts a new key in front where it was the one that signs. The file is
 * replaced whole, with its owner and rights. `number` is one that no key has had. Throws `KeySetError` where it cannot.
 */
export const withdrawKey = (
  { path, source }: KeyFile,
  kid: string,
  { purpose, number }: { readonly purpose: KeyPurpose; readonly number: number },
): WithdrawnKey => {
  const before = JSON.parse(readSecretFile(path).text) as { readonly keys: readonly KeyInFile[] };
  const [first] = before.keys;
  const wasActive = first?.kid === kid;
  if (!wasActive && !before.keys.some((key) => key.kid === kid && key.d !== undefined))
    return { active: first?.kid ?? '', isChanged: false };
  const active = wasActive ? `${purpose}-${number}` : (first?.kid ?? '');
  const rest = before.keys.map((key) => {
    const { d: _, ...publicPart } = key;
    return key.kid === kid ? publicPart : key;
  });
  const keys = wasActive ? [{ kid: active, ...newPrivateJwk() }, ...rest] : rest;
  try {
    replaceFile(path, `${JSON.stringify({ ...before, keys }, null, 2)}\n`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new KeySetError(
      `${source} cannot be replaced (${code}): put a key that was never used before first in it, take d out of ${kid}, and run this again`,
    );
  }
  return { active, isChanged: true };
};

export const newPrivateJwk = () => generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });

/** Appears whole or not at all, and never with more rights than before. */
const replaceFile = (path: string, text: string): void => {
  const file = openSync(path, 'r');
  const { mode, uid, gid } = fstatSync(file);
  closeSync(file);
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: mode & 0o770 & ~OTHERS, flag: 'wx' });
  if (!isWindows) chownSync(draft, uid, gid);
  renameSync(draft, path);
};
