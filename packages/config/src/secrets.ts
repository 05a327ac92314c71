/**
 * What the configuration only points at: signing keys and the admin token. In development missing ones are made
 * once and kept in the data folder, readable by their owner alone; production refuses to start without them.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KeyPurpose, type KeySet, KeySetError, parseKeySet } from '@svc/service';
import type { Config } from './config.ts';

export interface Secrets {
  readonly receiptKeys: KeySet;
  readonly statusKeys: KeySet;
  readonly adminToken: string;
  /** True when the token was made here and nobody has been told it. */
  readonly adminTokenIsGenerated: boolean;
}

/** Reads or makes the secrets. Throws `KeySetError` with the path and the fault, never with key material. */
export const loadSecrets = (config: Config): Secrets => {
  const did = `did:web:${config.domain}`;
  return {
    receiptKeys: loadKeySet('receipt', config.receiptKeysPath, config.dataDir, did),
    statusKeys: loadKeySet('status', config.statusKeysPath, config.dataDir, did),
    adminToken: config.adminToken ?? loadAdminToken(config.dataDir),
    adminTokenIsGenerated: config.adminToken === null,
  };
};

const loadKeySet = (purpose: KeyPurpose, configured: string | null, dataDir: string, did: string): KeySet => {
  const path = configured ?? join(dataDir, `${purpose}-keys.json`);
  const text = configured === null ? readOrMake(path, () => newKeySet(purpose)) : read(path);
  try {
    return parseKeySet(JSON.parse(text), purpose, did);
  } catch (error) {
    // A parser's message may quote the file.
    throw new KeySetError(`${path}: ${error instanceof KeySetError ? error.message : 'not JSON'}`);
  }
};

const newKeySet = (purpose: KeyPurpose): string => {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return `${JSON.stringify({ keys: [{ kid: `${purpose}-1`, ...jwk }] }, null, 2)}\n`;
};

const loadAdminToken = (dataDir: string): string =>
  readOrMake(join(dataDir, 'admin-token'), () => `${randomBytes(32).toString('base64url')}\n`).trim();

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new KeySetError(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
};

/** Two processes that start together agree on one file: whoever is second reads the first one's. */
const readOrMake = (path: string, make: () => string): string => {
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, make(), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new KeySetError(`${path}: cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
  return read(path);
};
