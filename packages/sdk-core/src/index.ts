/** How both client libraries talk to the service. Bundled into each of them; not published by itself. */
export {
  type ApiKeys,
  type AuditFilter,
  type AuditLog,
  type CallOptions,
  createApiKeys,
  createAuditLog,
  getMe,
  instant,
} from './account.ts';
export * from './arguments.ts';
export { type ConnectionOptions, connectionRules } from './connection.ts';
export { createDirectory, type Directory, type DirectoryFilter, didInPath } from './directory.ts';
export { SvcError, type SvcErrorKind } from './errors.ts';
export { iteratePages } from './pages.ts';
export {
  checked,
  didKey,
  didWeb,
  grantId,
  integer,
  isDidKey,
  isDidWeb,
  jsonObject,
  list,
  mapOf,
  nullable,
  oneOf,
  optional,
  orgId,
  type Reader,
  record,
  text,
  timestamp,
  unexpected,
} from './read.ts';
export { readDirectoryEntry, readPrincipal } from './records.ts';
export { linesOf } from './text-stream.ts';
export { createTransport, type Transport } from './transport.ts';
export { getUsage, type UsageFilter } from './usage.ts';
export type * from './wire.generated.ts';
