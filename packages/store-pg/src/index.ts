/** PostgreSQL storage (15 or later): schema, repositories, the commit of decisions, the revocation barrier. */
export { checkServer } from './check-server.ts';
export { type ClockRepair, type ClockState, readClockState, repairClock } from './clock-repair.ts';
export { createStore, type StoreDeadlines, type StoreOptions, type StorePoolSizes } from './create-store.ts';
export { grantService, type MigrateOptions, migrate } from './migrate.ts';
export { ensureReceiptPartitions } from './partitions.ts';
export { factsText } from './verify/find-facts.ts';
