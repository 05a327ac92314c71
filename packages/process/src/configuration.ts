/** The configuration of a process, or every reason why there is none. */
import { type Config, describeVariables, type Environment, parseConfig } from '@svc/config';

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
    return `The configuration cannot be used:\n${error.message}\n\nThe variables:\n\n${describeVariables()}`;
  return `The service cannot start: ${error instanceof Error ? error.message : String(error)}`;
};
