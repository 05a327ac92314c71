/**
 * Storage on the verify path: what an evaluation reads, and the commit of what it decided (protocol §10). Methods reject with
 * `StoreError` as those of the store do.
 */
import type { ApiKeyId, DidKey, DidWeb, GrantId, OrgId, ReceiptId, Sha256 } from '@svc/protocol';
import type { ApiKeyRecord } from './api-keys.ts';
import type { BudgetFacts, BudgetQuery, BudgetUse } from './consumption.ts';
import type { ReceiptRecord } from './decisions.ts';
import type { EntitlementRecord } from './entitlements.ts';
import type { GrantRecord } from './grants.ts';
import type { PrincipalRecord } from './principals.ts';
import type { RelyingPartyRecord } from './relying-parties.ts';

/** What one evaluation wants to know; null where the tokens did not even parse that far. */
export interface FactsQuery {
  readonly issuer: DidWeb | null;
  readonly grantId: GrantId | null;
}

export interface AllocatedGrant extends GrantRecord {
  /** Hash of the Grant that the first ALLOW under this id was given to; null before that. It never changes. */
  readonly grantHash: Sha256 | null;
  /** A restore may have lost what it was allowed with and what was drawn on its budgets (protocol §10). */
  readonly isWithheld: boolean;
  /** It, its Agent, its Principal or the org of that is paused. */
  readonly isPaused: boolean;
  /** Version of its Principal when the Grant was read: under another version it may be paused, or not paused any more. */
  readonly principalVersion: number;
}

export interface FactsRecord {
  readonly principal: PrincipalRecord | null;
  readonly grant: AllocatedGrant | null;
}

/** An RP's API key with the RP itself and its org's entitlement, as the verify path needs them. */
export interface RpCallerRecord {
  readonly key: ApiKeyRecord;
  readonly relyingParty: RelyingPartyRecord;
  /** Null: the RP is in no org, or its org has none. */
  readonly entitlement: EntitlementRecord | null;
  /** Its org signed itself up, and nobody pays for it. */
  readonly isNewcomer: boolean;
  /** It, its org or the whole service is paused. Read with the version of the relying party, which every pause moves. */
  readonly isPaused: boolean;
}

/** A decision that counts towards its org's cap, and the entitlement that let it pass. */
export interface ProductionCheck {
  readonly orgId: OrgId;
  /** 0: the org had no entitlement. Read again by the commit. */
  readonly entitlementVersion: number;
  readonly isCapped: boolean;
  /** Refused when the entitlement does not cover it, under the locks of the commit. */
  readonly isEnforced: boolean;
}

/** A spent Proof: the replay key (Grant id, jti), kept until `expiresAtMs` at least. */
export interface Spend {
  readonly grantId: GrantId;
  readonly jti: string;
  readonly expiresAtMs: number;
}

/** One evaluated and signed decision on its way into storage. */
export interface DecisionCommit {
  readonly receiptId: ReceiptId;
  readonly jws: string;
  readonly decision: 'ALLOW' | 'DENY';
  readonly reason: string | null;
  readonly evaluatedAtMs: number;
  readonly relyingParty: { readonly did: DidWeb; readonly version: number };
  readonly keyHash: string;
  readonly keyId: ApiKeyId;
  /** The Principal whose record the evaluation used; its lock is taken and its version compared. */
  readonly usedPrincipal: { readonly did: DidWeb; readonly version: number } | null;
  /** The Grant that the evaluation found not revoked; its flag is read again under the lock. Set for every ALLOW. */
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
  /** Set exactly for an ALLOW. */
  readonly spend: Spend | null;
  /** Set for an ALLOW whose evaluation found no Grant bound to its id: this one is bound by it, or the outcome is `STALE`. */
  readonly bindsGrantHash: Sha256 | null;
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
  /** Null: the RP is in no org, or the Grant says that it is the sandbox's. */
  readonly productionCheck: ProductionCheck | null;
  /** Null: no balances were consulted. */
  readonly budget: BudgetUse | null;
}

/**
 * `STORED`: committed. `REPLAY`: the Proof is spent; nothing stored. `STALE`: something the evaluation used has
 * changed, another Grant is bound to the id, or the day is closed; nothing stored. `KEY_REVOKED`: the API key is no
 * longer live. `IDEMPOTENCY_TAKEN`: that key already has a Receipt. `CLOCK`: `evaluatedAt` is ahead of the database's
 * clock, over 2 s behind, or below the ledger's seal. `PLAN_REQUIRED`: the org's entitlement does not cover it, its cap
 * is reached; nothing stored, its Proof unspent. `OVERTAKEN`: the balances that it rests on are not the present ones,
 * or are just being moved; nothing stored. `LOCKED`: a lock was not had in time. `REFUSED`: the database refused this
 * row; its neighbours are unaffected.
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
  /** Balances, and whether the Proofs are spent, as they are now; nothing keeps them so. Answers in the same order. */
  findBudgets(queries: readonly BudgetQuery[]): Promise<BudgetFacts[]>;
  /** The credential of a list as stored. */
  findStatusCredential(url: string): Promise<{ credential: string; credentialHash: Sha256 } | null>;
  /** The Receipt stored under an RP's idempotency key within the last 10 minutes. */
  findIdempotent(
    relyingParty: DidWeb,
    key: string,
  ): Promise<{ bodyHash: string; receipt: ReceiptRecord } | null>;
  /**
   * The commit of protocol §10: one round trip, each decision with its own outcome, in the same order. Those on one
   * Grant's balances follow each other in it.
   * Rejects with `StoreError`: `unavailable` and `refused` mean that nothing of the batch is stored.
   */
  commitDecisions(decisions: readonly DecisionCommit[]): Promise<CommitOutcome[]>;
  /**
   * Takes the locks of these Grants' budgets, waiting `waitMs` for all of them together, asks `decide` for decisions on
   * what it then reads (null where the lock was not had), and commits them: nobody else moves the budgets meanwhile.
   * Decisions are evaluated under the locks, so `decide` must wait for nothing but the processor. It may be called a
   * second time. `REFUSED` is of all of them.
   */
  commitOnBudgets(
    queries: readonly BudgetQuery[],
    waitMs: number,
    decide: (facts: readonly (BudgetFacts | null)[]) => Promise<readonly DecisionCommit[]>,
  ): Promise<CommitOutcome[]>;
  /**
   * Looks receipts up on a fresh connection after an ambiguous commit; at most 300 ms. What it answers lasts as a decision
   * that was answered at once does.
   */
  findStored(receiptIds: readonly ReceiptId[]): Promise<ReadonlySet<ReceiptId>>;
  /** Resolves once everything that was found stored before the call lasts. Rejects where that cannot be told in time. */
  confirmStored(): Promise<void>;
}
