/**
 * The loggable part of an error: name, message, code and stack, and the same of its causes. Other properties are dropped:
 * drivers attach connections with secrets and statements with their values.
 */
export interface LoggedError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: LoggedError;
}

const MAX_DEPTH = 4;

export const errorInLog = (error: unknown, depth = 0): LoggedError => {
  if (!(error instanceof Error)) return { name: typeof error, message: describeThrown(error) };
  const { code } = error as { code?: unknown };
  const isCaused = error.cause !== undefined && depth < MAX_DEPTH;
  return {
    name: error.name,
    message: messageOf(error),
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(isCaused ? { cause: errorInLog(error.cause, depth + 1) } : {}),
  };
};

/** An error's message; if empty, the messages of an AggregateError's errors, or the code. */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return describeThrown(error);
  if (error.message !== '') return error.message;
  if (error instanceof AggregateError && error.errors.length > 0)
    return [...new Set(error.errors.map(messageOf))].join('; ');
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : error.name;
};

/** Anything can be thrown; of non-errors only strings are logged. */
const describeThrown = (thrown: unknown): string =>
  typeof thrown === 'string' ? thrown : `a thrown ${typeof thrown}`;
