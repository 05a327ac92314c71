/** Whether a whole database is what it must be. */
export type { Fault } from './check.ts';
export {
  type CheckDatabaseOptions,
  type CheckSummary,
  checkDatabase,
  type Progress,
} from './check-database.ts';
