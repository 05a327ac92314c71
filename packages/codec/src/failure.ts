/** What is wrong with something that was read: values, never exceptions, each with a code from its reader's closed list. */
export interface Failure<Code extends string = string> {
  readonly code: Code;
  /** What is wrong and what would be right, for people. May quote what was read: escape it before showing it. */
  readonly message: string;
  /** JSON pointer (RFC 6901) into what was read. Absent where the fault lies outside it. */
  readonly path?: string;
}

/** Where a reader adds what it finds: an array of failures with these codes, and perhaps others. */
export interface FailureSink<Code extends string> {
  /** As that of an array; what it answers is not used. */
  push(...found: Failure<Code>[]): unknown;
}

/** A failure; without `path` where the fault lies outside of what was read. */
export const failure = <Code extends string>(code: Code, message: string, path?: string): Failure<Code> =>
  path === undefined ? { code, message } : { code, message, path };

/** Adds them one by one: there may be more than a call takes parameters. */
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
