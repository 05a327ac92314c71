/**
 * Maps what the driver throws to the `StoreErrorKind`s of the port. The question that decides is what is now known
 * about the work: an error answered by a live server rolled it back; a lost connection says nothing.
 */
import { messageOf, StoreError } from '@svc/service';
import pg from 'pg';

/**
 * An operation outlived its client-side deadline. Nobody waits for it any more; its connection is closed unless it
 * still answers.
 */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/** No turn was had in line for a connection: there was too much to do, which says nothing of the server. */
export class NoTurnError extends StoreError {
  constructor(why: string) {
    super('unavailable', `no connection was free: ${why}`);
  }
}

/** What a server answered that is not, or not any more, the one that counts. */
export class ReplacedError extends Error {
  override readonly name = 'ReplacedError';
}

/**
 * What a lost answer leaves open. `nothing`: a read, or work in a transaction whose COMMIT was never sent.
 * `stored`: the work may have been committed.
 */
export type AtStake = 'nothing' | 'stored';

const UNIQUE_VIOLATION = '23505';
const LOCK_NOT_AVAILABLE = '55P03';
/** No such table, function or column, or no right to it: the schema is not that of this version, or not granted to this role. */
const NOT_AS_MIGRATED = new Set(['42P01', '42883', '42703', '42501']);
const DENIED = '42501';
/** Where PostgreSQL looks at rights. The same state stands for a file that the system did not let it write. */
const RIGHTS = 'aclchk.c';
const MIGRATE_FIRST =
  'the schema, or what this role may do, is not as this version needs it; as the owner of the database run svc-admin migrate, ' +
  'with --service-role or --runner-role for a role that is not the owner';

/** True when the server answered with an error, rolled back, and the connection lives on. */
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

/** The error of a connection that was not had: nothing was sent. */
export function toUnavailable(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError('unavailable', messageOf(error), { cause: error });
}
