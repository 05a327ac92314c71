/** PostgreSQL storage (15 or later): schema, repositories, the commit of decisions, the revocation barrier. */
export { checkConnections, checkReplica, checkServer, type Fleet } from './check-server.ts';
export { openClient } from './client.ts';
export { type ClockState, readClockState, repairClock } from './clock-repair.ts';
export type { ColdPlace } from './cold/cold-reader.ts';
export { readDayRows } from './cold/day-rows.ts';
export { unpackDay } from './cold/unpack-day.ts';
export { createRunStore, type RunStore } from './create-run-store.ts';
export { createStore } from './create-store.ts';
export { DeadlineError, ReplacedError } from './errors.ts';
export { checkMigrations, grantRunner, grantService, migrate } from './migrate.ts';
export { listMigrations, migrationOf } from './migrations.ts';
export { CATALOG_SEARCH_PATH } from './schema/catalog.ts';
export { readSchema, schemaFault } from './schema/check-schema.ts';
export { compareSchema, type SchemaComparison } from './schema/compare-schema.ts';
export {
  changeServiceDid,
  claimDatabase,
  countIssued,
  type IssuedUnderDid,
  listServiceDids,
} from './service-did.ts';
export type { StoreDeadlines } from './store-limits.ts';
export { factsText } from './verify/find-facts.ts';
