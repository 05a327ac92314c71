/** Storage of decisions for lists (interface §DecisionSummary) and of Receipts: found by filter, read by id. */
import type { ApiKeyId, DidKey, DidWeb, GrantId, ReasonCode, ReceiptId } from '@svc/protocol';

/** All given conditions must hold. */
export interface DecisionListFilter {
  /** Null: of every relying party. */
  readonly relyingParties: readonly DidWeb[] | null;
  /** Lowest `evaluated_at`, inclusive. */
  readonly sinceMs?: number | undefined;
  /** Exclusive. */
  readonly untilMs?: number | undefined;
  readonly decision?: 'ALLOW' | 'DENY' | undefined;
  readonly reason?: ReasonCode | undefined;
  readonly principal?: DidWeb | undefined;
  readonly grantId?: GrantId | undefined;
  readonly keyId?: ApiKeyId | undefined;
  /** Decisions with ids below this one (exclusive). */
  readonly beforeId?: ReceiptId | undefined;
}

/** A decision of one of these relying parties about a Grant that its Principal has signed. */
export interface Verified {
  readonly relyingParties: readonly DidWeb[];
  readonly grantId: GrantId;
  readonly principal: DidWeb;
}

export interface DecisionRecord {
  readonly receiptId: ReceiptId;
  readonly decision: 'ALLOW' | 'DENY';
  readonly reason: ReasonCode | null;
  readonly evaluatedAtMs: number;
  readonly principal: DidWeb | null;
  readonly grantId: GrantId | null;
  readonly agent: DidKey | null;
  readonly relyingParty: DidWeb;
  /** Null: recorded before keys were tracked. */
  readonly keyId: ApiKeyId | null;
  /** Null, like all members below, where the Action was malformed or has been cleared. */
  readonly actionType: 'commerce:purchase' | 'api:call' | null;
  /** Minor units. */
  readonly amount: number | null;
  readonly currency: string | null;
  readonly resource: string | null;
  readonly method: string | null;
}

/** The members of a decision that the sums by Agent use. */
export type ActRecord = Omit<DecisionRecord, 'principal' | 'keyId' | 'actionType' | 'resource' | 'method'>;

/** Form of a Receipt in an export: its JWS in compact form, or the text that was answered. */
export type ExportedForm = 'jws' | 'text';

export interface DecisionExportRecord extends DecisionRecord {
  /** In the requested form, in UTF-8. */
  readonly receipt: Uint8Array;
  /** Approximate number of characters of its outcomes; 0 where there are none. */
  readonly outcomeChars: number;
}

export interface DecisionPage<Item> {
  /** By descending id. */
  readonly items: readonly Item[];
  /**
   * Null: the page is full, or there are no more decisions. Else the time that a page may spend on cold days was over,
   * and ids below this one were not read; there may be none.
   */
  readonly unreadBefore: ReceiptId | null;
}

/**
 * Reads on its own connections, so no list, however large, takes a connection from a verification. A decision is never
 * changed or removed, so ids that were found stay valid.
 */
export interface DecisionRepository {
  /**
   * The newest `limit` decisions that match the filter, or those found in the time of a page. Includes every decision
   * that was stored when the call began.
   */
  list(filter: DecisionListFilter, limit: number): Promise<DecisionPage<DecisionRecord>>;
  /** The ids of the decisions that `list` answers. */
  listIds(filter: DecisionListFilter, limit: number): Promise<DecisionPage<ReceiptId>>;
  /** The decisions that `list` answers, each without the long texts of its Action. */
  listActs(filter: DecisionListFilter, limit: number): Promise<DecisionPage<ActRecord>>;
  /** Whether there is such a decision on any day. Reads no objects of cold days. */
  hasVerified(verified: Verified): Promise<boolean>;
  /**
   * Splits ids, in descending order, into pieces for `listForExport`. Each piece is read at once: some rows of the
   * database, or the rows of one row group of a cold day.
   */
  cutForExport(ids: readonly ReceiptId[]): Promise<readonly (readonly ReceiptId[])[]>;
  /** Descending ids; about 4 KB each. To be called with few ids, because days are searched one after another. */
  listForExport(ids: readonly ReceiptId[], form: ExportedForm): Promise<DecisionExportRecord[]>;
}

/** A stored Receipt. Only the JWS is stored, because its payload is the rest of the body. */
export interface ReceiptRecord {
  readonly receiptId: ReceiptId;
  readonly relyingParty: DidWeb;
  readonly jws: string;
}

/** The members of a Receipt that its outcome records copy. They never change. */
export interface ReportedReceipt {
  readonly relyingParty: DidWeb;
  readonly principal: DidWeb | null;
  readonly decision: 'ALLOW' | 'DENY';
  /** Null for ALLOW. */
  readonly reason: string | null;
  readonly grantId: GrantId | null;
  /** Microseconds since 1970. */
  readonly evaluatedAt: string;
}

export interface ReceiptRepository {
  find(receiptId: ReceiptId): Promise<ReceiptRecord | null>;
  findReported(receiptId: ReceiptId): Promise<ReportedReceipt | null>;
}
