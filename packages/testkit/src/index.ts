export {
  asService,
  createDatabase,
  type DroppableDatabase,
  SERVICE_ROLE,
  type TestDatabase,
  withDatabase,
} from './database.ts';
export {
  awayFromMidnight,
  daysAgo,
  insertReceipts,
  moveFirstDay,
  receiptIdsOf,
  tamper,
} from './ledger-days.ts';
export { type OwnCluster, startOwnCluster, startStandby } from './own-cluster.ts';
