/** PostgreSQL storage (15 or later): schema, repositories, the commit of decisions, the revocation barrier. */
export { checkConnections, checkReplica, checkServer, type Fleet } from './check-server.ts';
export { type ClockRepair, type ClockState, readClockState, repairClock } from './clock-repair.ts';
export { readDayRows } from './cold/day-rows.ts';
export { type UnpackDay, unpackDay } from './cold/unpack-day.ts';
export { createRunStore, type RunStore, type RunStoreOptions } from './create-run-store.ts';
export { createStore, type StoreOptions } from './create-store.ts';
export { grantRunner, grantService, type MigrateOptions, migrate } from './migrate.ts';
export { listMigrations, type Migration, migrationOf } from './migrations.ts';
export { ensureReceiptPartitions } from './partitions.ts';
export { CATALOG_SEARCH_PATH } from './schema/catalog.ts';
export { readSchema, schemaFault } from './schema/check-schema.ts';
export { compareSchema, type SchemaComparison } from './schema/compare-schema.ts';
export {
  changeServiceDid,
  claimDatabase,
  countIssued,
  type IssuedUnderDid,
  listServiceDids,
  type ServiceDid,
} from './service-did.ts';
export type { StoreDeadlines, StorePoolSizes } from './store-limits.ts';
export { factsText } from './verify/find-facts.ts';
