/** Port of immutable objects outside the database. Each is named by its content. */

/**
 * `<folder>/<64 hex characters>.<extension>`: the SHA-256 of the bytes. A folder is `[a-z0-9-]` segments with `/`
 * between.
 */
export type ObjectName = string;

/** A part of an object, and the SHA-256 of its bytes in hex. */
export interface ObjectRange {
  readonly offset: number;
  readonly length: number;
  readonly sha256: string;
}

export interface ObjectPage {
  /** Ascending. */
  readonly names: readonly ObjectName[];
  /** Where the next page begins; null on the last one. */
  readonly next: string | null;
}

/**
 * Every method that reads hashes the bytes and compares: it answers the bytes that were stored, or rejects with
 * `ObjectStoreError`. When `put` has resolved, the object is durable. A `put` that rejects may have taken place, and
 * can be repeated.
 */
export interface ObjectStore {
  /**
   * Stores bytes under their name, and refuses a name that does not match them. False: the object existed already, and
   * was read and compared. An existing object is replaced only where its bytes do not match its name.
   */
  put(name: ObjectName, bytes: Uint8Array, signal?: AbortSignal): Promise<boolean>;
  get(name: ObjectName, signal?: AbortSignal): Promise<Uint8Array>;
  getRange(name: ObjectName, range: ObjectRange, signal?: AbortSignal): Promise<Uint8Array>;
  /** Number of bytes stored under the name, which are not checked; null: nothing is stored. */
  head(name: ObjectName, signal?: AbortSignal): Promise<number | null>;
  /**
   * Names below a folder, after `after`. A page has at most `limit` (1 to 1,000) names and may have fewer. A listing
   * may lag behind a `put` or `delete`, so it may be used only to search for objects that nothing names.
   */
  list(folder: string, after: string | null, limit: number, signal?: AbortSignal): Promise<ObjectPage>;
  /** Does nothing where there is no such object. */
  delete(name: ObjectName, signal?: AbortSignal): Promise<void>;
}

/**
 * `missing`: nothing is stored under the name. `wrong-bytes`: the stored bytes do not match the name or the range.
 * `refused`: the store refuses the call. `unavailable`: the store could not be reached, or did not answer in time.
 */
export type ObjectStoreErrorKind = 'missing' | 'wrong-bytes' | 'refused' | 'unavailable';

export class ObjectStoreError extends Error {
  override readonly name = 'ObjectStoreError';
  constructor(
    readonly kind: ObjectStoreErrorKind,
    message: string,
  ) {
    super(message);
  }
}
