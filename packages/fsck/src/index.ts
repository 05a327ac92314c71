/** Integrity check of a whole database. */
export type { Fault } from './check.ts';
export {
  type CheckDatabaseOptions,
  type CheckSummary,
  checkDatabase,
  type Progress,
} from './check-database.ts';
