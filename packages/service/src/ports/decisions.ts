/** Stored decisions as lists show them (interface §DecisionSummary): found by filter, read by id. */
import type { ApiKeyId, DidKey, DidWeb, GrantId, ReasonCode, ReceiptId } from '@svc/protocol';

/** All that are given must hold. */
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
  /** Null, as all that follows, for an Action that was malformed and one that has been cleared. */
  readonly actionType: 'commerce:purchase' | 'api:call' | null;
  /** Minor units. */
  readonly amount: number | null;
  readonly currency: string | null;
  readonly resource: string | null;
  readonly method: string | null;
}

/** What is added up of a decision by who acted. */
export type ActRecord = Omit<DecisionRecord, 'principal' | 'keyId' | 'actionType' | 'resource' | 'method'>;

/** Form of a Receipt in an export: its JWS in compact form, or the text that was answered. */
export type ExportedForm = 'jws' | 'text';

export interface DecisionExportRecord extends DecisionRecord {
  /** In the form that was asked for, in UTF-8. */
  readonly receipt: Uint8Array;
  /** About how many characters its outcomes have; 0 where there are none. */
  readonly outcomeChars: number;
}

export interface DecisionPage<Item> {
  /** By descending id. */
  readonly items: readonly Item[];
  /**
   * Null: there are as many as were asked for, or no more. Else the time that a page has in cold days was over, and
   * what has an id below this one was not looked at: there may be none.
   */
  readonly unreadBefore: ReceiptId | null;
}

/**
 * Reads on connections of its own: no list, however large, takes one from a verification. A decision is never changed
 * or removed, so ids that were found stay good.
 */
export interface DecisionRepository {
  /**
   * The newest `limit` of the filter, or as many of them as were found in the time of a page. Every decision that was stored
   * when the call began is considered.
   */
  list(filter: DecisionListFilter, limit: number): Promise<DecisionPage<DecisionRecord>>;
  /** The ids of what `list` answers. */
  listIds(filter: DecisionListFilter, limit: number): Promise<DecisionPage<ReceiptId>>;
  /** What `list` answers; of each decision only what is added up, none of the long texts of its Action. */
  listActs(filter: DecisionListFilter, limit: number): Promise<DecisionPage<ActRecord>>;
  /** Whether there is such a decision, in whatever day. Of cold days no object is read for it. */
  hasVerified(verified: Verified): Promise<boolean>;
  /**
   * Ids of descending order in pieces for `listForExport`, each of what is read at once: some rows of the database, or
   * what a row group of a cold day has.
   */
  cutForExport(ids: readonly ReceiptId[]): Promise<readonly (readonly ReceiptId[])[]>;
  /** By descending id; some 4 KB each. Few ids at a time: days are searched one by one. */
  listForExport(ids: readonly ReceiptId[], form: ExportedForm): Promise<DecisionExportRecord[]>;
}

/** A stored Receipt: the JWS alone, since its payload is the rest of the body. */
export interface ReceiptRecord {
  readonly receiptId: ReceiptId;
  readonly relyingParty: DidWeb;
  readonly jws: string;
}

/** What an outcome record takes over of its Receipt. None of it ever changes. */
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
