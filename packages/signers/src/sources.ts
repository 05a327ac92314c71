/** The input and the results of drivers. */
import { KeySetError } from '@svc/service';

export interface KeySources {
  /** Base of relative paths: the folder of the key set. */
  readonly folder: string;
  /** The file with the passphrase of encrypted key files; null: none is configured. */
  readonly passphrasePath: string | null;
  /** The file with the PIN of tokens whose URI names none; null: none is configured. */
  readonly pinPath: string | null;
  /** Throws `KeySetError` with the path if the file cannot be read, or if others may read it. */
  readonly readSecret: (path: string) => string;
  /** Writes a file that does not exist yet, readable by its owner alone. Throws `KeySetError`. */
  readonly writeSecret: (path: string, text: string) => void;
}

export interface MadeKey {
  /** Value of `private_key`. */
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
