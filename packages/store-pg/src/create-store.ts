/**
 * The Store over PostgreSQL: small pools so that no kind of work can use up another's connections. Commits stay few, since
 * each carries a batch; reads for decisions, reads of the ledger and administration have their own.
 */
import { type Store, StoreError } from '@svc/service';
import { pooledDatabase, runTransaction } from './database.ts';
import { DeadlinePool, type DeadlinePoolOptions } from './deadline-pool.ts';
import { toStoreError } from './errors.ts';
import { runExclusive } from './exclusive.ts';
import { ensurePartitionsOn } from './partitions.ts';
import { repositories } from './repositories/repositories.ts';
import { retentionStore } from './retention-store.ts';
import { revocationStore } from './revocation-store.ts';
import { verifyStore } from './verify/verify-store.ts';

/** Client-side limits in milliseconds. Each starts when a connection is had, which takes `connectMs` at most. */
export interface StoreDeadlines {
  readonly connectMs: number;
  readonly readMs: number;
  /** How long lists and exports stand in line for a connection. */
  readonly ledgerConnectMs: number;
  /** Statements that read the ledger: lists, exports, counts. */
  readonly ledgerReadMs: number;
  readonly commitMs: number;
  /** Waiting for the locks included, which other nodes hold while they evaluate. */
  readonly budgetCommitMs: number;
  /** How long a commit on budgets stands in line for a connection. */
  readonly budgetConnectMs: number;
  /** Administrative statements and transactions. */
  readonly transactionMs: number;
  readonly stampRevokedMs: number;
  /** The look-up after an ambiguous commit, connecting included. */
  readonly lookupMs: number;
}

export interface StorePoolSizes {
  readonly commits: number;
  /** Commits on budgets: they wait for locks with the connection in hand. */
  readonly budgetCommits: number;
  readonly reads: number;
  readonly ledgerReads: number;
  readonly admin: number;
  readonly urgent: number;
  readonly reports: number;
}

export interface StoreOptions {
  readonly databaseUrl: string;
  readonly deadlines?: Partial<StoreDeadlines>;
  readonly poolSizes?: Partial<StorePoolSizes>;
  /** Hears of faults that no caller waits for: idle connections that break, partitions not created ahead. */
  readonly onError?: (error: Error) => void;
}

const defaultDeadlines: StoreDeadlines = {
  connectMs: 400,
  readMs: 700,
  ledgerConnectMs: 5_000,
  ledgerReadMs: 2_000,
  commitMs: 900,
  budgetCommitMs: 1_400,
  budgetConnectMs: 800,
  // Above the 2 s for which a barrier waits for its lock.
  transactionMs: 2_200,
  stampRevokedMs: 2_300,
  lookupMs: 300,
};

const defaultPoolSizes: StorePoolSizes = {
  commits: 3,
  budgetCommits: 4,
  reads: 6,
  ledgerReads: 4,
  admin: 4,
  urgent: 4,
  reports: 2,
};

/** Callers in line for a connection, per pool; the next one is turned away at once. */
const MAX_WAITING = 512;

/** Opens connections as they are needed; the schema must have been migrated. */
export function createStore(options: StoreOptions): Store {
  const { databaseUrl, onError = () => {} } = options;
  const deadlines = { ...defaultDeadlines, ...options.deadlines };
  const sizes = { ...defaultPoolSizes, ...options.poolSizes };
  const openPool = (size: number, deadlineMs: number, change: Partial<DeadlinePoolOptions> = {}) =>
    new DeadlinePool({
      databaseUrl,
      size,
      deadlineMs,
      connectMs: deadlines.connectMs,
      maxWaiting: MAX_WAITING,
      onError,
      ...change,
    });

  const commits = openPool(sizes.commits, deadlines.commitMs);
  const budgetCommits = openPool(sizes.budgetCommits, deadlines.budgetCommitMs, {
    connectMs: deadlines.budgetConnectMs,
  });
  const reads = openPool(sizes.reads, deadlines.readMs);
  // An answer that has begun must not be broken off because others are in line.
  // Counting by key over a year makes 150,000 sums: on disk that takes twice as long. And rows that lie apart are not dear:
  // what a search looks for is mostly recent, or on a disk that does not turn.
  const ledgerReads = openPool(sizes.ledgerReads, deadlines.ledgerReadMs, {
    connectMs: deadlines.ledgerConnectMs,
    settings: { work_mem: '32MB', random_page_cost: '1.1' },
  });
  const admin = openPool(sizes.admin, deadlines.transactionMs);
  const lanes = {
    urgent: openPool(sizes.urgent, deadlines.transactionMs),
    reports: openPool(sizes.reports, deadlines.transactionMs),
  };
  const database = pooledDatabase(reads, admin);
  const ledger = pooledDatabase(ledgerReads, admin);

  const ensurePartitions = async () => {
    try {
      await admin.run(ensurePartitionsOn, deadlines.commitMs);
    } catch (error) {
      throw toStoreError(error, 'nothing');
    }
  };
  const partitionsAhead = ensurePartitions().catch(onError);

  return {
    ...repositories(database, ledger),
    transaction: (work, options) =>
      runTransaction(
        options?.lane === undefined ? admin : lanes[options.lane],
        (session) => work(repositories(session)),
        options?.deadlineMs,
      ),
    verify: verifyStore({
      database,
      databaseUrl,
      lookupMs: deadlines.lookupMs,
      commit: { pool: commits, deadlineMs: deadlines.commitMs, ensurePartitions },
      commitOnBudgets: { pool: budgetCommits, ensurePartitions },
    }),
    revocation: revocationStore(lanes.urgent, deadlines.stampRevokedMs),
    retention: retentionStore(database),
    exclusive: (name, work) => runExclusive(databaseUrl, deadlines, name, work),
    ensureReceiptPartitions: ensurePartitions,
    async now() {
      const text = 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms';
      const [row] = await database.read<{ ms: number }>({ text, values: [] });
      if (row === undefined) throw new StoreError('refused', 'the clock was read without a row');
      return row.ms;
    },
    async close() {
      await partitionsAhead;
      await Promise.all(
        [commits, budgetCommits, reads, ledgerReads, admin, ...Object.values(lanes)].map((pool) =>
          pool.close(),
        ),
      );
    },
  };
}
