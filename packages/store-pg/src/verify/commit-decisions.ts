/**
 * Commits a batch of decisions (protocol §10). One statement carries the whole batch. Only when the server refuses it
 * because of a row is the batch halved, until that row is alone. docs/architecture.md, “The commit, in the database”,
 * describes the statement.
 */
import { type CommitOutcome, type DecisionCommit, StoreError } from '@svc/service';
import type { DeadlinePool } from '../deadline-pool.ts';
import { isServerAnswer, toStoreError } from '../errors.ts';
import { commitStatement } from './commit-parameters.ts';

export interface CommitContext {
  readonly pool: DeadlinePool;
  /** Limit for all statements of one call together, ms. */
  readonly deadlineMs: number;
  /** Creates the partitions of today and the days around it. */
  readonly ensurePartitions: () => Promise<void>;
}

type Batch = readonly DecisionCommit[];
type Send = (batch: Batch) => Promise<CommitOutcome[]>;

/** See `VerifyStore.commitDecisions`. */
export async function commitDecisions(context: CommitContext, decisions: Batch): Promise<CommitOutcome[]> {
  if (decisions.length === 0) return [];
  const endsAtMs = performance.now() + context.deadlineMs;
  const send: Send = async (batch) => {
    try {
      return await sendBatch(context.pool, batch, endsAtMs - performance.now());
    } catch (error) {
      if (!isMissingPartition(error)) throw error;
      await context.ensurePartitions();
      return await sendBatch(context.pool, batch, endsAtMs - performance.now());
    }
  };
  return commitOrHalve(decisions, send);
}

async function sendBatch(pool: DeadlinePool, batch: Batch, deadlineMs: number): Promise<CommitOutcome[]> {
  if (deadlineMs <= 0) throw new StoreError('unavailable', 'no time left for this commit');
  const { name, text, values } = commitStatement(batch);
  try {
    const { rows } = await pool.run(
      (client) => client.query<{ outcomes: CommitOutcome[] }>({ name, text, values: [...values] }),
      { deadlineMs },
    );
    const outcomes = rows[0]?.outcomes ?? [];
    if (outcomes.length !== batch.length) {
      throw new StoreError('ambiguous', `${outcomes.length} outcomes for ${batch.length} decisions`);
    }
    return outcomes;
  } catch (error) {
    throw toStoreError(error, 'stored');
  }
}

async function commitOrHalve(batch: Batch, send: Send): Promise<CommitOutcome[]> {
  try {
    return await send(batch);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.kind === 'lock_timeout') return batch.map(() => 'LOCKED');
    if (!isCausedByRows(error)) throw error;
    if (batch.length === 1) return ['REFUSED'];
    const middle = batch.length >> 1;
    const left = await commitHalf(batch.slice(0, middle), send);
    return [...left, ...(await commitHalf(batch.slice(middle), send))];
  }
}

/**
 * Once a half may be stored, `unavailable` and `refused` would be untrue of the whole batch. They become the outcome of
 * the decisions concerned. After an ambiguous half the whole batch is looked up.
 */
async function commitHalf(batch: Batch, send: Send): Promise<CommitOutcome[]> {
  try {
    return await commitOrHalve(batch, send);
  } catch (error) {
    if (error instanceof StoreError && error.kind !== 'ambiguous') return batch.map(() => 'REFUSED');
    throw error;
  }
}

/**
 * Classes of data exceptions, constraint violations, serialisation failures and deadlocks, program limits, and raised
 * errors.
 */
const ROW_ERROR_CLASSES = new Set(['22', '23', '40', '54', 'P0']);

export const isCausedByRows = ({ cause }: StoreError): boolean =>
  isServerAnswer(cause) && ROW_ERROR_CLASSES.has((cause.code ?? '').slice(0, 2));

/**
 * PostgreSQL reports a missing partition as a check violation on the parent table, without the name of a constraint.
 */
export function isMissingPartition(error: unknown): boolean {
  if (!(error instanceof StoreError) || !isServerAnswer(error.cause)) return false;
  const { code, table, constraint } = error.cause;
  return code === '23514' && table === 'receipts' && constraint === undefined;
}
