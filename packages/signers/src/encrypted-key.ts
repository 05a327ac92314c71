/**
 * A private key encrypted at rest: PKCS#8 (RFC 5958) as PEM, which OpenSSL and the tools of tokens can read. This
 * module writes PBES2 (RFC 8018) with AES-256-CBC; it also reads files of other programs with scrypt or more rounds.
 * CBC does not protect integrity, so the code that opens a key compares it with the published one.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { KeySetError } from '@svc/service';

/**
 * Node's PBES2 stretches a passphrase with only 2,048 rounds. That is too little for a passphrase that a person made
 * up, and irrelevant for a random one: at this length, base64 and hexadecimal contain at least 128 bits.
 */
const MIN_PASSPHRASE_CHARS = 32;
const MAX_PASSPHRASE_BYTES = 1024;

/** Throws `KeySetError`; `source` names the origin of the text in it. */
export const checkPassphrase = (text: string, source: string): Buffer => {
  const passphrase = Buffer.from(text.replace(/\r?\n$/, ''), 'utf8');
  if (passphrase.length < MIN_PASSPHRASE_CHARS || passphrase.length > MAX_PASSPHRASE_BYTES)
    throw new KeySetError(
      `${source}: a passphrase must have ${MIN_PASSPHRASE_CHARS} to ${MAX_PASSPHRASE_BYTES} bytes, as openssl rand -base64 32 makes it`,
    );
  return passphrase;
};

const isEncryptedKey = (pem: string): boolean => pem.includes('-----BEGIN ENCRYPTED PRIVATE KEY-----');

export const encryptPrivateKey = (key: KeyObject, passphrase: Buffer): string =>
  key.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase }).toString();

/** Throws `KeySetError` that shows nothing of the file or the passphrase. */
export const decryptPrivateKey = (pem: string, passphrase: Buffer): KeyObject => {
  if (!isEncryptedKey(pem))
    throw new KeySetError(
      'is not an encrypted PKCS#8 file (ENCRYPTED PRIVATE KEY); openssl pkcs8 -topk8 -v2 aes-256-cbc makes one of a plain one',
    );
  const key = findPrivateKey(pem, passphrase);
  if (key === null)
    throw new KeySetError(
      'cannot be decrypted: the passphrase in SVC_KEY_PASSPHRASE_FILE is not the one that it was encrypted with, or the file is damaged',
    );
  if (key.asymmetricKeyType !== 'ed25519')
    throw new KeySetError(`holds a key of kind ${key.asymmetricKeyType}, and must be Ed25519`);
  return key;
};

/**
 * Null if it has another passphrase. OpenSSL's errors are of no help here: they depend on its version, and on the bytes
 * that the wrong passphrase makes of the last block.
 */
export const findPrivateKey = (pem: string, passphrase: Buffer): KeyObject | null => {
  try {
    return createPrivateKey({ key: pem, format: 'pem', passphrase });
  } catch {
    return null;
  }
};
