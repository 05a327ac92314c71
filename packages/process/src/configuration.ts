/** The configuration of a process, or every reason why there is none. */
import { type Config, type Environment, parseConfig } from '@svc/config';
import { messageOf } from './error-in-log.ts';

/** A configuration that cannot be started; the message lists every fault. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';

  constructor(faults: readonly string[]) {
    super(faults.map((fault) => `  ${fault}`).join('\n'));
  }
}

/** Throws `ConfigurationError`. */
export const readConfig = (env: Environment): Config => {
  const parsed = parseConfig(env);
  if (!parsed.ok) throw new ConfigurationError(parsed.faults);
  return parsed.config;
};

/** What went wrong at start, for a person at a terminal. */
export const explainStartFailure = (error: unknown): string => {
  if (error instanceof ConfigurationError)
    return `The configuration cannot be used (--help lists all variables):\n\n${error.message}\n`;
  return `The service cannot start: ${messageOf(error)}`;
};

/** Which of the `known` parameters are given. Throws `ConfigurationError` for any other. */
export const readParameters = <T extends string>(
  given: readonly string[],
  known: readonly T[],
): ReadonlySet<T> => {
  const unknown = given.filter((parameter) => !known.some((one) => one === parameter));
  if (unknown.length > 0)
    throw new ConfigurationError(
      unknown.map((parameter) => `${parameter} is no parameter; there is ${known.join(', ')}`),
    );
  return new Set(known.filter((parameter) => given.includes(parameter)));
};
