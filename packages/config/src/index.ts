/** Configuration of the apps (protocol §14). */
export type {
  Config,
  Database,
  FenceConfig,
  OutboundMap,
  ParsedConfig,
  SelfServeLimits,
  TenantLimits,
} from './config.ts';
export { openDataDir } from './data-dir.ts';
export { describeVariables, VARIABLES } from './env.ts';
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
export { type Environment, parseConfig } from './parse-config.ts';
export { loadSecrets, type Secrets } from './secrets.ts';
