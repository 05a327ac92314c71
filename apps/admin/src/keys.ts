/**
 * `svc-admin keys`: lists the keys that the service ever had, makes new ones, and selects the one that signs
 * (docs/operations.md). Each step can be repeated: it leaves what was done already.
 */
import { UsageError } from '@svc/cli/command-line';
import {
  addKey,
  changePassphrase,
  encryptKeys,
  type KeyInFile,
  type KeySetFile,
  makeKey,
  moveFirst,
  readKeySetFile,
  withdrawKey,
} from '@svc/config';
import { type Command, databaseUrlFrom } from './command.ts';
import {
  describeKey,
  type KeyPlace,
  leftBehind,
  listStored,
  nextKid,
  openKeyPlace,
  PLACE,
  PRIVATE_KEY,
  uriOf,
} from './key-place.ts';

export const keysCommand: Command = {
  name: 'keys',
  gist: 'Lists the keys that the service ever had, and when each was in force',
  options: {},
  run: async (_, env) => {
    for (const key of await listStored(databaseUrlFrom(env))) console.log(`${key.kid}  ${describeKey(key)}`);
    return 0;
  },
};

export const keysCreateCommand: Command = {
  name: 'keys create',
  operand: 'PURPOSE',
  gist: 'Makes a new receipt or status key and puts it second in its set',
  options: { 'private-key': PRIVATE_KEY },
  notes: [
    'Each process publishes the key from its next start on. The key does not sign yet. If there is no set, the command makes one.',
    PLACE,
  ],
  run: (values, env, purpose) =>
    openKeyPlace(env, purpose, async (place) => {
      const key = await makeKey(place.file, nextKid(place), uriOf(values));
      addKey(place.file, key);
      console.log(`${place.file.path}: ${key.kid} was added${whereIs(key)}.`);
      return 0;
    }),
};

export const keysRotateCommand: Command = {
  name: 'keys rotate',
  operand: 'KID',
  gist: 'Puts receipt-<n> or status-<n> first in its set: it signs from the next start of each process on',
  options: {
    now: { text: 'also takes a key that has not been published for 60 s yet, which is refused otherwise' },
  },
  run: (values, env, name) => openKeyPlace(env, name, (place) => rotate(place, values.now === true)),
};

export const keysRetireCommand: Command = {
  name: 'keys retire',
  operand: 'KID',
  gist: 'Removes the private part of a key that no longer signs from its set',
  options: {},
  notes: ['The key is retired when a process next starts.'],
  run: (_, env, name) =>
    openKeyPlace(env, name, async ({ file, fragment }) => {
      if (getKeys(file)[0]?.kid === fragment)
        throw new UsageError(
          `${fragment} is the key that signs: first put another key in its place (svc-admin keys rotate)`,
        );
      const key = getKey(file, fragment);
      withdrawKey(file, fragment, null);
      console.log(`${file.path}: ${fragment} has no private part any more.${leftBehind(key)}`);
      return 0;
    }),
};

export const keysEncryptCommand: Command = {
  name: 'keys encrypt',
  operand: 'PURPOSE',
  gist: 'Moves private keys that are in plain text in a set into encrypted files beside it',
  options: {
    'new-passphrase-file': {
      value: 'PATH',
      text: 'encrypts these files of all sets anew, also the sandbox’s, with the passphrase in this file',
    },
  },
  notes: [
    'All sets have the same passphrase: the one in SVC_KEY_PASSPHRASE_FILE. If a change was interrupted, run the same command again to complete it.',
  ],
  run: (values, env, purpose) =>
    openKeyPlace(env, purpose, async ({ file, sets }) => {
      getKeys(file);
      const path = values['new-passphrase-file'];
      if (typeof path === 'string') return encryptAnew(sets, path);
      const done = encryptKeys(file);
      console.log(
        `${file.path}: ${done.length === 0 ? 'nothing to encrypt' : `${done.join(', ')} encrypted`}.`,
      );
      return 0;
    }),
};

/** All sets are needed: a set that was left out would need the old passphrase, which nobody has once it is replaced. */
const encryptAnew = (sets: readonly KeySetFile[], newPassphrasePath: string): number => {
  const missing = sets.find((set) => !set.isOwn && readKeySetFile(set).length === 0);
  if (missing !== undefined)
    throw new UsageError(
      `${missing.source} does not exist: all sets must change together, since they have the same passphrase`,
    );
  const done = changePassphrase(sets, newPassphrasePath);
  console.log(
    done.length === 0
      ? 'There are no encrypted files.'
      : `${done.join(', ')} encrypted. Now put the new passphrase into the file that SVC_KEY_PASSPHRASE_FILE names.`,
  );
  return 0;
};

const rotate = async ({ file, fragment, did, stored, nowMs }: KeyPlace, isNow: boolean): Promise<number> => {
  const key = getKey(file, fragment);
  if (key.d === undefined && key.private_key === undefined)
    throw new UsageError(`${fragment} has no private part in ${file.path}: it cannot sign`);
  const record = stored.find(({ kid }) => kid === `${did}#${fragment}`);
  const isEnded = record !== undefined && (record.retiredAtMs ?? record.compromisedAtMs) !== null;
  if (isEnded) throw new UsageError(`${fragment}: ${describeKey(record)}; it can never sign again`);
  const publishedMs = record === undefined ? 0 : nowMs - record.firstSeenAtMs;
  if (publishedMs < CACHED_MS && !isNow)
    throw new UsageError(
      `${fragment} is ${record === undefined ? 'not published yet: restart every process first. Caches' : 'published for less than 60 s. Caches'} may not have it; --now rotates to it all the same`,
    );
  moveFirst(file, fragment);
  console.log(
    `${file.path}: ${fragment} signs from the next start of each process on. Restart them one by one.`,
  );
  return 0;
};

/** Milliseconds for which caches may keep `did.json`. */
const CACHED_MS = 60_000;

/** Throws if there is no set yet: the user must have meant another file. */
const getKeys = (file: KeySetFile): readonly KeyInFile[] => {
  const keys = readKeySetFile(file);
  if (keys.length > 0) return keys;
  throw new UsageError(`${file.source} does not exist yet: svc-admin keys create ${file.purpose} makes it`);
};

const getKey = (file: KeySetFile, fragment: string): KeyInFile => {
  const keys = getKeys(file);
  const key = keys.find(({ kid }) => kid === fragment);
  if (key !== undefined) return key;
  throw new UsageError(
    `${file.path} has no key ${fragment}; it has ${keys.map(({ kid }) => kid).join(', ')}`,
  );
};

const whereIs = ({ private_key: uri }: KeyInFile): string =>
  uri === undefined ? '' : `, its private part in ${uri}`;
