/**
 * Maps the driver's errors to the `StoreErrorKind`s of the port. The kind depends on what is known about the work: an
 * error that a live server answered rolled it back; a lost connection leaves it unknown.
 */
import { messageOf, StoreError } from '@svc/service';
import pg from 'pg';

/**
 * An operation exceeded its client-side deadline. No caller waits for it any more; its connection is closed unless it
 * still answers.
 */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/** The queue for a connection gave no turn in time: there was too much work, which says nothing about the server. */
export class NoTurnError extends StoreError {
  constructor(why: string) {
    super('unavailable', `no connection was free: ${why}`);
  }
}

/** The answer came from a server that does not count, or no longer counts. */
export class ReplacedError extends Error {
  override readonly name = 'ReplacedError';
}

/**
 * What is unknown after a lost answer. `nothing`: a read, or work in a transaction whose COMMIT was never sent.
 * `stored`: the work may have been committed.
 */
export type AtStake = 'nothing' | 'stored';

const UNIQUE_VIOLATION = '23505';
const LOCK_NOT_AVAILABLE = '55P03';
/**
 * No such table, function or column, or no right to it: the schema is not of this version, or this role lacks the
 * grants.
 */
const NOT_AS_MIGRATED = new Set(['42P01', '42883', '42703', '42501']);
const DENIED = '42501';
/**
 * Source file in which PostgreSQL checks rights. The same SQLSTATE also reports a file that the operating system did
 * not let it write.
 */
const RIGHTS = 'aclchk.c';
const MIGRATE_FIRST =
  'the schema, or what this role may do, is not as this version needs it; as the owner of the database run svc-admin migrate, ' +
  'with --service-role or --runner-role for a role that is not the owner';

/** True when the server answered with an error and rolled back, and the connection is still usable. */
export function isServerAnswer(error: unknown): error is pg.DatabaseError {
  if (!(error instanceof pg.DatabaseError)) return false;
  const state = error.code ?? '';
  return (
    error.severity !== 'FATAL' &&
    error.severity !== 'PANIC' &&
    !state.startsWith('08') &&
    !state.startsWith('57P0')
  );
}

/** The error of a statement that was sent. */
export function toStoreError(error: unknown, atStake: AtStake): StoreError {
  if (error instanceof StoreError) return error;
  const message = messageOf(error);
  if (!isServerAnswer(error)) {
    return new StoreError(atStake === 'nothing' ? 'unavailable' : 'ambiguous', message, { cause: error });
  }
  if (error.code === UNIQUE_VIOLATION) return new StoreError('conflict', message, { cause: error });
  if (error.code === LOCK_NOT_AVAILABLE) return new StoreError('lock_timeout', message, { cause: error });
  const isMigrated =
    !NOT_AS_MIGRATED.has(error.code ?? '') || (error.code === DENIED && error.file !== RIGHTS);
  return new StoreError('refused', isMigrated ? message : `${message}: ${MIGRATE_FIRST}`, { cause: error });
}

/** The error of a connection that could not be had: nothing was sent. */
export function toUnavailable(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError('unavailable', messageOf(error), { cause: error });
}
