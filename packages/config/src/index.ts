/** Configuration of the apps (protocol §14). */
export type {
  Config,
  FenceConfig,
  RunnerConfig,
  SelfServeLimits,
  ServiceConfig,
  WorkerConfig,
} from './config.ts';
export { openDataDir } from './data-dir.ts';
export { databaseTlsFault } from './database-tls.ts';
export {
  describeVariables,
  fileVariable,
  LOG_LEVELS,
  type LogLevel,
  SECRET_NAMES,
  VARIABLES,
} from './env.ts';
export { findKeyFile, keySourcesOf } from './key-files.ts';
export {
  addKey,
  changePassphrase,
  encryptKeys,
  type KeyInFile,
  type KeySetFile,
  makeKey,
  moveFirst,
  readKeySetFile,
  withdrawKey,
} from './key-set-file.ts';
export {
  type Environment,
  parseConfig,
  parseRunnerConfig,
  parseWorkerConfig,
  RUNNER_VARIABLES,
  WORKER_VARIABLES,
} from './parse-config.ts';
export { readSecretFiles } from './secret-files.ts';
export {
  loadSecrets,
  loadWorkerSecrets,
  openServiceKeys,
  type Secrets,
  type SigningSecrets,
  secretsOfOthers,
} from './secrets.ts';
