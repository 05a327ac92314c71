/** A command of `svc-admin`: one file each, listed in main.ts. */
import { type CommandText, UsageError } from '@svc/cli/command-line';
import { databaseTlsFault, type Environment, readSecretFiles } from '@svc/config';
import { describeUnreached } from '@svc/process';
import { messageOf, StoreError } from '@svc/service';
import { DeadlineError, ReplacedError } from '@svc/store-pg';

export interface Command extends CommandText {
  /** Answers the exit code: 0 well, 1 something was found, 2 it could not be told. Rejects with what a person should read. */
  run(values: Readonly<Record<string, unknown>>, env: Environment, operand: string): Promise<number>;
}

/**
 * The database URL from the environment, or from the file that it names; null where neither has one. Throws
 * `UsageError`, also where a start would refuse it.
 */
export const findDatabaseUrl = (given: Environment): string | null => {
  const { env, faults } = readSecretFiles(given, ['DATABASE_URL']);
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  const url = env.DATABASE_URL || null;
  // The driver takes anything for the name of a host.
  if (url !== null && !/^postgres(?:ql)?:\/\//.test(url))
    throw new UsageError('DATABASE_URL must be a postgres:// or postgresql:// address');
  const fault = databaseTlsFault(env);
  if (fault !== null) throw new UsageError(fault);
  return url;
};

/** The same where a database is needed. */
export const databaseUrlFrom = (given: Environment): string => {
  const url = findDatabaseUrl(given);
  if (url === null)
    throw new UsageError('neither DATABASE_URL nor DATABASE_URL_FILE is set: one of them names the database');
  return url;
};

/** What a person reads of an error that ended a command. A database that was not reached is named, without the password. */
export const describeError = (error: unknown, given: Environment): string => {
  const message = messageOf(error);
  // Its subclasses are about cold days, and without a cause it is no matter of a connection. One that answered too late, or is
  // not the primary any more, was reached.
  const isUnreached =
    error instanceof StoreError &&
    error.constructor === StoreError &&
    error.kind === 'unavailable' &&
    error.cause !== undefined &&
    !(error.cause instanceof DeadlineError || error.cause instanceof ReplacedError);
  const { DATABASE_URL: url } = isUnreached ? readSecretFiles(given, ['DATABASE_URL']).env : {};
  return url ? describeUnreached(url, message) : message;
};
