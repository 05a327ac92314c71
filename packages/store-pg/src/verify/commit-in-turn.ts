/**
 * A commit with the lock of one Grant's budgets in hand from before the evaluation (protocol §11): for whoever has lost
 * to another node. The lock is waited for with nothing else in hand, so nobody waits in a circle; it goes with the
 * transaction, which the server ends if this node falls silent.
 */
import type { GrantId } from '@svc/protocol';
import { type BudgetFacts, type CommitOutcome, type DecisionCommit, StoreError } from '@svc/service';
import { type Database, runTransaction, type Statement } from '../database.ts';
import type { DeadlinePool } from '../deadline-pool.ts';
import { isCausedByRows, isMissingPartition } from './commit-decisions.ts';
import { commitStatement } from './commit-parameters.ts';
import { findBudgets } from './find-budgets.ts';

export interface CommitInTurnContext {
  readonly pool: DeadlinePool;
  readonly ensurePartitions: () => Promise<void>;
}

export type Decide = (facts: readonly BudgetFacts[]) => Promise<readonly DecisionCommit[]>;

/** See `VerifyStore.commitInTurn`. */
export async function commitInTurn(
  { pool, ensurePartitions }: CommitInTurnContext,
  grantId: GrantId,
  jtis: readonly (string | null)[],
  decide: Decide,
): Promise<CommitOutcome[]> {
  const queries = jtis.map((jti) => ({ grantId, jti }));
  const work = async (database: Database): Promise<CommitOutcome[]> => {
    // Statements of their own: what is read next must have a snapshot from after the lock.
    await database.write({ text: `set local lock_timeout = '800ms'`, values: [] });
    await database.write(lock(grantId));
    const batch = await decide(await findBudgets(database, queries));
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
    if (error instanceof StoreError && isCausedByRows(error)) return jtis.map(() => 'REFUSED');
    throw error;
  }
}

const lock = (grantId: GrantId): Statement => ({
  name: 'lock_budgets',
  text: 'select pg_advisory_xact_lock(9, hashtext($1))',
  values: [grantId],
});
