/** Grants as they were allocated, and their revocation. */
import type { DidKey, DidWeb, GrantId } from '@svc/protocol';
import type { AuditRecord } from './audit.ts';
import type { SignedStatusList, StatusListRecord } from './status-lists.ts';

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

/** What a revocation asks of a Grant. */
export type RevocableGrant = Omit<GrantRecord, 'principal' | 'agent' | 'allocatedAtMs'>;

/** Recorded as revoked, and not stamped: its list may not say it yet. */
export type UnstampedGrant = Pick<GrantRecord, 'id' | 'principal' | 'statusListUrl' | 'statusIndex'>;

export interface Revocable {
  /** Ascending ids. */
  readonly grants: readonly RevocableGrant[];
  /** By its URL every list that has one of `grants` that is in force. */
  readonly lists: ReadonlyMap<string, ListToRevokeIn>;
}

export type ListToRevokeIn = Pick<StatusListRecord, 'bits' | 'version'>;

export interface SignedRevocations {
  readonly principal: DidWeb;
  readonly ids: readonly GrantId[];
  /** With the version from which each was made. None: what signs them is away, and the revocations are recorded without. */
  readonly lists: readonly (SignedStatusList & Pick<StatusListRecord, 'version'>)[];
  readonly listContentType: string;
  readonly events: readonly AuditRecord[];
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

/** `next`: null at the end. A page may be empty, and another follow it. */
export interface UnstampedPrincipals {
  /** The longest waiting of the page first. */
  readonly principals: readonly DidWeb[];
  readonly next: DidWeb | null;
}

export interface GrantRepository {
  insert(
    grant: Pick<GrantRecord, 'id' | 'principal' | 'agent' | 'statusListUrl' | 'statusIndex'>,
  ): Promise<GrantRecord>;
  find(id: string): Promise<GrantRecord | null>;
  /** Descending ids; at most `limit` rows. A Grant whose revocation is recorded counts as revoked. */
  list(filter: GrantFilter): Promise<GrantRecord[]>;
  /** The Agents of those of `ids` that are the Principal's, in any order. */
  listAgents(principal: DidWeb, ids: readonly string[]): Promise<Pick<GrantRecord, 'id' | 'agent'>[]>;
  /** Those of `ids` that are the Principal's. */
  findRevocable(principal: DidWeb, ids: readonly GrantId[]): Promise<Revocable>;
  /** The same, locked until the end of the transaction, and so are their lists. */
  findRevocableForUpdate(principal: DidWeb, ids: readonly GrantId[]): Promise<Revocable>;
  /**
   * Writes the lists and their evidence, `revocationRecordedAt` and the audit events. False, and nothing is written, where
   * one of these Grants has been revoked or a list has changed since it was read.
   */
  recordRevocations(signed: SignedRevocations): Promise<boolean>;
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
  /** Grants of a Principal whose revocation was recorded over `seconds` ago and never stamped, the longest waiting first. */
  listUnstamped(principal: DidWeb, seconds: number, limit: number): Promise<UnstampedGrant[]>;
  /** The Principals that have such Grants, in pages; `after` is null for the first, and the `next` of the page before. */
  listUnstampedPrincipals(seconds: number, after: DidWeb | null): Promise<UnstampedPrincipals>;
  /** Those of a Principal that name an Agent. */
  listUnstampedNamingAgent(principal: DidWeb, agent: DidKey): Promise<UnstampedGrant[]>;
}

/** Revocations (protocol §9), on connections that are kept for them. */
export interface RevocationStore {
  /** As `GrantRepository` has them, each a transaction of its own. */
  readonly grants: Pick<GrantRepository, 'findRevocable' | 'recordRevocations'>;
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
  /**
   * The barrier for what is no one Principal's: waits within 2 s until every commit that is under way has ended, and answers the
   * instant, as a stamp. It holds up no commit. Those with one `exclusiveKey` wait one after another.
   */
  awaitCommits(exclusiveKey: string, nowMs: number): Promise<number>;
}
