/** What a place of objects must be able to do. It may fail, lie and be slow: `checked-store.ts` makes the port of it. */
import type { ObjectName } from '@svc/service';
import type { Places } from './places.ts';

/** More than a driver stores or reads at once. */
export const MAX_OBJECT_BYTES = 256 * 1024 * 1024;

/**
 * `created`: nothing was there, and no other writer can have been first. `there`: something is, and was not touched. `written`:
 * the place knows no condition, so what is there now must be read.
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
  /** How often a call that fails is made in all. */
  readonly attempts: number;
  /** For the calls that are under way. */
  readonly places: Places;
  create(name: ObjectName, bytes: Uint8Array, signal: AbortSignal): Promise<Written>;
  /** Has these bytes be under the name whatever is there. */
  replace(name: ObjectName, bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  /** Null: nothing is stored under the name. Never more than was asked for, nor than `MAX_OBJECT_BYTES`; fewer bytes may come. */
  read(name: ObjectName, range: ByteRange | null, signal: AbortSignal): Promise<Uint8Array | null>;
  size(name: ObjectName, signal: AbortSignal): Promise<number | null>;
  list(folder: string, after: string | null, limit: number, signal: AbortSignal): Promise<RawPage>;
  remove(name: ObjectName, signal: AbortSignal): Promise<void>;
}

/** Asking again would be answered in the same way. */
export class FinalError extends Error {}
