/**
 * The secrets that the configuration refers to: signing keys and the admin token. In development missing ones are
 * generated once and kept in the data folder, readable by their owner only; production refuses to start without them.
 */
import { generateKeyPairSync, randomBytes, randomInt } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type KeyPurpose, type KeySet, KeySetError, parseKeySet, SANDBOX_SLUG } from '@svc/service';
import type { Config } from './config.ts';
import { DataDirError, openDataDir } from './data-dir.ts';

export interface Secrets {
  readonly receiptKeys: KeySet;
  readonly statusKeys: KeySet;
  /** The sandbox Principal's key. Null: this deployment has no sandbox. */
  readonly sandboxKeys: KeySet | null;
  readonly adminToken: string;
  /** True if the token was generated in this start and has not been shown yet. */
  readonly adminTokenIsGenerated: boolean;
}

/**
 * Reads or generates the secrets. Throws `DataDirError`, and `KeySetError` with the variable, the path and the fault,
 * never with key material.
 */
export const loadSecrets = (config: Config): Secrets => {
  const did = `did:web:${config.domain}`;
  return {
    receiptKeys: loadKeySet('receipt', config.receiptKeysPath, config.dataDir, did),
    statusKeys: loadKeySet('status', config.statusKeysPath, config.dataDir, did),
    sandboxKeys: hasSandbox(config)
      ? loadKeySet('key', config.sandboxKeysPath, config.dataDir, `${did}:org:${SANDBOX_SLUG}`)
      : null,
    adminToken: config.adminToken ?? loadAdminToken(config.dataDir),
    adminTokenIsGenerated: config.adminToken === null,
  };
};

/** Self-serve issues Grants of the sandbox Principal. */
const hasSandbox = ({ demo, selfServe }: Config): boolean => demo || selfServe !== null;

const SOURCE = {
  receipt: { variable: 'SVC_RECEIPT_KEYS', file: 'receipt-keys.json' },
  status: { variable: 'SVC_STATUS_KEYS', file: 'status-keys.json' },
  key: { variable: 'SVC_SANDBOX_KEYS', file: 'sandbox-keys.json' },
} as const;

const loadKeySet = (purpose: KeyPurpose, configured: string | null, dataDir: string, did: string): KeySet => {
  const { variable, file } = SOURCE[purpose];
  const path = configured ?? join(dataDir, file);
  const source = `${configured === null ? 'SVC_DATA_DIR' : variable}: ${path}`;
  const expected = `expected is a JWK set, {"keys": [{"kid": "${purpose}-1", "kty": "OKP", …}]}`;
  const text = attempt(
    () => (configured === null ? readOrMake(path, () => newKeySet(purpose)) : readFileSync(path, 'utf8')),
    (code) => `${source} cannot be read (${code}); ${expected}`,
  );
  try {
    return parseKeySet(JSON.parse(text), purpose, did);
  } catch (error) {
    // The parser's message may quote the file.
    throw new KeySetError(
      error instanceof KeySetError ? `${source}: ${error.message}` : `${source} is not JSON; ${expected}`,
    );
  }
};

const newKeySet = (purpose: KeyPurpose): string => {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  // A sandbox whose file was lost takes a new key; the old key's kid stays in use.
  const number = purpose === 'key' ? randomInt(1, 1e9) : 1;
  return `${JSON.stringify({ keys: [{ kid: `${purpose}-${number}`, ...jwk }] }, null, 2)}\n`;
};

const loadAdminToken = (dataDir: string): string => {
  const path = join(dataDir, 'admin-token');
  return attempt(
    () => readOrMake(path, () => `${randomBytes(32).toString('base64url')}\n`).trim(),
    (code) => `SVC_DATA_DIR: ${path} cannot be read (${code})`,
  );
};

const attempt = <T>(work: () => T, explain: (code: string | undefined) => string): T => {
  try {
    return work();
  } catch (error) {
    if (error instanceof DataDirError) throw error;
    throw new KeySetError(explain((error as NodeJS.ErrnoException).code));
  }
};

/**
 * Atomic: the file is written under another name and then linked, so of two processes that start together the second
 * reads the first one's file.
 */
const readOrMake = (path: string, make: () => string): string => {
  openDataDir(dirname(path));
  if (!existsSync(path)) {
    const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
    writeFileSync(draft, make(), { mode: 0o600, flag: 'wx' });
    try {
      linkSync(draft, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(draft);
    }
  }
  return readFileSync(path, 'utf8');
};
