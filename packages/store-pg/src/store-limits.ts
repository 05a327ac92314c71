/** How long the store waits for what, and how many connections it opens. */

/**
 * Client-side limits in milliseconds. Work stands in line for a connection, has it within `connectMs` then, and from there
 * on has its own limit. A connection that takes longer to open serves those who come later.
 */
export interface StoreDeadlines {
  readonly connectMs: number;
  /** The same for work that waits for seconds anyway, and for revocations. */
  readonly patientConnectMs: number;
  /** In line for a connection, unless there is another limit. */
  readonly waitMs: number;
  readonly readMs: number;
  /** How long lists and exports stand in line. */
  readonly ledgerWaitMs: number;
  /** Statements that read the ledger: lists, exports, counts. */
  readonly ledgerReadMs: number;
  /** A whole report on the replica, a look at it, and of both until the replica has what it must have. */
  readonly replicaReadMs: number;
  readonly replicaLookMs: number;
  readonly catchUpMs: number;
  /** How long the replica may be out of step before that is reported. */
  readonly replicaLateMs: number;
  readonly commitMs: number;
  /** Waiting for the locks included, which other nodes hold while they evaluate. */
  readonly budgetCommitMs: number;
  /** How long a commit on budgets stands in line. */
  readonly budgetWaitMs: number;
  /** A cap that begins may have millions of checks to count. */
  readonly entitlementMs: number;
  /** Administrative statements and transactions, and how long they stand in line: others may have much to do. */
  readonly transactionMs: number;
  readonly transactionWaitMs: number;
  readonly bulkWaitMs: number;
  readonly stampRevokedMs: number;
  /** The look-up after an ambiguous commit, the wait for a connection included. */
  readonly lookupMs: number;
}

export interface StorePoolSizes {
  readonly commits: number;
  /** Commits on budgets: they wait for locks with the connection in hand. */
  readonly budgetCommits: number;
  /** After an ambiguous commit. */
  readonly lookups: number;
  readonly reads: number;
  readonly ledgerReads: number;
  /** Reports on the replica. */
  readonly replicaReads: number;
  readonly admin: number;
  readonly urgent: number;
  /** Barriers: they wait for a Principal's commits with the connection in hand. */
  readonly barriers: number;
  readonly bulk: number;
  readonly reports: number;
  /** Connections of the fence: nothing else may be in its way. */
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
  // Above the 2 s for which a barrier waits for its lock.
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

/** What a process of the API, or a worker, opens at most; a replica's are of another server. */
export const CONNECTIONS_OF_PROCESS =
  Object.values(defaultPoolSizes).reduce((sum, size) => sum + size, 0) - defaultPoolSizes.replicaReads;

/** What a conformance runner opens: one for each run at a time, and one for readiness. */
export const CONNECTIONS_OF_RUNNER = 5;

/** For `svc-admin` and whatever else looks in. */
export const CONNECTIONS_OF_OPERATORS = 10;
