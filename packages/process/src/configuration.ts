/** The configuration of a process, or all its faults. */
import { type Config, type Environment, parseConfig } from '@svc/config';
import { messageOf } from './error-in-log.ts';

/** An unusable configuration; the message lists every fault. */
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

/** The text of an error at start, for a terminal. */
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
