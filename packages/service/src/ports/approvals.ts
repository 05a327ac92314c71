/** Storage of approval requests: each asks a Principal to approve one Action that was denied (protocol §16). */
import type { Action, DidKey, DidWeb, GrantId, ReceiptId, Sha256 } from '@svc/protocol';

/** The states have the names of the AuthZEN access request profile. */
export type ApprovalState = 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';

/** What a relying party asks of a Principal. At most one request with these values is open at a time. */
export interface ApprovalAsk {
  readonly relyingParty: DidWeb;
  readonly principal: DidWeb;
  /** The Grant under which the Action was denied. */
  readonly grantId: GrantId;
  readonly agent: DidKey;
  readonly actionHash: Sha256;
}

export interface NewApproval extends ApprovalAsk {
  readonly requestId: string;
  readonly action: Action;
  readonly expiresInSeconds: number;
  /**
   * Receipt of the first denial, and the Agent's Proof in that request. The Principal uses them to check the request.
   */
  readonly receiptId: ReceiptId;
  readonly proof: string;
}

export interface ApprovalRecord
  extends Omit<NewApproval, 'expiresInSeconds' | 'actionHash' | 'receiptId' | 'proof'> {
  /** Null, like `proof`, in requests that were recorded before these were stored. */
  readonly receiptId: ReceiptId | null;
  readonly proof: string | null;
  readonly state: ApprovalState;
  readonly requestedAtMs: number;
  readonly expiresAtMs: number;
  /** Null while the request is pending. */
  readonly decidedAtMs: number | null;
  /** Reason that the Principal gave for a denial. */
  readonly reason: string | null;
  /** Null unless the request is approved, and null once the Grant has expired. */
  readonly approvedGrant: string | null;
  readonly approvedGrantId: GrantId | null;
  readonly approvedUntilMs: number | null;
}

/** Numbers of requests, which the limits are checked against. */
export interface ApprovalLoad {
  /** Open requests about this Agent to this Principal. */
  readonly openAboutAgent: number;
  /** Open requests of this relying party to this Principal. */
  readonly openByPair: number;
  /** Open requests to this Principal. */
  readonly openToPrincipal: number;
  /** Open requests of this relying party to all Principals. */
  readonly openByRelyingParty: number;
  /** Requests of the last hour, in any state: by this relying party to this Principal, and by all to this Principal. */
  readonly madeLastHourByPair: number;
  readonly madeLastHourToPrincipal: number;
  /** Requests of the last hour about this Agent, by any relying party. */
  readonly madeLastHourAboutAgent: number;
  /** Requests about this Agent that the Principal denied within the last 24 hours. */
  readonly deniedAboutAgent: number;
  /** When the Principal denied the same request within the last 24 hours; null: it did not. */
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
  /** Only requests that were made since then, about denials since then. */
  readonly heldSinceMs: number;
  readonly state?: ApprovalState | undefined;
  /** Only requests with ids below this one (exclusive). */
  readonly beforeId?: string | undefined;
  readonly limit: number;
}

/**
 * Time is the database's. A request that is read as pending has not expired, because requests that are due are recorded
 * as expired first.
 */
export interface ApprovalRepository {
  /** Until the end of the transaction no other one makes a request of this relying party, or to this Principal. */
  lock(ask: Pick<ApprovalAsk, 'principal' | 'relyingParty'>): Promise<void>;
  /** Records as expired the due requests of this relying party and to this Principal, so that they are not counted. */
  expireDue(ask: Pick<ApprovalAsk, 'principal' | 'relyingParty'>): Promise<void>;
  find(requestId: string): Promise<ApprovalRecord | null>;
  /** The request that covers this denial. */
  findOfReceipt(receiptId: ReceiptId): Promise<ApprovalRecord | null>;
  findOpen(ask: ApprovalAsk): Promise<ApprovalRecord | null>;
  /** Descending ids, at most `limit`. */
  list(filter: ApprovalFilter): Promise<ApprovalRecord[]>;
  count(ask: ApprovalAsk): Promise<ApprovalLoad>;
  insert(request: NewApproval): Promise<ApprovalRecord>;
  /** Adds a denial to those that the request covers. False: it covers `atMost` already. */
  addReceipt(requestId: string, receiptId: ReceiptId, atMost: number): Promise<boolean>;
  /**
   * Records the decision. Null: the request is not pending any more. Of several concurrent calls exactly one is not
   * null. Rejects with `conflict` where the Grant approves another request already.
   */
  decide(requestId: string, decision: ApprovalDecision): Promise<ApprovalRecord | null>;
  /** Those of these requests that are not pending any more, or are due to expire. */
  listDecided(requestIds: readonly string[]): Promise<string[]>;
  /** Number of all pending requests; counting stops at 100,000. */
  countPending(): Promise<number>;
  /** Records at most `limit` requests as expired; answers how many. */
  expire(limit: number): Promise<number>;
  /**
   * Deletes the texts of Grants that have expired, and requests older than `days`, at most `limit` of each. Answers how
   * many.
   */
  forget(limit: number, days: number): Promise<{ readonly texts: number; readonly requests: number }>;
}
