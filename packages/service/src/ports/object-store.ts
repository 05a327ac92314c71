/** Immutable objects outside the database, each of them named by its content. */

/** `<folder>/<64 hex characters>.<extension>`: the SHA-256 of the bytes. A folder is `[a-z0-9-]` segments with `/` between. */
export type ObjectName = string;

/** A part of an object, and what its bytes must hash to, in hex. */
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
 * Whatever is read has been hashed and compared: a method answers with the bytes that were stored, or it rejects with
 * `ObjectStoreError`. What `put` has answered is durable. A `put` that rejects may have taken place, and is repeated.
 */
export interface ObjectStore {
  /**
   * Stores bytes under their name, and refuses any other name. False: they were there already, which has been read and
   * compared. An object is replaced only where its bytes are not what its name says.
   */
  put(name: ObjectName, bytes: Uint8Array, signal?: AbortSignal): Promise<boolean>;
  get(name: ObjectName, signal?: AbortSignal): Promise<Uint8Array>;
  getRange(name: ObjectName, range: ObjectRange, signal?: AbortSignal): Promise<Uint8Array>;
  /** How many bytes are stored under the name; null: nothing is. Says nothing of what they are. */
  head(name: ObjectName, signal?: AbortSignal): Promise<number | null>;
  /**
   * Names below a folder behind `after`, at most `limit` (1 to 1,000) in a page, which may have fewer. A store may tell late of
   * what was put or deleted just before: nothing may rest on a listing but the search for what nobody names.
   */
  list(folder: string, after: string | null, limit: number, signal?: AbortSignal): Promise<ObjectPage>;
  /** Harmless where there is none. */
  delete(name: ObjectName, signal?: AbortSignal): Promise<void>;
}

/**
 * `missing`: nothing is stored under the name. `wrong-bytes`: something else is than what the name or the range says.
 * `refused`: the store answers that it will not. `unavailable`: it could not be asked, or did not answer in time.
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
