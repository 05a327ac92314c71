/** Time limits of the store's work, and sizes of its connection pools. */

/**
 * Client-side limits in milliseconds. Work queues for a turn, then gets a connection within `connectMs`, and from then
 * on has its own limit. A connection that takes longer to open serves later callers.
 */
export interface StoreDeadlines {
  readonly connectMs: number;
  /** `connectMs` for work that may wait for seconds, and for revocations. */
  readonly patientConnectMs: number;
  /** Time in the queue for a connection, unless there is another limit. */
  readonly waitMs: number;
  readonly readMs: number;
  /** Time in the queue for lists and exports. */
  readonly ledgerWaitMs: number;
  /** Statements that read the ledger: lists, exports, counts. */
  readonly ledgerReadMs: number;
  /**
   * Limits of a whole report on the replica (`replicaReadMs`), of a look at it (`replicaLookMs`), and of the wait, in
   * both, until the replica has caught up (`catchUpMs`).
   */
  readonly replicaReadMs: number;
  readonly replicaLookMs: number;
  readonly catchUpMs: number;
  /** How long the replica may be out of step before that is reported. */
  readonly replicaLateMs: number;
  readonly commitMs: number;
  /** Includes waiting for the locks, which other nodes hold while they evaluate. */
  readonly budgetCommitMs: number;
  /** Time in the queue for a commit on budgets. */
  readonly budgetWaitMs: number;
  /** When a cap begins, millions of checks may have to be counted. */
  readonly entitlementMs: number;
  /** Administrative statements and transactions, and their time in the queue, which other callers may fill. */
  readonly transactionMs: number;
  readonly transactionWaitMs: number;
  readonly bulkWaitMs: number;
  readonly stampRevokedMs: number;
  /** The look-up after an ambiguous commit, including the wait for a connection. */
  readonly lookupMs: number;
}

export interface StorePoolSizes {
  readonly commits: number;
  /** Commits on budgets, which hold their connection while they wait for locks. */
  readonly budgetCommits: number;
  /** Look-ups after an ambiguous commit. */
  readonly lookups: number;
  readonly reads: number;
  readonly ledgerReads: number;
  /** Reports on the replica. */
  readonly replicaReads: number;
  readonly admin: number;
  readonly urgent: number;
  /** Barriers, which hold their connection while they wait for a Principal's commits. */
  readonly barriers: number;
  readonly bulk: number;
  readonly reports: number;
  /** Connections of the fence, which no other work may delay. */
  readonly lineage: number;
}

export const defaultDeadlines: StoreDeadlines = {
  connectMs: 400,
  patientConnectMs: 1_500,
  waitMs: 400,
  readMs: 700,
  ledgerWaitMs: 5_000,
  ledgerReadMs: 2_000,
  replicaReadMs: 3_000,
  replicaLookMs: 1_000,
  catchUpMs: 500,
  replicaLateMs: 5_000,
  commitMs: 900,
  budgetCommitMs: 1_400,
  budgetWaitMs: 800,
  entitlementMs: 10_000,
  // More than the 2 s that a barrier waits for its lock.
  transactionMs: 2_200,
  transactionWaitMs: 2_000,
  bulkWaitMs: 30_000,
  stampRevokedMs: 2_300,
  lookupMs: 300,
};

export const defaultPoolSizes: StorePoolSizes = {
  commits: 3,
  budgetCommits: 4,
  lookups: 2,
  reads: 6,
  ledgerReads: 4,
  replicaReads: 4,
  admin: 4,
  urgent: 3,
  barriers: 6,
  bulk: 2,
  reports: 2,
  lineage: 2,
};

/**
 * Most connections that a process of the API, or a worker, opens to the primary. Those to a replica are on another
 * server.
 */
export const CONNECTIONS_OF_PROCESS =
  Object.values(defaultPoolSizes).reduce((sum, size) => sum + size, 0) - defaultPoolSizes.replicaReads;

/** Connections that a conformance runner opens: one for each concurrent run, and one for readiness. */
export const CONNECTIONS_OF_RUNNER = 5;

/** Connections reserved for `svc-admin` and other tools of operators. */
export const CONNECTIONS_OF_OPERATORS = 10;
