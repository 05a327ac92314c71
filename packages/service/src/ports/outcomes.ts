/** The outcome ledgers of Receipts (interface §Outcome attestations): append-only, one ledger for each Receipt. */
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

/** How many outcome records one Receipt can have. */
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
   * The outcome that this one corrects, of the same Receipt. That one is no correction itself, but for one that restored the
   * budget, is corrected by this one alone, and no longer in force.
   */
  readonly correctionOf: string | null;
  readonly reporterSignature: string | null;
  /** Always set for `dispute_resolved`. */
  readonly resolution: Resolution | null;
  /** Minor units and their currency: both set for `loss_reported`, where alone they are counted. */
  readonly lossAmount: number | null;
  readonly currency: string | null;
  /** What the outcome moved of a Grant's consumption. */
  readonly consumption: {
    readonly cause: 'restore' | 'restore_reversal';
    readonly version: number;
  } | null;
}

export type NewOutcome = Omit<OutcomeRecord, 'reporter' | 'recordedAtMs'>;

export interface OutcomeRepository {
  /** Locks the ledger of a Receipt until the end of the transaction, and answers it, the oldest first. */
  listForUpdate(receiptId: ReceiptId): Promise<OutcomeRecord[]>;
  /**
   * Appends to the ledger of a stored Receipt, dated now; the reporter is the Receipt's relying party. Conflict when
   * the ordinal is taken or what it corrects has been corrected. Null when there is no such Receipt. `receipt`: as it
   * was found before the transaction, taken where its day is cold; no object is read here, with locks in hand.
   */
  insert(outcome: NewOutcome, receipt: ReportedReceipt | null): Promise<OutcomeRecord | null>;
  /**
   * The outcome records of all these Receipts: by ascending Receipt id, within one Receipt the oldest first. One Receipt can
   * have some 5 MB of them.
   */
  listOfReceipts(receiptIds: readonly ReceiptId[]): Promise<OutcomeRecord[]>;
}
