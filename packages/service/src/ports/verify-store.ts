/**
 * Storage of the verify path: the reads of an evaluation, and the commit of its decision (protocol §10). Methods reject
 * with `StoreError`, as those of `Store` do.
 */
import type { ApiKeyId, DidKey, DidWeb, GrantId, OrgId, ReceiptId, Sha256 } from '@svc/protocol';
import type { ApiKeyRecord } from './api-keys.ts';
import type { BudgetFacts, BudgetQuery, BudgetUse } from './consumption.ts';
import type { ReceiptRecord } from './decisions.ts';
import type { EntitlementRecord } from './entitlements.ts';
import type { GrantRecord } from './grants.ts';
import type { PrincipalRecord } from './principals.ts';
import type { RelyingPartyRecord } from './relying-parties.ts';

/** What one evaluation reads. A member is null where the tokens could not be parsed up to it. */
export interface FactsQuery {
  readonly issuer: DidWeb | null;
  readonly grantId: GrantId | null;
}

export interface AllocatedGrant extends GrantRecord {
  /** Hash of the Grant that the first ALLOW bound to this id; null before that. It never changes. */
  readonly grantHash: Sha256 | null;
  /** A restore may have lost the binding of its id and what was drawn on its budgets (protocol §10). */
  readonly isWithheld: boolean;
  /** The Grant, its Agent, its Principal or the Principal's org is paused. */
  readonly isPaused: boolean;
  /** Version of its Principal when the Grant was read. Under another version `isPaused` may differ. */
  readonly principalVersion: number;
}

export interface FactsRecord {
  readonly principal: PrincipalRecord | null;
  readonly grant: AllocatedGrant | null;
}

/** An RP's API key with the RP and its org's entitlement, as the verify path needs them. */
export interface RpCallerRecord {
  readonly key: ApiKeyRecord;
  readonly relyingParty: RelyingPartyRecord;
  /** Null: the RP is in no org, or its org has no entitlement. */
  readonly entitlement: EntitlementRecord | null;
  /** Its org signed itself up, and nobody pays for it. */
  readonly isNewcomer: boolean;
  /**
   * The RP, its org or the whole service is paused. Read together with the RP's version, which every pause increments.
   */
  readonly isPaused: boolean;
}

/** How a decision counts towards its org's cap, and the version of the entitlement that the gate used. */
export interface ProductionCheck {
  readonly orgId: OrgId;
  /** 0: the org had no entitlement. The commit reads it again. */
  readonly entitlementVersion: number;
  readonly isCapped: boolean;
  /** Whether the commit, under its locks, refuses a check that the entitlement does not cover. */
  readonly isEnforced: boolean;
}

/** A spent Proof: the replay key (Grant id, jti), kept at least until `expiresAtMs`. */
export interface Spend {
  readonly grantId: GrantId;
  readonly jti: string;
  readonly expiresAtMs: number;
}

/** One evaluated and signed decision to be stored. */
export interface DecisionCommit {
  readonly receiptId: ReceiptId;
  readonly jws: string;
  readonly decision: 'ALLOW' | 'DENY';
  readonly reason: string | null;
  readonly evaluatedAtMs: number;
  readonly relyingParty: { readonly did: DidWeb; readonly version: number };
  readonly keyHash: string;
  readonly keyId: ApiKeyId;
  /** The Principal whose record the evaluation used. The commit takes its lock and compares its version. */
  readonly usedPrincipal: { readonly did: DidWeb; readonly version: number } | null;
  /**
   * The Grant that the evaluation found not revoked. The commit checks it again under the lock. Set for every ALLOW.
   */
  readonly usedGrantId: GrantId | null;
  /** Authenticated facts for the ledger: null before P3 (principal, Grant) and before P9 (Agent). */
  readonly principal: DidWeb | null;
  readonly grantId: GrantId | null;
  readonly agent: DidKey | null;
  readonly action: {
    readonly type: 'commerce:purchase' | 'api:call';
    readonly amount: number | null;
    readonly currency: string | null;
    readonly resource: string;
    readonly method: string | null;
  } | null;
  /** Set for an ALLOW, null for a DENY. */
  readonly spend: Spend | null;
  /**
   * Set for an ALLOW whose evaluation found no Grant bound to its id. The commit binds this Grant, or the outcome is
   * `STALE`.
   */
  readonly bindsGrantHash: Sha256 | null;
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
  /** Null: the RP is in no org, or the Grant is proven to be the sandbox's. */
  readonly productionCheck: ProductionCheck | null;
  /** Null: no balances were consulted. */
  readonly budget: BudgetUse | null;
}

/**
 * Only `STORED` means that something is stored.
 *
 * - `STORED`: committed.
 * - `REPLAY`: the Proof is spent.
 * - `STALE`: a record that the evaluation used has changed, another Grant is bound to the id, or the day is closed.
 * - `KEY_REVOKED`: the API key is no longer live.
 * - `IDEMPOTENCY_TAKEN`: the idempotency key already has a Receipt.
 * - `CLOCK`: `evaluatedAt` is ahead of the database's clock, over 2 s behind it, or below the ledger's seal.
 * - `PLAN_REQUIRED`: the org's entitlement does not cover the check, or its cap is reached. The Proof is not spent.
 * - `OVERTAKEN`: the balances on which it was evaluated have changed, or are just being changed.
 * - `LOCKED`: a lock was not obtained in time.
 * - `REFUSED`: the database refused this row; other rows of the batch are not affected.
 */
export type CommitOutcome =
  | 'STORED'
  | 'REPLAY'
  | 'STALE'
  | 'KEY_REVOKED'
  | 'IDEMPOTENCY_TAKEN'
  | 'CLOCK'
  | 'PLAN_REQUIRED'
  | 'OVERTAKEN'
  | 'LOCKED'
  | 'REFUSED';

export interface VerifyStore {
  findRpCaller(keyHash: string): Promise<RpCallerRecord | null>;
  /** One round trip for all queries; answers in the same order. */
  findFacts(queries: readonly FactsQuery[]): Promise<FactsRecord[]>;
  /** Present balances, and whether the Proofs are spent, without locks. Answers in the same order. */
  findBudgets(queries: readonly BudgetQuery[]): Promise<BudgetFacts[]>;
  /** The stored credential of a list. */
  findStatusCredential(url: string): Promise<{ credential: string; credentialHash: Sha256 } | null>;
  /** The Receipt stored under an RP's idempotency key within the last 10 minutes. */
  findIdempotent(
    relyingParty: DidWeb,
    key: string,
  ): Promise<{ bodyHash: string; receipt: ReceiptRecord } | null>;
  /**
   * The commit of protocol §10, in one round trip. Each decision has its own outcome, in the same order. Decisions on
   * one Grant's balances form a chain in the order of the batch: each is stored only if its balances are those that the
   * ones stored before it leave. Rejects with `StoreError`; `unavailable` and `refused` mean that nothing of the batch
   * is stored.
   */
  commitDecisions(decisions: readonly DecisionCommit[]): Promise<CommitOutcome[]>;
  /**
   * Takes the locks of these Grants' budgets, waiting `waitMs` for all of them together, and reads the budgets (null
   * where the lock was not obtained). Calls `decide` with them, and commits its decisions; meanwhile no other
   * transaction changes these budgets. `decide` runs under the locks, so it must compute only and wait for nothing. It
   * may be called a second time. `REFUSED` applies to all decisions.
   */
  commitOnBudgets(
    queries: readonly BudgetQuery[],
    waitMs: number,
    decide: (facts: readonly (BudgetFacts | null)[]) => Promise<readonly DecisionCommit[]>,
  ): Promise<CommitOutcome[]>;
  /**
   * Looks up receipts after an ambiguous commit, on a connection that commits do not use, within 300 ms. Receipts that
   * it answers are as durable as those of a normal commit.
   */
  findStored(receiptIds: readonly ReceiptId[]): Promise<ReadonlySet<ReceiptId>>;
  /** Resolves once all that was read as stored before the call is durable. Rejects where that is not known in time. */
  confirmStored(): Promise<void>;
}
