/**
 * Changes of a key set in its file: keys are added behind the signing key, moved to the front, encrypted, or lose their
 * private part. The whole file is replaced and keeps its owner and permissions. All functions here throw `KeySetError`
 * if they cannot do their work, and have changed nothing then.
 */
import { createPrivateKey } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { encodeBase64url } from '@svc/protocol';
import { type KeyPurpose, KeySetError } from '@svc/service';
import { type KeySources, parseKeyUri, pathOf, reEncrypt, type Signers, writePrivateKey } from '@svc/signers';
import { type KeyFile, newPrivateJwk, orKeySetError, readSecretFile, replaceFile } from './key-files.ts';

export interface KeyInFile {
  readonly kid: string;
  readonly x: string;
  readonly d?: string;
  /** A URI. */
  readonly private_key?: string;
}

/** The key file, with what its changes need. */
export interface KeySetFile extends KeyFile {
  readonly purpose: KeyPurpose;
  readonly signers: Signers;
  readonly sources: KeySources;
}

/** Empty if there is no file yet. */
export const readKeySetFile = ({ path, source }: KeyFile): readonly KeyInFile[] => {
  if (!existsSync(path)) return [];
  const { text } = orKeySetError(source, 'read', () => readSecretFile(path));
  try {
    const { keys } = JSON.parse(text) as { readonly keys: readonly KeyInFile[] };
    if (Array.isArray(keys)) return keys;
  } catch {
    // The parser's message may quote the file.
  }
  throw new KeySetError(`${source} is not a JWK set`);
};

/**
 * Makes a new key called `kid` in the place that `uri` names or, without one, in the place of the set's first key. In a
 * set with plain-text keys, the new key is in plain text.
 */
export const makeKey = async (file: KeySetFile, kid: string, uri: string | null): Promise<KeyInFile> => {
  const [first] = readKeySetFile(file);
  const place = uri ?? first?.private_key ?? null;
  const base = { kid, kty: 'OKP', crv: 'Ed25519' };
  if (place === null) return { ...base, ...(newPrivateJwk() as { readonly x: string }) };
  const made = await file.signers.make(place, { name: kid, isLikeThat: uri === null }, file.sources);
  return { ...base, x: encodeBase64url(made.publicKey), private_key: made.uri };
};

/** Each process publishes the key from its next start on. The key does not sign yet, unless it is the first one. */
export const addKey = (file: KeySetFile, key: KeyInFile): void => {
  const [first, ...rest] = readKeySetFile(file);
  if (first === undefined) file.sources.writeSecret(file.path, textOf([key]));
  else write(file, [first, key, ...rest]);
};

/** Makes `kid` the key that signs, from the next start of each process on. */
export const moveFirst = (file: KeySetFile, kid: string): void => {
  const keys = readKeySetFile(file);
  const chosen = keys.filter((key) => key.kid === kid);
  write(file, [...chosen, ...keys.filter((key) => key.kid !== kid)]);
};

/**
 * Moves `successor` to the front, if there is one, and removes the private part of `kid`, including its encrypted file.
 */
export const withdrawKey = (file: KeySetFile, kid: string, successor: KeyInFile | null): void => {
  const keys = readKeySetFile(file);
  const rest = keys.map((key) => (key.kid === kid ? publicPartOf(key) : key));
  write(file, successor === null ? rest : [successor, ...rest.filter((key) => key.kid !== successor.kid)]);
  const uri = keys.find((key) => key.kid === kid)?.private_key;
  const at = uri === undefined ? null : parseKeyUri(uri);
  if (at?.kind === 'file') rmSync(pathOf(at, file.sources), { force: true });
};

/** Moves private parts from plain text into encrypted files. Returns the kids of these keys. */
export const encryptKeys = (file: KeySetFile): readonly string[] => {
  const keys = readKeySetFile(file);
  const plain = keys.flatMap(({ kid, x, d }) => (d === undefined ? [] : [{ kid, x, d }]));
  const encrypted = new Map(
    plain.map(({ kid, x, d }) => {
      const privateKey = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d }, format: 'jwk' });
      return [kid, writePrivateKey(privateKey, kid, file.sources).uri];
    }),
  );
  const withUri = (key: KeyInFile): KeyInFile => {
    const uri = encrypted.get(key.kid);
    return uri === undefined ? key : { ...publicPartOf(key), private_key: uri };
  };
  if (plain.length > 0) write(file, keys.map(withUri));
  return plain.map(({ kid }) => kid);
};

/**
 * Encrypts the encrypted key files of these sets again, with the passphrase in the file `newPassphrasePath`. Returns
 * their paths. No file is changed before all could be opened. If the call was cut off, a repeated call completes it.
 */
export const changePassphrase = (
  files: readonly KeySetFile[],
  newPassphrasePath: string,
): readonly string[] => {
  const encrypted = files.flatMap((file) => encryptedAnew(file, newPassphrasePath));
  for (const { path, text } of encrypted)
    if (text !== null)
      replace(
        path,
        text,
        (code) =>
          `${path} cannot be replaced (${code}): make it writable and run the command again. Keep both passphrases until then, since other files may have the new one already`,
      );
  return encrypted.map(({ path }) => path);
};

/** `text`: the new content; null: the file has that passphrase already. */
const encryptedAnew = (file: KeySetFile, newPassphrasePath: string) =>
  readKeySetFile(file).flatMap(({ private_key: uri }) => {
    const at = uri === undefined ? null : parseKeyUri(uri);
    if (at?.kind !== 'file') return [];
    return [{ path: pathOf(at, file.sources), text: reEncrypt(at, file.sources, newPassphrasePath) }];
  });

const publicPartOf = ({ d: _, private_key: __, ...publicPart }: KeyInFile): KeyInFile => publicPart;

const textOf = (keys: readonly KeyInFile[]): string => `${JSON.stringify({ keys }, null, 2)}\n`;

const write = ({ path, source }: KeyFile, keys: readonly KeyInFile[]): void =>
  replace(
    path,
    textOf(keys),
    (code) =>
      `${source} cannot be replaced (${code}), and nothing has changed: make it writable, or edit it by hand (docs/operations.md, Keys)`,
  );

const replace = (path: string, text: string, explain: (code: string | undefined) => string): void => {
  try {
    replaceFile(path, text);
  } catch (error) {
    throw new KeySetError(explain((error as NodeJS.ErrnoException).code));
  }
};
