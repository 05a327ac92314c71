/** Reads the configuration of a process, or reports all its faults. */
import {
  type Config,
  type Environment,
  parseConfig,
  parseRunnerConfig,
  parseWorkerConfig,
  RUNNER_VARIABLES,
  type RunnerConfig,
  readSecretFiles,
  SECRET_NAMES,
  WORKER_VARIABLES,
  type WorkerConfig,
} from '@svc/config';
import { messageOf, RefusedPinError } from '@svc/service';

/** An unusable configuration; the message lists every fault. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';

  constructor(faults: readonly string[]) {
    super(faults.map((fault) => `  ${fault}`).join('\n'));
  }
}

type Parsed<T> =
  | { readonly ok: true; readonly config: T }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Also reads secrets from files. Throws `ConfigurationError`. */
export const readConfig = (env: Environment): Config => readWith(parseConfig, readSecretFiles(env));

/**
 * Configuration of the conformance runner, including the secrets that it reads from files. Throws `ConfigurationError`.
 */
export const readRunnerConfig = (env: Environment): RunnerConfig =>
  readWith(parseRunnerConfig, readSecretFiles(env, secretsAmong(RUNNER_VARIABLES)));

/** The same for the worker. Throws `ConfigurationError`. */
export const readWorkerConfig = (env: Environment): WorkerConfig =>
  readWith(parseWorkerConfig, readSecretFiles(env, secretsAmong(WORKER_VARIABLES)));

const secretsAmong = (variables: readonly string[]): readonly string[] =>
  SECRET_NAMES.filter((name) => variables.includes(name));

const readWith = <T>(
  parse: (env: Environment) => Parsed<T>,
  { env, faults }: ReturnType<typeof readSecretFiles>,
): T => {
  const parsed = parse(env);
  if (parsed.ok && faults.length === 0) return parsed.config;
  // If the file of a secret cannot be used, the secret is missing only for that reason.
  const isMissing = (fault: string) => SECRET_NAMES.some((name) => fault.startsWith(`${name} is required`));
  const others = parsed.ok ? [] : parsed.faults.filter((fault) => faults.length === 0 || !isMissing(fault));
  throw new ConfigurationError([...faults, ...others]);
};

/** The text about an error at start, for a terminal. */
export const explainStartFailure = (error: unknown): string => {
  if (error instanceof ConfigurationError)
    return `The configuration cannot be used (--help lists all variables):\n\n${error.message}\n`;
  return `The service cannot start: ${messageOf(error)}`;
};

/** EX_CONFIG of sysexits.h: a supervisor must not start the process again before a person has corrected something. */
export const MUST_NOT_RESTART = 78;

/**
 * Exit code of a process that could not start: 1, or `MUST_NOT_RESTART` if each further start could bring a token
 * closer to locking itself.
 */
export const startFailureCode = (error: unknown): number => {
  for (let one = error; one instanceof Error; one = one.cause)
    if (one instanceof RefusedPinError) return MUST_NOT_RESTART;
  return 1;
};

/** The `known` parameters that are given. Throws `ConfigurationError` for any other. */
export const readParameters = <T extends string>(
  given: readonly string[],
  known: readonly T[],
): ReadonlySet<T> => {
  const unknown = given.filter((parameter) => !known.some((one) => one === parameter));
  if (unknown.length > 0)
    throw new ConfigurationError(
      unknown.map((parameter) => `${parameter} is not a parameter; the parameters are ${known.join(', ')}`),
    );
  return new Set(known.filter((parameter) => given.includes(parameter)));
};
