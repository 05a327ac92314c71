/** Requests that a Principal approve one Action that was denied (protocol §16). */
import type { Action, DidKey, DidWeb, GrantId, ReceiptId, Sha256 } from '@svc/protocol';

/** The words of the AuthZEN access request profile. */
export type ApprovalState = 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';

/** What is asked, by which relying party, of which Principal. One such request is open at a time. */
export interface ApprovalAsk {
  readonly relyingParty: DidWeb;
  readonly principal: DidWeb;
  /** The Grant under which it was denied. */
  readonly grantId: GrantId;
  readonly agent: DidKey;
  readonly actionHash: Sha256;
}

export interface NewApproval extends ApprovalAsk {
  readonly requestId: string;
  readonly action: Action;
  readonly expiresInSeconds: number;
  /** The denial that it begins with, and the Agent's Proof in it: what the Principal checks it by. */
  readonly receiptId: ReceiptId;
  readonly proof: string;
}

export interface ApprovalRecord
  extends Omit<NewApproval, 'expiresInSeconds' | 'actionHash' | 'receiptId' | 'proof'> {
  /** Null, as `proof`: recorded before these were kept. */
  readonly receiptId: ReceiptId | null;
  readonly proof: string | null;
  readonly state: ApprovalState;
  readonly requestedAtMs: number;
  readonly expiresAtMs: number;
  /** Null while it is pending. */
  readonly decidedAtMs: number | null;
  /** The Principal's, of a denial. */
  readonly reason: string | null;
  /** Null unless it is approved, and once the Grant has expired. */
  readonly approvedGrant: string | null;
  readonly approvedGrantId: GrantId | null;
  readonly approvedUntilMs: number | null;
}

/** How much is asked, for the limits. */
export interface ApprovalLoad {
  /** Open, of this Agent to this Principal. */
  readonly openAboutAgent: number;
  /** Open, of this relying party to this Principal. */
  readonly openByPair: number;
  /** Open, to this Principal. */
  readonly openToPrincipal: number;
  /** Open, of this relying party to everybody. */
  readonly openByRelyingParty: number;
  /** Made in the last hour, whatever became of them: of this relying party to this Principal, and to this Principal. */
  readonly madeLastHourByPair: number;
  readonly madeLastHourToPrincipal: number;
  /** Made in the last hour by relying parties of all kinds about this Agent. */
  readonly madeLastHourAboutAgent: number;
  /** How many about this Agent the Principal has denied within the last 24 hours. */
  readonly deniedAboutAgent: number;
  /** When the Principal denied the same thing within the last 24 hours; null: it did not. */
  readonly deniedAtMs: number | null;
}

export type ApprovalDecision =
  | {
      readonly state: 'approved';
      readonly grant: string;
      readonly grantId: GrantId;
      readonly untilMs: number;
    }
  | { readonly state: 'denied'; readonly reason: string | null }
  | { readonly state: 'cancelled' };

export interface ApprovalFilter {
  readonly principal: DidWeb;
  /** Those made from then on about denials from then on. */
  readonly heldSinceMs: number;
  readonly state?: ApprovalState | undefined;
  /** Those below this one (exclusive). */
  readonly beforeId?: string | undefined;
  readonly limit: number;
}

/** Time is the database's. What is read as pending has not expired: what is due is recorded as expired first. */
export interface ApprovalRepository {
  /** Until the end of the transaction nobody else makes a request of this relying party, or to this Principal. */
  lock(ask: Pick<ApprovalAsk, 'principal' | 'relyingParty'>): Promise<void>;
  /** Records as expired what is due of the requests of this relying party, and of those to this Principal: it does not count. */
  expireDue(ask: Pick<ApprovalAsk, 'principal' | 'relyingParty'>): Promise<void>;
  find(requestId: string): Promise<ApprovalRecord | null>;
  /** The request that stands for this denial. */
  findOfReceipt(receiptId: ReceiptId): Promise<ApprovalRecord | null>;
  findOpen(ask: ApprovalAsk): Promise<ApprovalRecord | null>;
  /** Descending ids, at most `limit`. */
  list(filter: ApprovalFilter): Promise<ApprovalRecord[]>;
  count(ask: ApprovalAsk): Promise<ApprovalLoad>;
  insert(request: NewApproval): Promise<ApprovalRecord>;
  /** Has the request stand for one more denial. False: it stands for `atMost` already. */
  addReceipt(requestId: string, receiptId: ReceiptId, atMost: number): Promise<boolean>;
  /** Null: it is not pending any more. Of several at once exactly one is not null. `conflict`: the Grant approves another. */
  decide(requestId: string, decision: ApprovalDecision): Promise<ApprovalRecord | null>;
  /** Which of these are not pending any more, or are due to expire. */
  listDecided(requestIds: readonly string[]): Promise<string[]>;
  /** Those of everybody that are pending, 100,000 at most. */
  countPending(): Promise<number>;
  /** Records what has expired; answers how many, `limit` at most. */
  expire(limit: number): Promise<number>;
  /**
   * Forgets the texts of Grants that have expired, and requests that are older than `days`; answers how many, `limit`
   * of each at most.
   */
  forget(limit: number, days: number): Promise<{ readonly texts: number; readonly requests: number }>;
}
