/** Keys in encrypted PKCS#8 files. They are decrypted at start, and sign in this process. */
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { decodeBase64url, isSameBytes } from '@svc/protocol';
import { KeySetError, type PublishedKey, type ServiceSigner, type SignWith, signerOf } from '@svc/service';
import { checkPassphrase, decryptPrivateKey, encryptPrivateKey, findPrivateKey } from './encrypted-key.ts';
import type { FileUri } from './key-uri.ts';
import type { KeySources, MadeKey } from './sources.ts';

/** Throws `KeySetError` unless what it signs verifies under `key`. */
export const openFile = (
  uri: FileUri,
  key: PublishedKey,
  sources: KeySources,
  signWith: SignWith,
): ServiceSigner => {
  const path = pathOf(uri, sources);
  return signerOf(signWith(readPrivateKey(path, sources)), key, `${path}: its key is not the one of x`);
};

/** A new key in `<name>.pem` beside the key set; the one that is there already, from an attempt that was cut off. */
export const makeFile = (name: string, sources: KeySources): MadeKey => {
  const path = join(sources.folder, fileOf(name));
  const privateKey = existsSync(path)
    ? readPrivateKey(path, sources)
    : generateKeyPairSync('ed25519').privateKey;
  return writePrivateKey(privateKey, name, sources);
};

/** The same of a key that there is already, as in a plain key set. */
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

/** The file once more, under another passphrase; null where it has that one already. Throws `KeySetError`. */
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
