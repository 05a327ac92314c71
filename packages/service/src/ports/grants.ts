/** Grants as they were allocated, and their revocation. */
import type { DidKey, DidWeb, GrantId } from '@svc/protocol';

export interface GrantRecord {
  readonly id: GrantId;
  readonly principal: DidWeb;
  readonly agent: DidKey;
  readonly statusListUrl: string;
  readonly statusIndex: number;
  readonly allocatedAtMs: number;
  /** When the revocation was committed: from here on no decision may allow this Grant. */
  readonly revocationRecordedAtMs: number | null;
  /** Stamped under the Principal's exclusive lock: no ALLOW is dated later. */
  readonly revokedAtMs: number | null;
}

export interface GrantFilter {
  /** Null: any Principal. */
  readonly principals: readonly DidWeb[] | null;
  readonly agent?: DidKey | undefined;
  readonly state?: 'active' | 'revoked' | undefined;
  /** Grants with ids below this one (exclusive), newest first. */
  readonly beforeId?: GrantId | undefined;
  readonly limit: number;
}

export interface GrantRepository {
  insert(
    grant: Pick<GrantRecord, 'id' | 'principal' | 'agent' | 'statusListUrl' | 'statusIndex'>,
  ): Promise<GrantRecord>;
  find(id: string): Promise<GrantRecord | null>;
  /** Descending ids; at most `limit` rows. A Grant whose revocation is recorded counts as revoked. */
  list(filter: GrantFilter): Promise<GrantRecord[]>;
  /** Of `ids` those that are the Principal's, locked until the end of the transaction; ascending ids. */
  listForUpdate(principal: DidWeb, ids: readonly GrantId[]): Promise<GrantRecord[]>;
  /** Sets `revocationRecordedAt` now on those that have none. */
  recordRevocation(ids: readonly GrantId[]): Promise<void>;
  /** Every Grant of a Principal that names an Agent, ascending ids. */
  listNamingAgent(principal: DidWeb, agent: DidKey): Promise<Pick<GrantRecord, 'id' | 'revokedAtMs'>[]>;
  /** How many these are, but no more than `atMost`; with `inForce` of those whose revocation is not recorded. */
  countNamingAgent(
    principal: DidWeb,
    agent: DidKey,
    options: { readonly atMost: number; readonly inForce?: boolean },
  ): Promise<number>;
  /** Those whose revocation is not recorded, locked until the end of the transaction, ascending ids. */
  listInForceNamingAgentForUpdate(principal: DidWeb, agent: DidKey): Promise<GrantRecord[]>;
  /** Sets `revokedAt` to a stamp that the barrier gave, on those that have none. */
  setRevoked(ids: readonly GrantId[], revokedAtMs: number): Promise<void>;
  /** Grants whose revocation was recorded over `seconds` ago and never stamped, the longest waiting first. */
  listUnstamped(seconds: number, limit: number): Promise<Pick<GrantRecord, 'id' | 'principal'>[]>;
}

/** The second phase of a revocation (protocol §9). */
export interface RevocationStore {
  /**
   * Takes the Principal's exclusive lock (2 s at most, else `lock_timeout`), stamps `revoked_at` under it on
   * those of `ids` that have none, and commits. When this returns, every ALLOW of these Grants that will ever
   * exist is committed and dated no later than the stamp, which is within 5 s of `nowMs` or of the last such ALLOW.
   * Answers the stamps by Grant id.
   */
  stampRevoked(
    principal: DidWeb,
    ids: readonly GrantId[],
    nowMs: number,
  ): Promise<ReadonlyMap<GrantId, number>>;
  /**
   * The barrier alone, for what is not one Grant (a key, a Principal, an Agent's many Grants): takes the Principal's
   * exclusive lock within 2 s, answers the instant at which it was had, as a stamp, and lets go. What was committed before the
   * call denies every decision that is dated later.
   */
  passBarrier(principal: DidWeb, nowMs: number): Promise<number>;
}
