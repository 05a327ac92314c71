/**
 * What the log keeps of an error: its name, message, code and stack, and the same of what caused it. Never what else
 * hangs on it: drivers attach connections, with their secrets, and statements, with the values in them.
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

/** An error's message; where that is empty, those of the errors that it gathers, or its code. */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return describeThrown(error);
  if (error.message !== '') return error.message;
  if (error instanceof AggregateError && error.errors.length > 0)
    return [...new Set(error.errors.map(messageOf))].join('; ');
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : error.name;
};

/** Anything can be thrown; only what is text already is shown. */
const describeThrown = (thrown: unknown): string =>
  typeof thrown === 'string' ? thrown : `a thrown ${typeof thrown}`;
