/**
 * Storage as the use cases need it. Every method has a deadline of its own and fails with a `StoreError`;
 * nothing here waits for ever. A method that returns has committed, unless it runs inside `transaction`.
 */
import type { ApiKeyId, DidKey, DidWeb, GrantId, OrgId, ReceiptId, Sha256 } from '@svc/protocol';
import type { CheckpointRepository } from './checkpoints.ts';
import type { ConformanceRunRepository } from './conformance.ts';
import type { ConsumptionRepository } from './consumption.ts';
import type { DecisionRepository } from './decisions.ts';
import type { EntitlementRepository } from './entitlements.ts';
import type { OutcomeRepository } from './outcomes.ts';
import type {
  AgentRecord,
  ApiKeyRecord,
  AuditRecord,
  EvidenceRecord,
  GrantRecord,
  KeyState,
  OrgRecord,
  PrincipalKind,
  PrincipalRecord,
  ReceiptRecord,
  RelyingPartyRecord,
  StatusListRecord,
  StoredAuditRecord,
  VerificationState,
} from './records.ts';
import type { RetentionStore } from './retention.ts';
import type { SelfServeRepository } from './self-serve.ts';
import type { UsageRepository } from './usage.ts';
import type { VerifyStore } from './verify-store.ts';

/**
 * `unavailable`: nothing was sent, nothing is stored. `refused`: the server answered with an error and rolled
 * back. `ambiguous`: the answer was lost; the work may or may not be stored. `conflict`: a unique constraint.
 * `lock_timeout`: a lock was not had in time; rolled back.
 */
export type StoreErrorKind = 'unavailable' | 'refused' | 'ambiguous' | 'conflict' | 'lock_timeout';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  constructor(
    readonly kind: StoreErrorKind,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

export interface Store extends Repositories {
  /** Runs `work` in one READ COMMITTED transaction. Rolls back when `work` throws; the commit tag is checked. */
  transaction<T>(work: (tx: Repositories) => Promise<T>, options?: TransactionOptions): Promise<T>;
  readonly verify: VerifyStore;
  readonly revocation: RevocationStore;
  readonly retention: RetentionStore;
  /**
   * Runs `work` if nobody else runs work of this name, on any node. The lock lives on a connection of its own; `lost`
   * is aborted when that breaks, and somebody else may run the work then. So a lock keeps work from being done twice,
   * and does not make it safe: the work must be idempotent. Rejects as `work` does, or with `StoreError` before it.
   */
  exclusive<T>(name: string, work: (lost: AbortSignal) => Promise<T>): Promise<Exclusive<T>>;
  /** Creates the partitions of the days to come that are missing. Safe at any time. */
  ensureReceiptPartitions(): Promise<void>;
  /** The database's clock in milliseconds since the epoch, fractions included. Also tells that it answers. */
  now(): Promise<number>;
  close(): Promise<void>;
}

export interface TransactionOptions {
  /** For the whole transaction, instead of the store's usual limit. */
  readonly deadlineMs?: number;
  /**
   * Whose connections it takes. `urgent`: what takes authority away or lets decisions go on; nothing that anybody may
   * call at will is in its way. `reports`: few connections, for what may come in any number.
   */
  readonly lane?: 'urgent' | 'reports';
}

export type Exclusive<T> = { readonly held: true; readonly value: T } | { readonly held: false };

export interface Repositories {
  readonly orgs: OrgRepository;
  readonly agents: AgentRepository;
  readonly principals: PrincipalRepository;
  readonly relyingParties: RelyingPartyRepository;
  readonly apiKeys: ApiKeyRepository;
  readonly grants: GrantRepository;
  readonly statusLists: StatusListRepository;
  readonly entitlements: EntitlementRepository;
  readonly evidence: EvidenceRepository;
  readonly audit: AuditRepository;
  readonly receipts: ReceiptRepository;
  readonly decisions: DecisionRepository;
  readonly outcomes: OutcomeRepository;
  readonly consumption: ConsumptionRepository;
  readonly checkpoints: CheckpointRepository;
  readonly usage: UsageRepository;
  readonly serviceKeys: ServiceKeyRepository;
  readonly selfServe: SelfServeRepository;
  readonly conformanceRuns: ConformanceRunRepository;
}

export interface OrgRepository {
  exists(orgId: OrgId): Promise<boolean>;
  /** Conflict when the slug is taken. */
  insert(org: Pick<OrgRecord, 'orgId' | 'slug' | 'name'>): Promise<OrgRecord>;
  find(orgId: OrgId): Promise<OrgRecord | null>;
}

export type NewPrincipal = Omit<
  PrincipalRecord,
  'createdAtMs' | 'version' | 'document' | 'keys' | 'verifiedSinceMs' | 'lastCheckedMs' | 'lastProvenMs'
> & {
  readonly keys: readonly { readonly kid: string; readonly publicKeyMultibase: string }[];
  /** Hash of a document already stored as evidence; resolved now. */
  readonly documentHash: Sha256 | null;
};

export interface PrincipalRepository {
  /** Conflict when the DID is taken. A principal inserted as verified is verified since now. */
  insert(principal: NewPrincipal): Promise<PrincipalRecord>;
  find(did: string): Promise<PrincipalRecord | null>;
  /** The DIDs of an org's member Principals, ascending. */
  listDidsOfOrg(orgId: OrgId): Promise<DidWeb[]>;
  /**
   * Moves a key on and bumps the Principal's version. States only go forward: active, retired, compromised. False, and
   * nothing changed, when there is no such key or it is there already, or further.
   */
  setKeyState(principal: DidWeb, kid: string, state: KeyState): Promise<boolean>;
  /** Locks the row until the end of the transaction; its keys and document are read under the lock. */
  findForUpdate(did: string): Promise<PrincipalRecord | null>;
  /** Ascending DIDs, at most `limit` rows. */
  list(filter: PrincipalFilter): Promise<PrincipalRecord[]>;
  /** False when absent. */
  setMayBeNamed(did: DidWeb, mayBeNamed: boolean): Promise<boolean>;
  /** Puts a Principal without an org into one. False when it is absent or in an org already. */
  setOrg(did: DidWeb, orgId: OrgId): Promise<boolean>;
  /**
   * Records the outcome of a check of the domain, dated now. A state that changes bumps the version and starts a new
   * `verifiedSince`; `proven` dates the last proof found.
   */
  recordVerification(
    did: DidWeb,
    result: { readonly state: VerificationState; readonly proven: boolean },
  ): Promise<void>;
  /**
   * Puts a document (already stored as evidence) in force, resolved now, and remembers keys never seen before as
   * active since now. Bumps the version when the document is another one than before.
   */
  putDocument(
    did: DidWeb,
    documentHash: Sha256,
    keys: readonly { readonly kid: string; readonly publicKeyMultibase: string }[],
  ): Promise<void>;
  /** Hosted Principals to be checked now, the longest unchecked first. */
  listDueForVerification(rule: VerificationDueRule, limit: number): Promise<PrincipalRecord[]>;
}

/** When the domain of a hosted Principal is checked again; it is due at the first of these. Never checked is due. */
export interface VerificationDueRule {
  readonly everyHours: number;
  /** For a verified one whose last check could not be made. */
  readonly retryHours: number;
  /** For a verified one, since its proof was last found: then the state must not be kept without one. */
  readonly unknownForHours: number;
}

export interface PrincipalFilter {
  readonly kind?: PrincipalKind;
  readonly state?: VerificationState;
  readonly orgId?: OrgId;
  /** DIDs above this one (exclusive). */
  readonly afterDid?: string;
  readonly limit: number;
}

export type NewRelyingParty = Omit<RelyingPartyRecord, 'createdAtMs' | 'version'>;
export type RelyingPartyChange = Partial<
  Pick<RelyingPartyRecord, 'name' | 'proofWindowSeconds' | 'verifyRateLimitPerMinute' | 'profile'>
>;

export interface RelyingPartyRepository {
  insert(relyingParty: NewRelyingParty): Promise<RelyingPartyRecord>;
  find(did: string): Promise<RelyingPartyRecord | null>;
  /** Ascending DIDs. */
  listOfOrg(orgId: OrgId): Promise<RelyingPartyRecord[]>;
  /** Puts a relying party without an org into one. False when it is absent or in an org already. */
  setOrg(did: DidWeb, orgId: OrgId): Promise<boolean>;
  /** Bumps the version. Null when absent. */
  update(did: DidWeb, change: RelyingPartyChange): Promise<RelyingPartyRecord | null>;
}

export interface ApiKeyRepository {
  /** Conflict when `keyId` or `keyHash` is taken. */
  insert(key: Omit<ApiKeyRecord, 'createdAtMs' | 'revokedAtMs'>): Promise<ApiKeyRecord>;
  findByHash(keyHash: string): Promise<ApiKeyRecord | null>;
  findById(keyId: ApiKeyId): Promise<ApiKeyRecord | null>;
  /** Keeps the key from being revoked until the end of the transaction. False when it has been already. */
  holdLive(keyHash: string): Promise<boolean>;
  /** Marks a live key revoked now; null when `subject` has no live key of this id. */
  revoke(subject: string, keyId: ApiKeyId): Promise<ApiKeyRecord | null>;
  /** All keys of a subject, the newest first. */
  list(subject: string): Promise<ApiKeyRecord[]>;
}

export interface GrantFilter {
  /** Null: any Principal. */
  readonly principals: readonly DidWeb[] | null;
  readonly agent?: DidKey;
  readonly state?: 'active' | 'revoked';
  /** Grants with ids below this one (exclusive), newest first. */
  readonly beforeId?: GrantId;
  readonly limit: number;
}

export interface GrantRepository {
  insert(
    grant: Pick<GrantRecord, 'id' | 'principal' | 'agent' | 'statusListUrl' | 'statusIndex'>,
  ): Promise<GrantRecord>;
  find(id: string): Promise<GrantRecord | null>;
  /** Descending ids; at most `limit` rows. A Grant whose revocation is recorded counts as revoked. */
  list(filter: GrantFilter): Promise<GrantRecord[]>;
  /** Locks the row until the end of the transaction. */
  findForUpdate(id: string): Promise<GrantRecord | null>;
  /** Sets `revocationRecordedAt` now on those that have none. */
  recordRevocation(ids: readonly GrantId[]): Promise<void>;
  /** Every Grant of a Principal that names an Agent, locked until the end of the transaction, ascending ids. */
  listNamingAgentForUpdate(principal: DidWeb, agent: DidKey): Promise<GrantRecord[]>;
  /** Sets `revokedAt` to a stamp that the barrier gave, on those that have none. */
  setRevoked(ids: readonly GrantId[], revokedAtMs: number): Promise<void>;
  /** Grants whose revocation was recorded over `seconds` ago and never stamped, the longest waiting first. */
  listUnstamped(seconds: number, limit: number): Promise<Pick<GrantRecord, 'id' | 'principal'>[]>;
}

export interface AgentRepository {
  /** Conflict when this Principal has registered the Agent already. */
  insert(principal: DidWeb, did: DidKey): Promise<AgentRecord>;
  find(principal: DidWeb, did: DidKey): Promise<AgentRecord | null>;
  /** Dates the disabling now; the latest one counts. Null when the Agent is not registered. */
  setDisabled(principal: DidWeb, did: DidKey): Promise<AgentRecord | null>;
}

export interface StatusListRepository {
  insert(list: Omit<StatusListRecord, 'version' | 'nextOrdinal'>): Promise<void>;
  /**
   * The next free list number of a domain, from 1. Lists are numbered per domain, which several Principals may
   * share; the numbering stays locked until the end of the transaction.
   */
  takeNumber(domain: string): Promise<number>;
  findByUrl(url: string): Promise<StatusListRecord | null>;
  /** Locks the row until the end of the transaction. */
  findForUpdate(url: string): Promise<StatusListRecord | null>;
  /** Ascending URLs after `after` (exclusive), at most `limit`, of lists whose credential begins with one of `headers`. */
  listUrlsByHeader(headers: readonly string[], after: string, limit: number): Promise<string[]>;
  /** Takes the next ordinal of the Principal's newest list, atomically; null when that list is full or absent. */
  takeOrdinal(
    principal: DidWeb,
  ): Promise<{ url: string; ordinal: number; sizeBits: number; permutationKey: Uint8Array } | null>;
  update(
    list: Pick<StatusListRecord, 'url' | 'bits' | 'credential' | 'credentialHash' | 'validFromMs'>,
  ): Promise<void>;
}

export interface EvidenceRepository {
  /** Idempotent: the same bytes have the same hash. */
  insert(evidence: EvidenceRecord): Promise<void>;
  find(hash: Sha256): Promise<EvidenceRecord | null>;
}

export interface AuditRepository {
  insert(event: AuditRecord): Promise<void>;
  /** Descending event ids; at most `limit` rows. */
  list(filter: AuditFilter): Promise<StoredAuditRecord[]>;
}

/** Who acted: `did` is a DID or an org id, and means this kind of subject only. */
export interface AuditActor {
  readonly kind: 'principal' | 'rp' | 'org';
  readonly did: string;
}

export interface AuditFilter {
  /** Actors whose events are wanted; null: all. */
  readonly actors: readonly AuditActor[] | null;
  readonly action?: string;
  readonly target?: string;
  /** Inclusive. */
  readonly sinceMs?: number;
  /** Exclusive. */
  readonly untilMs?: number;
  /** Events with ids below this one (exclusive). */
  readonly beforeId?: string;
  readonly limit: number;
}

export interface ReceiptRepository {
  find(receiptId: ReceiptId): Promise<ReceiptRecord | null>;
}

export interface ServiceKeyRepository {
  /**
   * Remembers for ever which key a kid of the service names, unless it names one already. Answers the key that it
   * names. Two callers at once get the same answer.
   */
  remember(kid: string, publicKeyMultibase: string): Promise<string>;
}

/** The second phase of a revocation (protocol §9). */
export interface RevocationStore {
  /**
   * Takes the Principal's exclusive lock (2 s at most, else `lock_timeout`), stamps `revoked_at` under it on
   * those of `ids` that have none, and commits. When this returns, every ALLOW of these Grants that will ever
   * exist is committed and dated no later than the stamp. Answers the stamps by Grant id.
   */
  stampRevoked(principal: DidWeb, ids: readonly GrantId[]): Promise<ReadonlyMap<GrantId, number>>;
  /**
   * The barrier alone, for what is not one Grant (a key, a Principal, an Agent's many Grants): takes the Principal's
   * exclusive lock within 2 s, answers the instant at which it was had, and lets go. What was committed before the
   * call denies every decision that is dated later.
   */
  passBarrier(principal: DidWeb): Promise<number>;
}
