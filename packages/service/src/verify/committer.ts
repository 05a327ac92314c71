/**
 * Getting decisions stored (protocol §10). An answer is given only for what is known: a batch whose answer was lost
 * is looked up by receipt id, and what is not found there stays unknown. Nothing is ever sent a second time.
 */
import type { GrantId } from '@svc/protocol';
import { Batcher } from '../lib/batcher.ts';
import type { BudgetFacts } from '../ports/consumption.ts';
import type { Log } from '../ports/platform.ts';
import { type Store, StoreError } from '../ports/store.ts';
import type { CommitOutcome, DecisionCommit } from '../ports/verify-store.ts';

/** `UNKNOWN`: whether it is stored cannot be told now; the caller must hear 503. */
export type StoredOutcome = CommitOutcome | 'UNKNOWN';

type Batch = readonly DecisionCommit[];

export class Committer {
  private readonly batcher = new Batcher<Batch, readonly StoredOutcome[]>(
    (batches) => this.commitAll(batches),
    { sizeOf: (batch) => batch.length },
  );

  constructor(
    private readonly store: Store,
    private readonly log: Log,
  ) {}

  /**
   * Stores decisions in their order, together with those of others, `MAX_BATCH` at most. Resolves once each is stored,
   * refused or unknown; rejects when nothing was sent.
   */
  submit(decisions: Batch): Promise<readonly StoredOutcome[]> {
    return this.batcher.submit(decisions);
  }

  /** The same by themselves, evaluated with the lock of the Grant's budgets in hand. */
  async submitInTurn(
    grantId: GrantId,
    jtis: readonly (string | null)[],
    decide: (facts: readonly BudgetFacts[]) => Promise<Batch>,
  ): Promise<readonly StoredOutcome[]> {
    let decisions: Batch = [];
    const remember = async (facts: readonly BudgetFacts[]) => {
      decisions = await decide(facts);
      return decisions;
    };
    return this.orLookUp(() => decisions, this.store.verify.commitInTurn(grantId, jtis, remember));
  }

  private async commitAll(batches: readonly Batch[]): Promise<readonly (readonly StoredOutcome[])[]> {
    const decisions = batches.flat();
    const outcomes = await this.orLookUp(() => decisions, this.store.verify.commitDecisions(decisions));
    let end = 0;
    return batches.map(({ length }) => {
      end += length;
      return outcomes.slice(end - length, end);
    });
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
