/** Keys in encrypted PKCS#8 files. They are decrypted at start, and sign in this process. */
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { decodeBase64url, isSameBytes } from '@svc/protocol';
import { KeySetError, type PublishedKey, type ServiceSigner, type SignWith, signerOf } from '@svc/service';
import { checkPassphrase, decryptPrivateKey, encryptPrivateKey, findPrivateKey } from './encrypted-key.ts';
import type { FileUri } from './key-uri.ts';
import type { KeySources, MadeKey } from './sources.ts';

/** Throws `KeySetError` unless its signatures verify under `key`. */
export const openFile = (
  uri: FileUri,
  key: PublishedKey,
  sources: KeySources,
  signWith: SignWith,
): ServiceSigner => {
  const path = pathOf(uri, sources);
  return signerOf(signWith(readPrivateKey(path, sources)), key, `${path}: its key is not the one of x`);
};

/**
 * Makes a new key in `<name>.pem` beside the key set, or returns the one that an attempt which was cut off has left
 * there.
 */
export const makeFile = (name: string, sources: KeySources): MadeKey => {
  const path = join(sources.folder, fileOf(name));
  const privateKey = existsSync(path)
    ? readPrivateKey(path, sources)
    : generateKeyPairSync('ed25519').privateKey;
  return writePrivateKey(privateKey, name, sources);
};

/** The same for an existing key, for example from a plain key set. */
export const writePrivateKey = (privateKey: KeyObject, name: string, sources: KeySources): MadeKey => {
  const path = join(sources.folder, fileOf(name));
  const made = { uri: `file:${fileOf(name)}`, publicKey: publicPartOf(privateKey) };
  if (!existsSync(path))
    sources.writeSecret(path, encryptPrivateKey(privateKey, passphraseOf(path, sources)));
  else if (!isSameBytes(publicPartOf(readPrivateKey(path, sources)), made.publicKey))
    throw new KeySetError(`${path} is there already, with another key: move it away`);
  return made;
};

const fileOf = (name: string): string => `${name}.pem`;

/** The file encrypted with another passphrase; null if it has that passphrase already. Throws `KeySetError`. */
export const reEncrypt = (uri: FileUri, sources: KeySources, newPassphrasePath: string): string | null => {
  const passphrase = checkPassphrase(sources.readSecret(newPassphrasePath), newPassphrasePath);
  const path = pathOf(uri, sources);
  if (findPrivateKey(sources.readSecret(path), passphrase) !== null) return null;
  return encryptPrivateKey(readPrivateKey(path, sources), passphrase);
};

export const pathOf = ({ path }: FileUri, { folder }: Pick<KeySources, 'folder'>): string =>
  resolve(folder, path);

const readPrivateKey = (path: string, sources: KeySources): KeyObject => {
  const pem = sources.readSecret(path);
  const passphrase = passphraseOf(path, sources);
  try {
    return decryptPrivateKey(pem, passphrase);
  } catch (error) {
    throw error instanceof KeySetError ? new KeySetError(`${path} ${error.message}`) : error;
  }
};

const passphraseOf = (path: string, { passphrasePath, readSecret }: KeySources): Buffer => {
  if (passphrasePath === null)
    throw new KeySetError(
      `${path} needs SVC_KEY_PASSPHRASE_FILE, the path of the file that has its passphrase`,
    );
  return checkPassphrase(readSecret(passphrasePath), `SVC_KEY_PASSPHRASE_FILE: ${passphrasePath}`);
};

const publicPartOf = (privateKey: KeyObject): Uint8Array => {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return decodeBase64url(x) ?? new Uint8Array();
};
