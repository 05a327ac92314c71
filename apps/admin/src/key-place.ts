/**
 * The place of the keys that a command works on: a key set in its file, and the keys that the database has recorded.
 */
import { UsageError } from '@svc/cli/command-line';
import {
  type Environment,
  findKeyFile,
  type KeyInFile,
  type KeySetFile,
  keySourcesOf,
  readKeySetFile,
} from '@svc/config';
import { OPERATOR_DEADLINES, readConfig } from '@svc/process';
import type { KeyPurpose, PublishedKey, ServiceKeyRecord, Store } from '@svc/service';
import { Signers } from '@svc/signers';
import { createStore, listServiceDids } from '@svc/store-pg';
import { findDatabaseUrl } from './command.ts';

export interface KeyPlace {
  readonly file: KeySetFile;
  /** The key sets of all purposes, with this one. The file of a set that was never needed does not exist. */
  readonly sets: readonly KeySetFile[];
  readonly did: string;
  /** `receipt-1`; only `receipt` if no key was named. */
  readonly fragment: string;
  /** Every key that was ever published; empty if no database is configured, as before the first start. */
  readonly stored: readonly ServiceKeyRecord[];
  /** By the database's clock, which dated the keys; 0 without a database. */
  readonly nowMs: number;
}

const PURPOSES: readonly KeyPurpose[] = ['receipt', 'status', 'key'];

/** `name` is a purpose or a key; `env` is the environment of the API. Whatever was opened is closed at the end. */
export const openKeyPlace = async (
  env: Environment,
  name: string,
  work: (place: KeyPlace) => Promise<number>,
): Promise<number> => {
  const config = readConfig(env);
  const did = `did:web:${config.domain}`;
  const fragment = name.startsWith(`${did}#`) ? name.slice(did.length + 1) : name;
  const purpose = findPurpose(fragment);
  if (purpose === null)
    throw new UsageError(
      `${name} is not a key (receipt-<n> or status-<n>), nor a purpose (receipt or status)`,
    );
  const url = findDatabaseUrl(env);
  const known = url === null ? { stored: [], nowMs: 0 } : await withStore(url, readKeys);
  const signers = new Signers();
  try {
    const open = (of: KeyPurpose): KeySetFile => {
      const at = findKeyFile(of, config);
      const sources = keySourcesOf(at, config, (what) => console.error(`Note: ${what}.`));
      return { ...at, purpose: of, signers, sources };
    };
    const sets = PURPOSES.map(open);
    return await work({ file: open(purpose), sets, did, fragment, ...known });
  } finally {
    await signers.close();
  }
};

const readKeys = async (store: Store) => ({
  stored: await store.serviceKeys.list(),
  nowMs: await store.now(),
});

export const listStored = (databaseUrl: string): Promise<ServiceKeyRecord[]> =>
  withStore(databaseUrl, ({ serviceKeys }) => serviceKeys.list());

/** Opens the database alone: no key is opened, and neither schema nor clock is checked. */
export const withStore = async <T>(databaseUrl: string, work: (store: Store) => Promise<T>): Promise<T> => {
  const onError = (error: Error) => console.error(error.message);
  const store = createStore({ databaseUrl, deadlines: OPERATOR_DEADLINES, onError });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
};

/** Rejects if the database belongs to another service than `own`. */
export const refuseOtherService = async (databaseUrl: string, own: string): Promise<void> => {
  const did = (await listServiceDids(databaseUrl)).at(-1)?.did ?? own;
  if (did !== own)
    throw new UsageError(
      `the database belongs to ${did}, and this configuration is for ${own}: correct SVC_DOMAIN or DATABASE_URL`,
    );
};

/** The next number that no key in the file or the database has had; a process refuses to start with any other. */
export const nextKid = ({ file, did, stored }: KeyPlace): string => {
  const prefix = `${file.purpose}-`;
  const taken = [...readKeySetFile(file), ...stored.map(({ kid }) => ({ kid: kid.slice(did.length + 1) }))]
    .filter(({ kid }) => kid.startsWith(prefix))
    .map(({ kid }) => Number(kid.slice(prefix.length)));
  return `${prefix}${1 + Math.max(0, ...taken)}`;
};

export const describeKey = ({ firstSeenAtMs, retiredAtMs, compromisedAtMs }: ServiceKeyRecord): string => {
  const at = (ms: number) => new Date(ms).toISOString();
  const since = `published ${at(firstSeenAtMs)}`;
  if (compromisedAtMs !== null) return `${since}, compromised ${at(compromisedAtMs)}`;
  return retiredAtMs === null ? since : `${since}, retired ${at(retiredAtMs)}`;
};

/**
 * Why a start with this key in its set would be refused; null: it would not. `isActive`: the key is the first of the
 * set.
 */
export const findKeyFault = (
  known: ServiceKeyRecord | undefined,
  { publicKeyMultibase: key }: Pick<PublishedKey, 'publicKeyMultibase'>,
  isActive: boolean,
): string | null => {
  if (known === undefined) return null;
  if (known.publicKeyMultibase !== key)
    return `its public key was ${known.publicKeyMultibase} and is now ${key}: a kid may never name another key`;
  const ended = known.compromisedAtMs ?? known.retiredAtMs;
  return isActive && ended !== null ? `it is first in its set, but has ended: ${describeKey(known)}` : null;
};

const findPurpose = (fragment: string): 'receipt' | 'status' | null => {
  const [, purpose] = /^(receipt|status)(?:-[1-9][0-9]{0,8})?$/.exec(fragment) ?? [];
  return purpose === 'receipt' || purpose === 'status' ? purpose : null;
};

/** The option of commands that make a key. */
export const PRIVATE_KEY = {
  value: 'URI',
  text: 'place of the new key: file: (an encrypted file beside the set), pkcs11:… or aws-kms:…; default: the place of the first key in the set',
} as const;
export const PLACE =
  'If the URI names a key in a token or a KMS, that key is taken. If it names none, a new key is made there.';

/** The URI that `--private-key` gives; null: none. */
export const uriOf = (values: Readonly<Record<string, unknown>>): string | null => {
  const uri = values['private-key'];
  return typeof uri === 'string' ? uri : null;
};

/** Describes what remains elsewhere when a command removes a key from its set. */
export const leftBehind = ({ private_key: uri }: KeyInFile): string =>
  uri === undefined || uri.startsWith('file:')
    ? ''
    : ` The private key is still at ${uri}: when no process signs with it any more, destroy it there.`;
