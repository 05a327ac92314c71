/** The Store over PostgreSQL. */
import { type ReplicaState, type Store, StoreError, type Tenant } from '@svc/service';
import { clockStore } from './clock-store.ts';
import { type ColdPlace, ColdReader } from './cold/cold-reader.ts';
import { type Database, pooledDatabase, runTransaction } from './database.ts';
import type { DeadlinePool } from './deadline-pool.ts';
import { describeHealth } from './describe-health.ts';
import { describeStandby } from './describe-standby.ts';
import { toStoreError } from './errors.ts';
import { runExclusive } from './exclusive.ts';
import { lineageStore } from './lineage-store.ts';
import { ensurePartitionsOn } from './partitions.ts';
import { openPools, openReplica } from './pools.ts';
import { putEntitlement } from './repositories/entitlements.ts';
import { repositories } from './repositories/repositories.ts';
import { retentionStore } from './retention-store.ts';
import { revocationStore } from './revocation-store.ts';
import { Standing } from './standing.ts';
import {
  defaultDeadlines,
  defaultPoolSizes,
  type StoreDeadlines,
  type StorePoolSizes,
} from './store-limits.ts';
import { verifyStore } from './verify/verify-store.ts';

export interface StoreOptions {
  readonly databaseUrl: string;
  /** One streaming replica for reports, or several. */
  readonly databaseReadUrl?: string | null;
  /** Where cold days are; null: work that needs a cold day is `unavailable`. */
  readonly cold?: ColdPlace | null;
  readonly onReplicaChange?: (state: ReplicaState) => void;
  readonly deadlines?: Partial<StoreDeadlines>;
  readonly poolSizes?: Partial<StorePoolSizes>;
  /**
   * Opens the connections for decisions and revocations at once and keeps them: for a process that decides. Default:
   * connections are opened as needed.
   */
  readonly opensAhead?: boolean;
  /** Called for faults that no caller waits for: idle connections that break, partitions not created ahead. */
  readonly onError?: (error: Error) => void;
}

/** Number of tenants whose view of the store is kept. */
const MAX_VIEWS = 1_000;

/** The schema must have been migrated. */
export function createStore(options: StoreOptions): Store {
  const { databaseUrl, databaseReadUrl = null, onError = () => {}, onReplicaChange = () => {} } = options;
  const deadlines = { ...defaultDeadlines, ...options.deadlines };
  const sizes = { ...defaultPoolSizes, ...options.poolSizes };
  const standing = new Standing();
  const cold = new ColdReader(options.cold ?? null);
  const isKept = options.opensAhead === true;
  const settings = { databaseUrl, standing, deadlines, sizes, isKept, onError };
  const pools = openPools(settings);
  const { commits, budgetCommits, reads, ledgerReads, admin, lineage } = pools;

  const ensurePartitions = () => ensurePartitionsBy(admin, deadlines.commitMs);
  let isClosing = false;
  const ensured = ensurePartitions().then(() => {}, onError);
  const openAhead = async () => {
    await ensured;
    for (const pool of [pools.urgent, pools.barriers, reads, commits, pools.lookups, lineage])
      if (!isClosing) await pool.openKept();
  };
  const openedAhead = openAhead();

  const database = pooledDatabase(reads, admin);
  const replica =
    databaseReadUrl === null ? null : openReplica(settings, pools, databaseReadUrl, onReplicaChange);
  const shared = {
    retention: retentionStore(database),
    clock: clockStore(database),
    lineage: lineageStore(lineage, standing),
    exclusive: <T>(name: string, work: (lost: AbortSignal) => Promise<T>) =>
      runExclusive(
        databaseUrl,
        { connectMs: deadlines.patientConnectMs, readMs: deadlines.transactionMs },
        name,
        work,
      ),
    ensureReceiptPartitions: ensurePartitions,
    now: () => readClock(database),
    describeHealth: () => describeHealth(database),
    describeStandby: () => describeStandby(database),
    describeReplica: () => replica?.state ?? null,
    describePools: () =>
      Object.entries({ ...pools, ...replica?.pools }).map(([pool, { state }]) => ({ pool, ...state })),
    async close() {
      isClosing = true;
      await ensured;
      await Promise.all([replica?.close(), ...Object.values(pools).map((pool) => pool.close())]);
      await openedAhead;
    },
  };
  const storeAs = (tenant: Tenant | null): Store => {
    const ownDatabase = pooledDatabase(reads, admin, tenant);
    const ownCold = cold.as(tenant);
    const own = repositories(ownDatabase, ownCold, pooledDatabase(ledgerReads, admin, tenant));
    return Object.assign(own, shared, {
      as: rememberedAs,
      async report(work) {
        const read = await replica?.report((session) => work(repositories(session, ownCold)), tenant);
        return read ? read.value : work(own);
      },
      transaction(work, options = {}) {
        const { lane = 'admin', ...limits } = options;
        return runTransaction(pools[lane], (session) => work(repositories(session, ownCold)), {
          ...limits,
          tenant,
        });
      },
      putEntitlement(orgId, push) {
        const options = { tenant, deadlineMs: deadlines.entitlementMs };
        return putEntitlement(
          { database: ownDatabase, cold: ownCold },
          (work) => runTransaction(pools.urgent, work, options),
          orgId,
          push,
        );
      },
      verify: verifyStore({
        database: ownDatabase,
        lookups: { pool: pools.lookups, deadlineMs: deadlines.lookupMs },
        commit: { pool: commits, deadlineMs: deadlines.commitMs, ensurePartitions },
        commitOnBudgets: { pool: budgetCommits, ensurePartitions },
      }),
      revocation: revocationStore(pools.urgent, pools.barriers, tenant),
    } satisfies Pick<Store, 'as' | 'report' | 'transaction' | 'putEntitlement' | 'verify' | 'revocation'>);
  };
  const rememberedAs = remembered(storeAs);
  return storeAs(null);
}

/** A view has no state of its own, so one view serves all calls of a tenant. */
const remembered = (storeAs: (tenant: Tenant) => Store): ((tenant: Tenant) => Store) => {
  const views = new Map<string, Store>();
  return (tenant) => {
    const name = `${tenant.crowd} ${tenant.org} ${tenant.subject}`;
    const known = views.get(name);
    if (known !== undefined) return known;
    const view = storeAs(tenant);
    views.set(name, view);
    const [oldest] = views.keys();
    if (views.size > MAX_VIEWS && oldest !== undefined) views.delete(oldest);
    return view;
  };
};

const ensurePartitionsBy = async (pool: DeadlinePool, deadlineMs: number): Promise<void> => {
  try {
    await pool.run(ensurePartitionsOn, { deadlineMs });
  } catch (error) {
    throw toStoreError(error, 'nothing');
  }
};

const readClock = async (database: Database): Promise<number> => {
  const text = 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms';
  const [row] = await database.read<{ ms: number }>({ text, values: [] });
  if (row === undefined) throw new StoreError('refused', 'the clock was read without a row');
  return row.ms;
};
