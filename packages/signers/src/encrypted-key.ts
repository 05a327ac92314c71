/**
 * A private key encrypted at rest: PKCS#8 (RFC 5958) as PEM, which OpenSSL and the tools of tokens read. What is written
 * here is PBES2 (RFC 8018) with AES-256-CBC; what others wrote with scrypt or more rounds is read too. CBC protects no
 * integrity: whoever opens a key holds it against the published one.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { KeySetError } from '@svc/service';

/**
 * Node's PBES2 stretches a passphrase with 2,048 rounds, which is little for one that a person made up and nothing that
 * matters for a random one: of this length it has more than 128 bits in base64 and in hexadecimal.
 */
const MIN_PASSPHRASE_CHARS = 32;
const MAX_PASSPHRASE_BYTES = 1024;

/** Throws `KeySetError`; `source` says where it came from. */
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

/** Null under another passphrase: OpenSSL's errors differ by version and by what that made of the last block. */
export const findPrivateKey = (pem: string, passphrase: Buffer): KeyObject | null => {
  try {
    return createPrivateKey({ key: pem, format: 'pem', passphrase });
  } catch {
    return null;
  }
};
