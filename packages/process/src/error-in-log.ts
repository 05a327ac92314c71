import { describeThrown, messageOf } from '@svc/service';

/**
 * The part of an error that may be logged: name, message, code and stack, and the same of its causes. Other properties
 * are dropped, because drivers attach connections with secrets and statements with their values.
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
