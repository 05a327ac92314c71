/** Storage of allocated Grants, and of their revocation. */
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
  /** When the revocation was committed. From then on no new decision may allow this Grant. */
  readonly revocationRecordedAtMs: number | null;
  /** Stamped under the Principal's exclusive lock: no ALLOW of this Grant is dated later. */
  readonly revokedAtMs: number | null;
}

/** The members of a Grant that a revocation needs. */
export type RevocableGrant = Omit<GrantRecord, 'principal' | 'agent' | 'allocatedAtMs'>;

/** A Grant whose revocation is recorded and not stamped. Its list may not say so yet. */
export type UnstampedGrant = Pick<GrantRecord, 'id' | 'principal' | 'statusListUrl' | 'statusIndex'>;

export interface Revocable {
  /** Ascending ids. */
  readonly grants: readonly RevocableGrant[];
  /** By URL, each list with an entry of one of `grants` that is in force. */
  readonly lists: ReadonlyMap<string, ListToRevokeIn>;
}

export type ListToRevokeIn = Pick<StatusListRecord, 'bits' | 'version'>;

export interface SignedRevocations {
  readonly principal: DidWeb;
  readonly ids: readonly GrantId[];
  /**
   * Each list has the version from which it was made. Empty: the signer is not available, and the revocations are
   * recorded without lists.
   */
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

/** `next` is null at the end. A page may be empty although another follows. */
export interface UnstampedPrincipals {
  /** In order of their waiting time within the page, the longest first. */
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
  /** The Agents of those of `ids` that are Grants of the Principal, in any order. */
  listAgents(principal: DidWeb, ids: readonly string[]): Promise<Pick<GrantRecord, 'id' | 'agent'>[]>;
  /** Those of `ids` that are Grants of the Principal, with their lists. */
  findRevocable(principal: DidWeb, ids: readonly GrantId[]): Promise<Revocable>;
  /** As `findRevocable`; the Grants and their lists are locked until the end of the transaction. */
  findRevocableForUpdate(principal: DidWeb, ids: readonly GrantId[]): Promise<Revocable>;
  /**
   * Writes the lists and their evidence, `revocationRecordedAt` and the audit events. False, and nothing is written,
   * where one of these Grants was revoked, or a list has changed, since they were read.
   */
  recordRevocations(signed: SignedRevocations): Promise<boolean>;
  /** Sets `revocationRecordedAt` to now where it is null. */
  recordRevocation(ids: readonly GrantId[]): Promise<void>;
  /** All Grants of a Principal that name an Agent, ascending ids. */
  listNamingAgent(principal: DidWeb, agent: DidKey): Promise<Pick<GrantRecord, 'id' | 'revokedAtMs'>[]>;
  /** Their number, counted up to `atMost`; with `inForce`, only Grants whose revocation is not recorded. */
  countNamingAgent(
    principal: DidWeb,
    agent: DidKey,
    options: { readonly atMost: number; readonly inForce?: boolean },
  ): Promise<number>;
  /** Those of them whose revocation is not recorded, locked until the end of the transaction, ascending ids. */
  listInForceNamingAgentForUpdate(principal: DidWeb, agent: DidKey): Promise<GrantRecord[]>;
  /** Sets `revokedAt` to a stamp of the barrier where it is null. */
  setRevoked(ids: readonly GrantId[], revokedAtMs: number): Promise<void>;
  /**
   * Grants of a Principal whose revocation was recorded over `seconds` ago and not stamped, the longest waiting first.
   */
  listUnstamped(principal: DidWeb, seconds: number, limit: number): Promise<UnstampedGrant[]>;
  /**
   * The Principals that have such Grants, in pages. `after`: null for the first page, else `next` of the page before.
   */
  listUnstampedPrincipals(seconds: number, after: DidWeb | null): Promise<UnstampedPrincipals>;
  /** Unstamped Grants of a Principal that name an Agent, whenever their revocation was recorded. */
  listUnstampedNamingAgent(principal: DidWeb, agent: DidKey): Promise<UnstampedGrant[]>;
}

/** Storage of revocations (protocol §9), on connections that are reserved for them. */
export interface RevocationStore {
  /** The methods of `GrantRepository`, each in its own transaction. */
  readonly grants: Pick<GrantRepository, 'findRevocable' | 'recordRevocations'>;
  /**
   * Takes the Principal's exclusive lock (2 s at most, else `lock_timeout`), stamps `revoked_at` under it on those of
   * `ids` that have none, and commits. When this resolves, no further ALLOW of these Grants will be committed, and none
   * is dated later than the stamp. The stamp is within 5 s of `nowMs` or of the last such ALLOW. Answers the stamps by
   * Grant id.
   */
  stampRevoked(
    principal: DidWeb,
    ids: readonly GrantId[],
    nowMs: number,
  ): Promise<ReadonlyMap<GrantId, number>>;
  /**
   * Only the barrier, for revocations other than of one Grant (a key, a Principal, an Agent's many Grants). Takes the
   * Principal's exclusive lock within 2 s, answers the instant at which it had the lock, as a stamp, and releases it. A
   * revocation that was committed before the call applies to every decision dated later than the stamp.
   */
  passBarrier(principal: DidWeb, nowMs: number): Promise<number>;
  /**
   * The barrier for changes that do not concern one Principal. Waits, 2 s at most, until every commit that was under
   * way has ended, and answers that instant as a stamp. It delays no commit. Calls with the same `exclusiveKey` run one
   * after another.
   */
  awaitCommits(exclusiveKey: string, nowMs: number): Promise<number>;
}
