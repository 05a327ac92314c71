/** What drivers are given, and what they give. */
import { KeySetError } from '@svc/service';

export interface KeySources {
  /** Where relative paths begin: the folder of the key set. */
  readonly folder: string;
  /** The file that has the passphrase of encrypted key files; null: none is configured. */
  readonly passphrasePath: string | null;
  /** The file that has the PIN of tokens whose URI names none; null: none is configured. */
  readonly pinPath: string | null;
  /** Throws `KeySetError`, with the path, where it cannot be read or others may read it. */
  readonly readSecret: (path: string) => string;
  /** Writes a file that is not there yet, for its owner alone. Throws `KeySetError`. */
  readonly writeSecret: (path: string, text: string) => void;
}

export interface MadeKey {
  /** For `private_key`. */
  readonly uri: string;
  readonly publicKey: Uint8Array;
}

/** Throws `KeySetError`. */
export const readPin = (
  { pinPath }: { readonly pinPath: string | null },
  { pinPath: standard, readSecret }: Pick<KeySources, 'pinPath' | 'readSecret'>,
): Buffer => {
  const path = pinPath ?? standard;
  if (path === null)
    throw new KeySetError('pkcs11: needs a PIN: pin-source=file:<path> in the URI, or SVC_PKCS11_PIN_FILE');
  return Buffer.from(readSecret(path).replace(/\r?\n$/, ''), 'utf8');
};
