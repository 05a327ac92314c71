/**
 * Stores decisions in batches (protocol §10). Only a decision that is known to be stored is answered. Where the
 * database's answer to a batch was lost, its receipts are looked up by id; one that is not found stays unknown. No
 * batch is ever sent a second time.
 */
import { Batcher } from '../lib/batcher.ts';
import { tracedBatch, tracedItem } from '../lib/tracing.ts';
import type { BudgetFacts, BudgetQuery } from '../ports/consumption.ts';
import type { Log } from '../ports/platform.ts';
import { type Store, StoreError } from '../ports/store.ts';
import type { Tenant } from '../ports/tenant.ts';
import type { CommitOutcome, DecisionCommit } from '../ports/verify-store.ts';

/** `UNKNOWN`: whether the decision is stored cannot be determined now; the caller must receive 503. */
export type StoredOutcome = CommitOutcome | 'UNKNOWN';

type Batch = readonly DecisionCommit[];

export class Committer {
  private readonly batcher = new Batcher<DecisionCommit, StoredOutcome>((batch) =>
    tracedBatch('commit batch', batch, () =>
      this.orLookUp(() => batch, this.store.verify.commitDecisions(batch)),
    ),
  );

  constructor(
    private readonly store: Store,
    private readonly log: Log,
  ) {}

  /** Stores a decision in a batch with others. Rejects when it was not sent. */
  commit(decision: DecisionCommit, tenant: Tenant): Promise<StoredOutcome> {
    return tracedItem('commit', decision, () => this.batcher.submit(decision, tenant));
  }

  /**
   * Stores the decisions that `decide` makes from balances read under the Grants' locks: `VerifyStore.commitOnBudgets`.
   */
  commitOnBudgets(
    queries: readonly BudgetQuery[],
    waitMs: number,
    decide: (facts: readonly (BudgetFacts | null)[]) => Promise<Batch>,
  ): Promise<readonly StoredOutcome[]> {
    let decisions: Batch = [];
    const remember = async (facts: readonly (BudgetFacts | null)[]) => {
      decisions = await decide(facts);
      return decisions;
    };
    return tracedBatch('commit batch', queries, () =>
      this.orLookUp(() => decisions, this.store.verify.commitOnBudgets(queries, waitMs, remember)),
    );
  }

  private async orLookUp(
    decisions: () => Batch,
    commit: Promise<readonly StoredOutcome[]>,
  ): Promise<readonly StoredOutcome[]> {
    try {
      return await commit;
    } catch (error) {
      if (error instanceof StoreError && error.kind === 'ambiguous') return this.lookUp(decisions(), error);
      throw error;
    }
  }

  private async lookUp(batch: Batch, cause: StoreError): Promise<readonly StoredOutcome[]> {
    this.log.warn('commit.ambiguous', { decisions: batch.length, error: cause.message });
    try {
      const stored = await this.store.verify.findStored(batch.map(({ receiptId }) => receiptId));
      return batch.map(({ receiptId }) => (stored.has(receiptId) ? 'STORED' : 'UNKNOWN'));
    } catch (error) {
      if (error instanceof StoreError) return batch.map(() => 'UNKNOWN');
      throw error;
    }
  }
}
