/** What drivers are given, and what they give. */

export interface KeySources {
  /** Where relative paths begin: the folder of the key set. */
  readonly folder: string;
  /** The file that has the passphrase of encrypted key files; null: none is configured. */
  readonly passphrasePath: string | null;
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
