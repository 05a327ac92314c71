/** A store on a test database, closed after the file's tests. */
import type { Store } from '@svc/service';
import { createStore, type StoreDeadlines } from '@svc/store-pg';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { withDatabase } from '../database.ts';

export interface TestStores {
  readonly url: string;
  readonly first: Store;
  /** Another node on the same database. */
  readonly second: Store;
}

const PATIENCE_MS = 20_000;
/** Long deadlines: what these tests prove must hold however slow storage is on a loaded machine. */
export const PATIENT: Partial<StoreDeadlines> = {
  connectMs: PATIENCE_MS,
  patientConnectMs: PATIENCE_MS,
  waitMs: PATIENCE_MS,
  readMs: PATIENCE_MS,
  ledgerWaitMs: PATIENCE_MS,
  ledgerReadMs: PATIENCE_MS,
  commitMs: PATIENCE_MS,
  budgetCommitMs: PATIENCE_MS,
  budgetWaitMs: PATIENCE_MS,
  transactionMs: PATIENCE_MS,
  transactionWaitMs: PATIENCE_MS,
  stampRevokedMs: PATIENCE_MS,
  lookupMs: PATIENCE_MS,
};
/** For tests that are not about deadlines. The caller closes it. */
export const openStore = (databaseUrl: string): Store => createStore({ databaseUrl, deadlines: PATIENT });

/** Two nodes on one database, closed after the test that opens them. */
export const openStores = (databaseUrl: string): [Store, Store] => {
  const nodes: [Store, Store] = [openStore(databaseUrl), openStore(databaseUrl)];
  onTestFinished(async () => {
    await Promise.all(nodes.map((store) => store.close()));
  });
  return nodes;
};

/** Call it at the top of a test file. */
export function withStores(): TestStores {
  const database = withDatabase();
  const stores: Store[] = [];
  const get = (index: number): Store => {
    const store = stores[index];
    if (store === undefined) throw new Error('stores exist from beforeAll on');
    return store;
  };
  beforeAll(() => {
    stores.push(openStore(database.url), openStore(database.url));
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
  });
  return {
    get url() {
      return database.url;
    },
    get first() {
      return get(0);
    },
    get second() {
      return get(1);
    },
  };
}
