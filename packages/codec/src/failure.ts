/**
 * A fault in parsed input. It is a value, never an exception, and its code comes from the closed list of its reader.
 */
export interface Failure<Code extends string = string> {
  readonly code: Code;
  /** Says for people what is wrong and what would be right. May quote the input: escape it before you display it. */
  readonly message: string;
  /** JSON pointer (RFC 6901) into the input. Absent where the fault is not inside it. */
  readonly path?: string;
}

/** Collects what a reader finds: an array of failures with these codes, and perhaps others. */
export interface FailureSink<Code extends string> {
  /** Like `push` of an array; the return value is not used. */
  push(...found: Failure<Code>[]): unknown;
}

/** A failure; without `path` where the fault is not inside the input. */
export const failure = <Code extends string>(code: Code, message: string, path?: string): Failure<Code> =>
  path === undefined ? { code, message } : { code, message, path };

/** Adds them one by one, because there may be more than one call can take as arguments. */
export const addFailures = <Code extends string>(
  failures: FailureSink<Code>,
  found: readonly Failure<Code>[],
): void => {
  for (const one of found) failures.push(one);
};

const MAX_SHOWN_CHARS = 80;

/** A value as a short JSON text, for messages; `missing` for undefined. */
export const show = (value: unknown): string => {
  if (value === undefined) return 'missing';
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    text = undefined;
  }
  if (text === undefined) return `a value that is not JSON (${typeof value})`;
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`;
};
