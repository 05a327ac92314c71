export {
  asService,
  createDatabase,
  type DroppableDatabase,
  type TestDatabase,
  withDatabase,
} from './database.ts';
export { daysAgo, insertReceipts, moveFirstDay, receiptIdsOf, tamper } from './ledger-days.ts';
export { type OwnCluster, startOwnCluster, startStandby } from './own-cluster.ts';
