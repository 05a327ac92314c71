/**
 * The Store over PostgreSQL: small pools so that no kind of work can use up another's connections. Commits stay few, since
 * each carries a batch; reads for decisions, reads of the ledger and administration have their own.
 */
import { type ReplicaState, type Store, StoreError, type Tenant } from '@svc/service';
import { clockStore } from './clock-store.ts';
import { type ColdPlace, ColdReader } from './cold/cold-reader.ts';
import { createOpenings } from './connections.ts';
import { pooledDatabase, runTransaction } from './database.ts';
import { DeadlinePool, type DeadlinePoolOptions } from './deadline-pool.ts';
import { describeHealth } from './describe-health.ts';
import { describeStandby } from './describe-standby.ts';
import { toStoreError } from './errors.ts';
import { runExclusive } from './exclusive.ts';
import { lineageStore } from './lineage-store.ts';
import { ensurePartitionsOn } from './partitions.ts';
import { Replica } from './replica.ts';
import { putEntitlement } from './repositories/entitlements.ts';
import { repositories } from './repositories/repositories.ts';
import { retentionStore } from './retention-store.ts';
import { revocationStore } from './revocation-store.ts';
import { serversOf } from './servers.ts';
import { SilentConnections } from './silent-connections.ts';
import { Standing } from './standing.ts';
import {
  defaultDeadlines,
  defaultPoolSizes,
  type StoreDeadlines,
  type StorePoolSizes,
} from './store-limits.ts';
import { commitsWarmUp, lookupsWarmUp, readsWarmUp, verifyStore } from './verify/verify-store.ts';

export interface StoreOptions {
  readonly databaseUrl: string;
  /** A streaming replica for reports, or several. */
  readonly databaseReadUrl?: string | null;
  /** Where cold days are; null: whatever needs one of them is `unavailable`. */
  readonly cold?: ColdPlace | null;
  readonly onReplicaChange?: (state: ReplicaState) => void;
  readonly deadlines?: Partial<StoreDeadlines>;
  readonly poolSizes?: Partial<StorePoolSizes>;
  /**
   * What decisions and revocations need is opened at once and kept: for a process that decides. Default: all is opened
   * as it is needed.
   */
  readonly opensAhead?: boolean;
  /** Hears of faults that no caller waits for: idle connections that break, partitions not created ahead. */
  readonly onError?: (error: Error) => void;
}

/** Tenants whose view of the store is remembered. */
const MAX_VIEWS = 1_000;
/** Callers in line for a connection, per pool; the next one is turned away at once. */
const MAX_WAITING = 8_192;
/**
 * Counting by key over a year makes 150,000 sums: on disk that takes twice as long. And rows that lie apart are not
 * dear: what a search looks for is mostly recent, or on a disk that does not turn.
 */
const LEDGER_SETTINGS = { work_mem: '32MB', random_page_cost: '1.1' };
/** Whoever holds what an urgent transaction needs is at its own node's turn, or at long work: both are not waited for. */
const URGENT_LOCK_MS = 400;

/** The schema must have been migrated. */
export function createStore(options: StoreOptions): Store {
  const { databaseUrl, databaseReadUrl = null, onError = () => {}, onReplicaChange = () => {} } = options;
  const isKept = options.opensAhead === true;
  const deadlines = { ...defaultDeadlines, ...options.deadlines };
  const sizes = { ...defaultPoolSizes, ...options.poolSizes };
  const standing = new Standing();
  const cold = new ColdReader(options.cold ?? null);
  const silent = new SilentConnections(databaseUrl);
  const openings = createOpenings();
  // Revocations, and what tells what became of a commit, stand behind nothing else.
  const urgentOpenings = createOpenings();
  const lookupOpenings = createOpenings();
  const openPool = (size: number, deadlineMs: number, change: Partial<DeadlinePoolOptions> = {}) =>
    new DeadlinePool({
      databaseUrl,
      size,
      deadlineMs,
      connectMs: deadlines.connectMs,
      waitMs: deadlines.waitMs,
      maxWaiting: MAX_WAITING,
      counts: (server) => standing.counts(server),
      settles: (server) => standing.settles(server),
      silent,
      openings,
      onError,
      ...change,
    });

  const waitMs = deadlines.transactionWaitMs;
  const connectMs = deadlines.patientConnectMs;
  // An answer that has begun must not be broken off because others are in line.
  const ledger = { waitMs: deadlines.ledgerWaitMs, connectMs, settings: LEDGER_SETTINGS };
  const pools = {
    commits: openPool(sizes.commits, deadlines.commitMs, { isKept, warmUp: commitsWarmUp }),
    budgetCommits: openPool(sizes.budgetCommits, deadlines.budgetCommitMs, {
      waitMs: deadlines.budgetWaitMs,
      warmUp: commitsWarmUp,
    }),
    lookups: openPool(sizes.lookups, deadlines.lookupMs, {
      connectMs: deadlines.lookupMs,
      waitMs: deadlines.lookupMs,
      openings: lookupOpenings,
      isKept,
      warmUp: lookupsWarmUp,
    }),
    // Every call looks up its key here, revocations too.
    reads: openPool(sizes.reads, deadlines.readMs, { isKept, warmUp: readsWarmUp }),
    ledgerReads: openPool(sizes.ledgerReads, deadlines.ledgerReadMs, ledger),
    admin: openPool(sizes.admin, deadlines.transactionMs, { waitMs, connectMs }),
    urgent: openPool(sizes.urgent, deadlines.transactionMs, {
      waitMs,
      // On a machine that is short of everything opening one takes long, and just then revocations must go on.
      connectMs,
      openings: urgentOpenings,
      isKept,
      settings: { lock_timeout: `${URGENT_LOCK_MS}` },
    }),
    // Of ten orgs whose commits all last as long as they may, none keeps another's barrier waiting for a second.
    barriers: openPool(sizes.barriers, deadlines.stampRevokedMs, {
      waitMs,
      connectMs,
      openings: urgentOpenings,
      isKept,
    }),
    // Long work is short beside waiting for long work.
    bulk: openPool(sizes.bulk, deadlines.transactionMs, { waitMs: deadlines.bulkWaitMs, connectMs }),
    reports: openPool(sizes.reports, deadlines.transactionMs, { waitMs, connectMs }),
    // Asks every server: what it answers tells which one counts. Nothing is decided without it, so it stands in no line.
    lineage: openPool(sizes.lineage, deadlines.readMs, {
      counts: () => true,
      settles: async () => true,
      openings: createOpenings(),
      isKept,
    }),
  };
  const { commits, budgetCommits, reads, ledgerReads, admin, lineage } = pools;

  const ensurePartitions = async () => {
    try {
      await admin.run(ensurePartitionsOn, { deadlineMs: deadlines.commitMs });
    } catch (error) {
      throw toStoreError(error, 'nothing');
    }
  };
  let isClosing = false;
  const ensured = ensurePartitions().then(() => {}, onError);
  const openAhead = async () => {
    await ensured;
    for (const pool of [pools.urgent, pools.barriers, reads, commits, pools.lookups, lineage])
      if (!isClosing) await pool.openKept();
  };
  const openedAhead = openAhead();

  const database = pooledDatabase(reads, admin);
  const openReplica = (url: string): Replica => {
    serversOf(url, 'replica');
    // Which primary counts is told by the marks that a replica has of it.
    const change = {
      ...{ databaseUrl: url, counts: () => true, settles: async () => true, connectMs },
      ...{ silent: new SilentConnections(url), openings: createOpenings() },
    };
    return new Replica({
      url,
      primary: pooledDatabase(reads, pools.reports),
      pools: {
        replicaReads: openPool(sizes.replicaReads, deadlines.replicaReadMs, { ...ledger, ...change }),
        // One waits for positions, the other one looks.
        replicaLooks: openPool(2, deadlines.replicaLookMs, change),
      },
      catchUpMs: deadlines.catchUpMs,
      lateMs: deadlines.replicaLateMs,
      onChange: onReplicaChange,
    });
  };
  const replica = databaseReadUrl === null ? null : openReplica(databaseReadUrl);
  const shared = {
    retention: retentionStore(database),
    clock: clockStore(database),
    lineage: lineageStore(lineage, standing),
    exclusive: <T>(name: string, work: (lost: AbortSignal) => Promise<T>) =>
      runExclusive(databaseUrl, { connectMs, readMs: deadlines.transactionMs }, name, work),
    ensureReceiptPartitions: ensurePartitions,
    async now() {
      const text = 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms';
      const [row] = await database.read<{ ms: number }>({ text, values: [] });
      if (row === undefined) throw new StoreError('refused', 'the clock was read without a row');
      return row.ms;
    },
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
  // A view has no state of its own, so it is made once for all calls of a tenant.
  const views = new Map<string, Store>();
  const rememberedAs = (tenant: Tenant): Store => {
    const name = `${tenant.crowd} ${tenant.org} ${tenant.subject}`;
    const known = views.get(name);
    if (known !== undefined) return known;
    const view = storeAs(tenant);
    views.set(name, view);
    const [oldest] = views.keys();
    if (views.size > MAX_VIEWS && oldest !== undefined) views.delete(oldest);
    return view;
  };
  return storeAs(null);
}
