/**
 * Getting decisions stored (protocol §10). An answer is given only for what is known: a batch whose answer was lost
 * is looked up by receipt id, and what is not found there stays unknown. Nothing is ever sent a second time.
 */
import type { Log } from '../ports/ports.ts';
import { type CommitOutcome, type DecisionCommit, type Store, StoreError } from '../ports/store.ts';
import { Gatherer } from './gatherer.ts';

/** `UNKNOWN`: whether it is stored cannot be told now; the caller must hear 503. */
export type StoredOutcome = CommitOutcome | 'UNKNOWN';

const GATHERING = { maxBatch: 64, maxInFlight: 2, maxWaiting: 4096 } as const;

export class Committer {
  private readonly gatherer = new Gatherer<DecisionCommit, StoredOutcome>(
    (batch) => this.commit(batch),
    GATHERING,
  );

  constructor(
    private readonly store: Store,
    private readonly log: Log,
  ) {}

  /** Resolves once the decision is stored, refused or unknown; rejects when nothing was sent. */
  submit(decision: DecisionCommit): Promise<StoredOutcome> {
    return this.gatherer.submit(decision);
  }

  private async commit(batch: readonly DecisionCommit[]): Promise<readonly StoredOutcome[]> {
    try {
      return await this.store.verify.commitDecisions(batch);
    } catch (error) {
      if (error instanceof StoreError && error.kind === 'ambiguous') return this.lookUp(batch, error);
      throw error;
    }
  }

  private async lookUp(
    batch: readonly DecisionCommit[],
    cause: StoreError,
  ): Promise<readonly StoredOutcome[]> {
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
