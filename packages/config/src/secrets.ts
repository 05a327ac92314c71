/**
 * The secrets that the configuration refers to: signing keys and the admin token. In development, missing ones are
 * generated once and kept in the data folder, readable by their owner only. Production refuses to start without them.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type KeyPurpose,
  type KeySet,
  KeySetError,
  keysOfOthers,
  messageOf,
  openKeySet,
  SANDBOX_SLUG,
  type ServiceKeySets,
} from '@svc/service';
import { openEd25519, Signers } from '@svc/signers';
import type { Config, ServiceConfig } from './config.ts';
import { DataDirError, openDataDir } from './data-dir.ts';
import { findKeyFile, type KeyPaths, keySourcesOf, newPrivateJwk, readSecretFile } from './key-files.ts';

/** The keys with which a process signs, and what it has of the keys of other processes. */
export interface SigningSecrets extends ServiceKeySets {
  /** Faults of the secrets that are tolerated in development: sentences for people, without a secret. */
  readonly notes: readonly string[];
  /** Keys from which webhook secrets are derived; new secrets use the first. */
  readonly webhookKeys: readonly string[];
  /** Access to the private keys. The caller that loaded the secrets closes it at the end. */
  readonly signers: Signers;
  /** Reads the key files again. Rejects as the first time. Open signers stay open. */
  loadAgain(): Promise<ServiceKeySets>;
}

export interface Secrets extends SigningSecrets {
  /** The sandbox Principal's key. Null: this deployment has no sandbox. */
  readonly sandboxKeys: KeySet | null;
  readonly adminToken: string;
  /** True: the token was generated in this start and has not been shown yet. */
  readonly adminTokenIsGenerated: boolean;
}

/**
 * Reads or generates the secrets. Rejects with `DataDirError`, or with `KeySetError` that contains the variable, the
 * path and the fault, never key material. `open`: signers of an earlier call; what these have open stays open.
 */
export const loadSecrets = async (config: Config, open?: Signers): Promise<Secrets> => {
  const signers = open ?? new Signers(await openEd25519(config.ed25519));
  const did = `did:web:${config.domain}`;
  const notes: string[] = [];
  const load = (purpose: KeyPurpose, of: string) => loadKeySet(purpose, { config, did: of, notes, signers });
  return {
    receiptKeys: await load('receipt', did),
    statusKeys: await load('status', did),
    sandboxKeys: hasSandbox(config) ? await load('key', `${did}:org:${SANDBOX_SLUG}`) : null,
    webhookKeys: loadWebhookKeys(config),
    adminToken: config.adminToken ?? loadKept(config.dataDir, 'admin-token'),
    adminTokenIsGenerated: config.adminToken === null,
    notes,
    signers,
    loadAgain: () => loadSecrets(config, signers),
  };
};

/**
 * Secrets of the worker, and of commands that sign as it does: the keys for status lists and checkpoints. The public
 * keys of Receipts are read from the database, so no Receipt can be signed. Rejects as `loadSecrets` does.
 */
export const loadWorkerSecrets = async (config: ServiceConfig, open?: Signers): Promise<SigningSecrets> => {
  const signers = open ?? new Signers(await openEd25519(config.ed25519));
  const notes: string[] = [];
  const did = `did:web:${config.domain}`;
  const statusKeys = await loadKeySet('status', { config, did, notes, signers });
  const loadAgain = () => loadWorkerSecrets(config, signers);
  const { webhookKeys } = config;
  return { receiptKeys: keysOfOthers('receipt'), statusKeys, webhookKeys, notes, signers, loadAgain };
};

/** One key set, opened as a start opens it, for a command that uses this set alone. Rejects with `KeySetError`. */
export const openServiceKeys = (
  purpose: 'receipt' | 'status',
  config: ServiceConfig,
  signers: Signers,
): Promise<KeySet> => loadKeySet(purpose, { config, did: `did:web:${config.domain}`, notes: [], signers });

/** For a command that signs nothing: no key file is read, and no private key is opened. */
export const secretsOfOthers = async ({ ed25519 }: Pick<Config, 'ed25519'>): Promise<SigningSecrets> => {
  const sets = { receiptKeys: keysOfOthers('receipt'), statusKeys: keysOfOthers('status') };
  const signers = new Signers(await openEd25519(ed25519));
  return { ...sets, webhookKeys: [], notes: [], signers, loadAgain: async () => sets };
};

/** Self-serve issues Grants of the sandbox Principal. */
const hasSandbox = ({ demo, selfServe }: Config): boolean => demo || selfServe !== null;

interface Loading {
  readonly config: KeyPaths & Pick<Config, 'env' | 'keyPassphrasePath' | 'pkcs11PinPath'>;
  readonly did: string;
  readonly notes: string[];
  readonly signers: Signers;
}

const loadKeySet = async (purpose: KeyPurpose, { config, did, notes, signers }: Loading): Promise<KeySet> => {
  const file = findKeyFile(purpose, config);
  const { path, isOwn, source } = file;
  const expected = `expected is a JWK set, {"keys": [{"kid": "${purpose}-1", "kty": "OKP", …}]}`;
  const { text, exposure } = attempt(
    () => {
      if (isOwn) makeUnlessThere(path, () => newKeySet(purpose));
      return readSecretFile(path);
    },
    (code) => `${source} cannot be read (${code}); ${expected}`,
  );
  const exposed = (what: string): void => {
    if (config.env === 'production') throw new KeySetError(what);
    notes.push(`${what}. Production refuses to start with it`);
  };
  if (exposure !== null) exposed(`${source}: ${exposure}`);
  try {
    const sources = keySourcesOf(file, config, exposed);
    return await openKeySet(JSON.parse(text), purpose, did, {
      open: (uri, key) => signers.open(uri, key, sources),
      signWith: signers.ed25519.signWith,
    });
  } catch (error) {
    // The parser's message may quote the file.
    throw new KeySetError(
      error instanceof SyntaxError ? `${source} is not JSON; ${expected}` : `${source}: ${problemOf(error)}`,
      error instanceof KeySetError ? { cause: error } : {},
    );
  }
};

/** Errors of a driver are included: they name what it could not reach. */
const problemOf = (error: unknown): string =>
  error instanceof Error ? messageOf(error) : 'cannot be opened';

const newKeySet = (purpose: KeyPurpose): string => {
  // A sandbox key gets a random number: if its file is lost and a new key is made, the kid of the lost key stays in
  // use.
  const number = purpose === 'key' ? randomInt(1, 1e9) : 1;
  return `${JSON.stringify({ keys: [{ kid: `${purpose}-${number}`, ...newPrivateJwk() }] }, null, 2)}\n`;
};

/** A demonstration sends webhooks without further configuration. */
const loadWebhookKeys = ({ webhookKeys, demo, dataDir }: Config): readonly string[] =>
  webhookKeys.length === 0 && demo ? [loadKept(dataDir, 'webhook-key')] : webhookKeys;

/** A random text that is generated once and kept. */
const loadKept = (dataDir: string, name: string): string => {
  const path = join(dataDir, name);
  return attempt(
    () => {
      makeUnlessThere(path, () => `${randomBytes(32).toString('base64url')}\n`);
      return readFileSync(path, 'utf8').trim();
    },
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
 * Atomic: the file is written under another name and then linked. If two processes start together, the second one reads
 * the file of the first.
 */
const makeUnlessThere = (path: string, make: () => string): void => {
  openDataDir(dirname(path));
  if (existsSync(path)) return;
  const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, make(), { mode: 0o600, flag: 'wx' });
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
};
