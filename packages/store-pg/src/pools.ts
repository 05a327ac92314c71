/**
 * The connection pools of a store: one for each kind of work, so that none can use up the connections of another. Commits
 * stay few, since each carries a batch; reads for decisions, reads of the ledger and administration have their own.
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

/** Callers in line for a connection, per pool; the next one is turned away at once. */
const MAX_WAITING = 8_192;
/**
 * Counting by key over a year makes 150,000 sums: on disk that takes twice as long. And rows that lie apart are not
 * dear: what a search looks for is mostly recent, or on a disk that does not turn.
 */
const LEDGER_SETTINGS = { work_mem: '32MB', random_page_cost: '1.1' };
/** Fails fast: a lock that an urgent transaction needs is held by its own node's next turn or by long work. */
const URGENT_LOCK_MS = 400;

export interface PoolSettings {
  readonly databaseUrl: string;
  readonly standing: Standing;
  readonly deadlines: StoreDeadlines;
  readonly sizes: StorePoolSizes;
  /** What decisions and revocations need is kept open. */
  readonly isKept: boolean;
  readonly onError: (error: Error) => void;
}

/** Opens a pool: its size, the deadline of its calls, and what differs from the other pools. */
type OpenPool = (size: number, deadlineMs: number, change?: Partial<DeadlinePoolOptions>) => DeadlinePool;

/** Every pool that it opens to the primary shares its watch over silent connections and its order of opening. */
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

/** An answer that has begun must not be broken off because others are in line. */
const ledgerOptions = ({ ledgerWaitMs, patientConnectMs }: StoreDeadlines) => ({
  waitMs: ledgerWaitMs,
  connectMs: patientConnectMs,
  settings: LEDGER_SETTINGS,
});

export const openPools = (settings: PoolSettings) => {
  const { deadlines, sizes, isKept } = settings;
  const openPool = poolOpener(settings);
  // Revocations, and what tells what became of a commit, stand behind nothing else.
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
    // Every call looks up its key here, revocations too.
    reads: openPool(sizes.reads, deadlines.readMs, { isKept, warmUp: readsWarmUp }),
    ledgerReads: openPool(sizes.ledgerReads, deadlines.ledgerReadMs, ledgerOptions(deadlines)),
    admin: openPool(sizes.admin, deadlines.transactionMs, { waitMs, connectMs }),
    urgent: openPool(sizes.urgent, deadlines.transactionMs, {
      waitMs,
      // On a machine that is short of everything opening one takes long, and just then revocations must go on.
      connectMs,
      openings: urgentOpenings,
      isKept,
      settings: { lock_timeout: `${URGENT_LOCK_MS}` },
    }),
    // If ten orgs' commits all last as long as they may, none keeps another's barrier waiting for a second.
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
};

export type Pools = ReturnType<typeof openPools>;

/** `onChange` hears of each change of its state. Whatever it may not answer is asked of the primary's pools. */
export const openReplica = (
  settings: PoolSettings,
  { reads, reports }: Pick<Pools, 'reads' | 'reports'>,
  url: string,
  onChange: (state: ReplicaState) => void,
): Replica => {
  serversOf(url, 'replica');
  const { deadlines, sizes } = settings;
  const openPool = poolOpener({ ...settings, databaseUrl: url });
  // Which primary counts is told by the marks that a replica has of it.
  const change = { counts: () => true, settles: async () => true, connectMs: deadlines.patientConnectMs };
  return new Replica({
    url,
    primary: pooledDatabase(reads, reports),
    pools: {
      replicaReads: openPool(sizes.replicaReads, deadlines.replicaReadMs, {
        ...ledgerOptions(deadlines),
        ...change,
      }),
      // One waits for positions, the other one looks.
      replicaLooks: openPool(2, deadlines.replicaLookMs, change),
    },
    catchUpMs: deadlines.catchUpMs,
    lateMs: deadlines.replicaLateMs,
    onChange,
  });
};
