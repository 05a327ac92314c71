export { createDatabase, type TestDatabase, withDatabase } from './database.ts';
export { type OwnCluster, startOwnCluster } from './own-cluster.ts';
