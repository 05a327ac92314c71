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
  gist: 'Makes a new receipt or status key, second in its set',
  options: { 'private-key': PRIVATE_KEY },
  notes: [
    'It is published from the next start of each process on, and does not sign yet. Where there is no set, it begins one.',
    PLACE,
  ],
  run: (values, env, purpose) =>
    openKeyPlace(env, purpose, async (place) => {
      const key = await makeKey(place.file, nextKid(place), uriOf(values));
      addKey(place.file, key);
      console.log(`${place.file.path}: ${key.kid} is there${whereIs(key)}.`);
      return 0;
    }),
};

export const keysRotateCommand: Command = {
  name: 'keys rotate',
  operand: 'KID',
  gist: 'Has receipt-<n> or status-<n> sign from the next start of each process on',
  options: { now: { text: 'also where it was not published for 60 s, which is refused otherwise' } },
  run: (values, env, name) => openKeyPlace(env, name, (place) => rotate(place, values.now === true)),
};

export const keysRetireCommand: Command = {
  name: 'keys retire',
  operand: 'KID',
  gist: 'Takes the private part of a key that signs no more out of its set',
  options: {},
  notes: ['The key ends with the next start of a process.'],
  run: (_, env, name) =>
    openKeyPlace(env, name, async ({ file, fragment }) => {
      if (getKeys(file)[0]?.kid === fragment)
        throw new UsageError(`${fragment} signs: put another key first (keys rotate)`);
      const key = getKey(file, fragment);
      withdrawKey(file, fragment, null);
      console.log(`${file.path}: ${fragment} has no private part any more.${leftBehind(key)}`);
      return 0;
    }),
};

export const keysEncryptCommand: Command = {
  name: 'keys encrypt',
  operand: 'PURPOSE',
  gist: 'Puts private keys that stand in plain text in a set into encrypted files beside it',
  options: {
    'new-passphrase-file': {
      value: 'PATH',
      text: 'encrypts those files of all sets anew, the sandbox’s too, under the passphrase in that file',
    },
  },
  notes: [
    'The passphrase is that in SVC_KEY_PASSPHRASE_FILE, one for all sets. A change that was cut off goes on when it is said again.',
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
      `${missing.source} is not there: all sets change together, since they have one passphrase`,
    );
  const done = changePassphrase(sets, newPassphrasePath);
  console.log(
    done.length === 0
      ? 'There are no encrypted files.'
      : `${done.join(', ')} encrypted. Put the new passphrase where SVC_KEY_PASSPHRASE_FILE says now.`,
  );
  return 0;
};

const rotate = async ({ file, fragment, did, stored, nowMs }: KeyPlace, isNow: boolean): Promise<number> => {
  const key = getKey(file, fragment);
  if (key.d === undefined && key.private_key === undefined)
    throw new UsageError(`${fragment} has no private part in ${file.path}: it cannot sign`);
  const record = stored.find(({ kid }) => kid === `${did}#${fragment}`);
  const isEnded = record !== undefined && (record.retiredAtMs ?? record.compromisedAtMs) !== null;
  if (isEnded) throw new UsageError(`${fragment}: ${describeKey(record)}; it signs nothing more`);
  const publishedMs = record === undefined ? 0 : nowMs - record.firstSeenAtMs;
  if (publishedMs < CACHED_MS && !isNow)
    throw new UsageError(
      `${fragment} is ${record === undefined ? 'not published yet: start every process anew' : 'published for less than 60 s'}, and caches may not have it; --now takes it all the same`,
    );
  moveFirst(file, fragment);
  console.log(
    `${file.path}: ${fragment} signs from the next start of each process on. Start them anew, one by one.`,
  );
  return 0;
};

/** Milliseconds for which caches may keep `did.json`. */
const CACHED_MS = 60_000;

/** Throws if there is no set yet: the user must have meant another file. */
const getKeys = (file: KeySetFile): readonly KeyInFile[] => {
  const keys = readKeySetFile(file);
  if (keys.length > 0) return keys;
  throw new UsageError(`${file.source} is not there yet: svc-admin keys create ${file.purpose} begins it`);
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
