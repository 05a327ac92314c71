/**
 * The connection pools of a store: one for each kind of work, so that none can use up the connections of another.
 * Commits have few connections, since each commit carries a batch. Reads for decisions, reads of the ledger, and
 * administration have pools of their own.
 */
import type { ReplicaState } from '@svc/service';
import { createOpenings } from './connections.ts';
import { pooledDatabase } from './database.ts';
import { DeadlinePool, type DeadlinePoolOptions } from './deadline-pool.ts';
import { Replica } from './replica.ts';
import { serversOf } from './servers.ts';
import { SilentConnections } from './silent-connections.ts';
import type { Standing } from './standing.ts';
import type { StoreDeadlines, StorePoolSizes } from './store-limits.ts';
import { commitsWarmUp, lookupsWarmUp, readsWarmUp } from './verify/verify-store.ts';

/** Callers that may queue for a connection, per pool; further ones are refused at once. */
const MAX_WAITING = 8_192;
/**
 * Counting by key over a year makes 150,000 sums, which takes twice as long if they spill to disk. `random_page_cost`
 * is low because the rows of a search are mostly recent and cached, or on a disk without seek time.
 */
const LEDGER_SETTINGS = { work_mem: '32MB', random_page_cost: '1.1' };
/** Short: the lock that an urgent transaction needs is held either by its own node's next turn or by long work. */
const URGENT_LOCK_MS = 400;

export interface PoolSettings {
  readonly databaseUrl: string;
  readonly standing: Standing;
  readonly deadlines: StoreDeadlines;
  readonly sizes: StorePoolSizes;
  /** True: the connections that decisions and revocations need are kept open. */
  readonly isKept: boolean;
  readonly onError: (error: Error) => void;
}

/** Opens a pool: its size, the deadline of its calls, and its differences from the other pools. */
type OpenPool = (size: number, deadlineMs: number, change?: Partial<DeadlinePoolOptions>) => DeadlinePool;

/**
 * All pools that the result opens share the watch over silent connections, and the limit of openings unless they name
 * another.
 */
const poolOpener = ({ databaseUrl, standing, deadlines, onError }: PoolSettings): OpenPool => {
  const silent = new SilentConnections(databaseUrl);
  const openings = createOpenings();
  return (size, deadlineMs, change = {}) =>
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
};

/** An export that has begun must not be broken off because other calls queue. */
const ledgerOptions = ({ ledgerWaitMs, patientConnectMs }: StoreDeadlines) => ({
  waitMs: ledgerWaitMs,
  connectMs: patientConnectMs,
  settings: LEDGER_SETTINGS,
});

export const openPools = (settings: PoolSettings) => {
  const { deadlines, sizes, isKept } = settings;
  const openPool = poolOpener(settings);
  // Revocations, and the look-ups of what became of a commit, queue behind no other opening.
  const urgentOpenings = createOpenings();
  const waitMs = deadlines.transactionWaitMs;
  const connectMs = deadlines.patientConnectMs;
  return {
    commits: openPool(sizes.commits, deadlines.commitMs, { isKept, warmUp: commitsWarmUp }),
    budgetCommits: openPool(sizes.budgetCommits, deadlines.budgetCommitMs, {
      waitMs: deadlines.budgetWaitMs,
      warmUp: commitsWarmUp,
    }),
    lookups: openPool(sizes.lookups, deadlines.lookupMs, {
      connectMs: deadlines.lookupMs,
      waitMs: deadlines.lookupMs,
      openings: createOpenings(),
      isKept,
      warmUp: lookupsWarmUp,
    }),
    // Every call looks up its API key here, revocations too.
    reads: openPool(sizes.reads, deadlines.readMs, { isKept, warmUp: readsWarmUp }),
    ledgerReads: openPool(sizes.ledgerReads, deadlines.ledgerReadMs, ledgerOptions(deadlines)),
    admin: openPool(sizes.admin, deadlines.transactionMs, { waitMs, connectMs }),
    urgent: openPool(sizes.urgent, deadlines.transactionMs, {
      waitMs,
      // On an overloaded machine opening a connection takes long, and revocations must go on just then.
      connectMs,
      openings: urgentOpenings,
      isKept,
      settings: { lock_timeout: `${URGENT_LOCK_MS}` },
    }),
    // Even if the commits of ten orgs all last as long as they may, none delays the barrier of another by a second.
    barriers: openPool(sizes.barriers, deadlines.stampRevokedMs, {
      waitMs,
      connectMs,
      openings: urgentOpenings,
      isKept,
    }),
    // Each call has the usual limit, but may wait long in the queue behind other long work.
    bulk: openPool(sizes.bulk, deadlines.transactionMs, { waitMs: deadlines.bulkWaitMs, connectMs }),
    reports: openPool(sizes.reports, deadlines.transactionMs, { waitMs, connectMs }),
    // Asks any server, because its answers tell which server counts. Nothing is decided without it, so it queues behind
    // nothing.
    lineage: openPool(sizes.lineage, deadlines.readMs, {
      counts: () => true,
      settles: async () => true,
      openings: createOpenings(),
      isKept,
    }),
  };
};

export type Pools = ReturnType<typeof openPools>;

/** Opens the pools of a replica; the primary's answer whatever it may not. `onChange`: see `ReplicaOptions`. */
export const openReplica = (
  settings: PoolSettings,
  { reads, reports }: Pick<Pools, 'reads' | 'reports'>,
  url: string,
  onChange: (state: ReplicaState) => void,
): Replica => {
  serversOf(url, 'replica');
  const { deadlines, sizes } = settings;
  const openPool = poolOpener({ ...settings, databaseUrl: url });
  // The marks that a replica has of its primary tell which primary counts.
  const change = { counts: () => true, settles: async () => true, connectMs: deadlines.patientConnectMs };
  return new Replica({
    url,
    primary: pooledDatabase(reads, reports),
    pools: {
      replicaReads: openPool(sizes.replicaReads, deadlines.replicaReadMs, {
        ...ledgerOptions(deadlines),
        ...change,
      }),
      // One connection waits for positions, the other one looks at the state.
      replicaLooks: openPool(2, deadlines.replicaLookMs, change),
    },
    catchUpMs: deadlines.catchUpMs,
    lateMs: deadlines.replicaLateMs,
    onChange,
  });
};
