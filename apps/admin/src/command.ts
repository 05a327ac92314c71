/** A command of `svc-admin`. Each has one file; main.ts lists them. */
import { type CommandText, UsageError } from '@svc/cli/command-line';
import { databaseTlsFault, type Environment, readSecretFiles } from '@svc/config';
import { describeUnreached } from '@svc/process';
import { messageOf, StoreError } from '@svc/service';
import { DeadlineError, ReplacedError } from '@svc/store-pg';

export interface Command extends CommandText {
  /**
   * Resolves with the exit code: 0 success, 1 something was found, 2 it could not be determined. Rejects with an error
   * whose message is for a person.
   */
  run(values: Readonly<Record<string, unknown>>, env: Environment, operand: string): Promise<number>;
}

/**
 * The database URL from the environment, or from the file that the environment names; null if neither is set. Throws
 * `UsageError`, also for a URL that a start would refuse.
 */
export const findDatabaseUrl = (given: Environment): string | null => {
  const { env, faults } = readSecretFiles(given, ['DATABASE_URL']);
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  const url = env.DATABASE_URL || null;
  // The driver would take any other text for a host name.
  if (url !== null && !/^postgres(?:ql)?:\/\//.test(url))
    throw new UsageError('DATABASE_URL must be a postgres:// or postgresql:// address');
  const fault = databaseTlsFault(env);
  if (fault !== null) throw new UsageError(fault);
  return url;
};

/** The same for a command that needs a database. */
export const databaseUrlFrom = (given: Environment): string => {
  const url = findDatabaseUrl(given);
  if (url === null)
    throw new UsageError(
      'neither DATABASE_URL nor DATABASE_URL_FILE is set: one of them must name the database',
    );
  return url;
};

/** The message about an error that ended a command. Names a database that was not reached, without the password. */
export const describeError = (error: unknown, given: Environment): string => {
  const message = messageOf(error);
  // Subclasses of the error are about cold days, and an error without a cause is not about a connection. A database
  // that answered too late, or is no longer the primary, was reached.
  const isUnreached =
    error instanceof StoreError &&
    error.constructor === StoreError &&
    error.kind === 'unavailable' &&
    error.cause !== undefined &&
    !(error.cause instanceof DeadlineError || error.cause instanceof ReplacedError);
  const { DATABASE_URL: url } = isUnreached ? readSecretFiles(given, ['DATABASE_URL']).env : {};
  return url ? describeUnreached(url, message) : message;
};
