/** Storage of outcome records (interface §Outcome attestations): one append-only ledger for each Receipt. */
import type { DidWeb, ReceiptId } from '@svc/protocol';
import type { ReportedReceipt } from './decisions.ts';

export type OutcomeType =
  | 'fulfilled'
  | 'cancelled'
  | 'dispute_opened'
  | 'dispute_resolved'
  | 'chargeback_received'
  | 'chargeback_reversed'
  | 'loss_reported';
export type Resolution = 'agent_at_fault' | 'agent_not_at_fault' | 'indeterminate';

/** Most outcome records that one Receipt can have. */
export const MAX_OUTCOMES = 100;

export interface OutcomeRecord {
  /** `oat_` and a ULID. */
  readonly attestationId: string;
  readonly receiptId: ReceiptId;
  /** Position in the Receipt's ledger, from 1 to `MAX_OUTCOMES`. */
  readonly ordinal: number;
  readonly reporter: DidWeb;
  readonly type: OutcomeType;
  /** As the reporter wrote it. */
  readonly occurredAt: string;
  readonly recordedAtMs: number;
  readonly evidenceRef: string | null;
  readonly note: string | null;
  /**
   * The outcome of the same Receipt that this one corrects. The corrected outcome is no longer in force, and has no
   * other correction. It is not a correction itself, unless it restored the budget.
   */
  readonly correctionOf: string | null;
  readonly reporterSignature: string | null;
  /** Always set for `dispute_resolved`. */
  readonly resolution: Resolution | null;
  /** Loss in minor units, and its currency. Both are set for `loss_reported`, and counted only there. */
  readonly lossAmount: number | null;
  readonly currency: string | null;
  /** The movement of a Grant's consumption by this outcome; null: none. */
  readonly consumption: {
    readonly cause: 'restore' | 'restore_reversal';
    readonly version: number;
  } | null;
}

export type NewOutcome = Omit<OutcomeRecord, 'reporter' | 'recordedAtMs'>;

export interface OutcomeRepository {
  /** Locks the ledger of a Receipt until the end of the transaction, and answers its records, the oldest first. */
  listForUpdate(receiptId: ReceiptId): Promise<OutcomeRecord[]>;
  /**
   * Appends a record, dated now, to the ledger of a stored Receipt; the reporter is the Receipt's relying party.
   * Rejects with `conflict` when the ordinal is taken, or the outcome to be corrected has a correction already. Null
   * when there is no such Receipt. `receipt`: the Receipt as found before the transaction. It is used where the day is
   * cold, because this method reads no object while it holds locks.
   */
  insert(outcome: NewOutcome, receipt: ReportedReceipt | null): Promise<OutcomeRecord | null>;
  /**
   * The outcome records of all these Receipts, by ascending Receipt id, and the oldest first within one Receipt. One
   * Receipt can have about 5 MB of them.
   */
  listOfReceipts(receiptIds: readonly ReceiptId[]): Promise<OutcomeRecord[]>;
}
