/**
 * Commits decisions on budgets (protocol §11). One transaction takes the locks of their Grants, reads the balances,
 * evaluates the decisions, and commits all of it. The locks are taken in one order and before any other lock, so
 * transactions cannot deadlock. Grants whose lock is not free in time are left out. The locks end with the transaction,
 * and the server ends that if this node falls silent.
 */
import type { GrantId } from '@svc/protocol';
import {
  type BudgetFacts,
  type BudgetQuery,
  type CommitOutcome,
  type DecisionCommit,
  StoreError,
} from '@svc/service';
import { type Database, runTransaction } from '../database.ts';
import type { DeadlinePool } from '../deadline-pool.ts';
import type { Statement } from '../statement.ts';
import { isCausedByRows, isMissingPartition } from './commit-decisions.ts';
import { commitStatement } from './commit-parameters.ts';
import { findBudgets } from './find-budgets.ts';

export interface BudgetCommitContext {
  readonly pool: DeadlinePool;
  readonly ensurePartitions: () => Promise<void>;
}

export type Decide = (facts: readonly (BudgetFacts | null)[]) => Promise<readonly DecisionCommit[]>;

/** See `VerifyStore.commitOnBudgets`. */
export async function commitOnBudgets(
  { pool, ensurePartitions }: BudgetCommitContext,
  queries: readonly BudgetQuery[],
  waitMs: number,
  decide: Decide,
): Promise<CommitOutcome[]> {
  const work = async (database: Database): Promise<CommitOutcome[]> => {
    // A separate statement: the next read must have a snapshot later than the lock.
    const [locked] = await database.write<{ missed: GrantId[] }>(lock(queries, waitMs));
    const missed = new Set(locked?.missed);
    const batch = await decide(await findUnder(database, queries, missed));
    if (batch.length === 0) return [];
    const rows = await database.write<{ outcomes: CommitOutcome[] }>(commitStatement(batch));
    return rows[0]?.outcomes ?? [];
  };
  try {
    return await runTransaction(pool, work);
  } catch (error) {
    if (isMissingPartition(error)) {
      await ensurePartitions();
      return await runTransaction(pool, work);
    }
    if (error instanceof StoreError && isCausedByRows(error)) return queries.map(() => 'REFUSED');
    throw error;
  }
}

const lock = (queries: readonly BudgetQuery[], waitMs: number): Statement => ({
  name: 'lock_budgets',
  text: `select svc_lock_balances($1, $2 * interval '1 millisecond') as missed`,
  values: [queries.map(({ grantId }) => grantId), waitMs],
});

/** In the order of the queries; null where the lock was missed. */
async function findUnder(
  database: Database,
  queries: readonly BudgetQuery[],
  missed: ReadonlySet<GrantId>,
): Promise<(BudgetFacts | null)[]> {
  const isHeld = ({ grantId }: BudgetQuery) => !missed.has(grantId);
  const held = queries.filter(isHeld);
  const found = (held.length === 0 ? [] : await findBudgets(database, held)).values();
  return queries.map((query) => (isHeld(query) ? (found.next().value ?? null) : null));
}
