/**
 * The interface that a place of objects implements. A driver may fail, return wrong data and be slow:
 * `checked-store.ts` builds the port on it.
 */
import type { ObjectName } from '@svc/service';
import type { Places } from './places.ts';

/** A driver refuses to store or read more at once. */
export const MAX_OBJECT_BYTES = 256 * 1024 * 1024;

/**
 * `created`: there was no object, and no other writer can have been first. `there`: there is one, and it was not
 * changed. `written`: the place does not support conditions, so the present object must be read.
 */
export type Written = 'created' | 'there' | 'written';

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

export interface RawPage {
  readonly keys: readonly string[];
  readonly isLast: boolean;
}

export interface Driver {
  /** Number of attempts of a failing call, with the first. */
  readonly attempts: number;
  /** Places for the calls that are under way. */
  readonly places: Places;
  create(name: ObjectName, bytes: Uint8Array, signal: AbortSignal): Promise<Written>;
  /** Stores these bytes under the name, whether or not there is an object. */
  replace(name: ObjectName, bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  /**
   * Null: nothing is stored under the name. Never more bytes than requested, nor than `MAX_OBJECT_BYTES`; there may be
   * fewer.
   */
  read(name: ObjectName, range: ByteRange | null, signal: AbortSignal): Promise<Uint8Array | null>;
  size(name: ObjectName, signal: AbortSignal): Promise<number | null>;
  list(folder: string, after: string | null, limit: number, signal: AbortSignal): Promise<RawPage>;
  remove(name: ObjectName, signal: AbortSignal): Promise<void>;
}

/** A permanent refusal: another attempt would be answered in the same way. */
export class FinalError extends Error {}
