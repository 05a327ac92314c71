/**
 * The storage port: one repository for each group of records. These rules hold for all methods:
 *
 * - Every method has its own deadline, and rejects with a `StoreError`. None waits for ever.
 * - A method that has resolved has committed, unless it runs inside `transaction`.
 * - Instants are milliseconds since the epoch. Where the storage sets them, they are from the database's clock.
 * - `version` counts the changes that can alter a decision.
 */
import type { OrgId } from '@svc/protocol';
import type { AgentRepository } from './agents.ts';
import type { ApiKeyRepository } from './api-keys.ts';
import type { ApprovalRepository } from './approvals.ts';
import type { AuditRepository } from './audit.ts';
import type { CheckpointRepository } from './checkpoints.ts';
import type { ClaimRepository } from './claims.ts';
import type { ClockStore } from './clock.ts';
import type { ColdDayRepository } from './cold-days.ts';
import type { ConformanceRunRepository } from './conformance.ts';
import type { ConsumptionRepository } from './consumption.ts';
import type { DecisionRepository, ReceiptRepository } from './decisions.ts';
import type { EntitlementPush, EntitlementRepository } from './entitlements.ts';
import type { EventDeliveryRepository } from './event-deliveries.ts';
import type { EventLogRepository } from './event-log.ts';
import type { EventSubscriptionRepository } from './event-subscriptions.ts';
import type { EvidenceRepository } from './evidence.ts';
import type { LineageStore } from './fence.ts';
import type { GrantRepository, RevocationStore } from './grants.ts';
import type { OrgRepository } from './orgs.ts';
import type { OutcomeRepository } from './outcomes.ts';
import type { PauseRepository } from './pauses.ts';
import type { PrincipalRepository } from './principals.ts';
import type { RelyingPartyRepository } from './relying-parties.ts';
import type { RestoreRepository } from './restores.ts';
import type { RetentionStore } from './retention.ts';
import type { RevocationNoticeRepository } from './revocation-notices.ts';
import type { SelfServeRepository } from './self-serve.ts';
import type { ServiceKeyRepository } from './service-keys.ts';
import type { StatusListRepository } from './status-lists.ts';
import type { StreamRepository } from './streams.ts';
import type { Tenant } from './tenant.ts';
import type { UsageRepository } from './usage.ts';
import type { VerifyStore } from './verify-store.ts';
import type { WithheldGrantRepository } from './withheld-grants.ts';

/**
 * - `unavailable`: nothing is stored: nothing was sent, or the answer to a read or to work before COMMIT was lost.
 * - `refused`: the server answered with an error and rolled back.
 * - `ambiguous`: the answer was lost; the work may or may not be stored.
 * - `conflict`: a unique constraint was violated.
 * - `lock_timeout`: a lock was not obtained in time; rolled back.
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

/**
 * A count over part of a cold day needs more groups than the limit. Whole days have stored sums. The message is for the
 * caller.
 */
export class TooManyCountsError extends StoreError {
  constructor(most: number) {
    super(
      'refused',
      `since, until: must be at 00:00 UTC for this much: one of them lies within a day of which only parts with at most ${most} different counts are counted`,
    );
  }
}

export interface Store extends Repositories {
  /**
   * The same store for the work of a tenant: it waits for connections in that tenant's turn. Work on the store itself
   * is the service's own, and takes turns with all tenants together. Commits of decisions are also the service's own
   * work, because each batch has decisions of many tenants.
   */
  as(tenant: Tenant): Store;
  /** Runs `work` in one READ COMMITTED transaction. Rolls back when `work` throws; the commit tag is checked. */
  transaction<T>(work: (tx: Repositories) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Runs `work`, which reads much and decides nothing, where it does not delay other work. That is a replica that has
   * everything committed before the call, if there is one; else the primary's connections for lists and counts. If
   * `work` fails on the replica, it is run again on the primary.
   */
  report<T>(work: (from: Reports) => Promise<T>): Promise<T>;
  /**
   * Stores the push, on connections of the lane `urgent`, unless one with a later `asOfMs` is stored. Answers whether
   * it was stored. For a new cap, or a cap with a new start, the checks in the ledger are counted. After this resolves,
   * no decision is stored that was judged by the former row.
   */
  putEntitlement(orgId: OrgId, push: EntitlementPush): Promise<boolean>;
  readonly verify: VerifyStore;
  readonly revocation: RevocationStore;
  readonly retention: RetentionStore;
  readonly clock: ClockStore;
  readonly lineage: LineageStore;
  /**
   * Runs `work` unless work of this name is running on any node. The lock is held on its own connection. `lost` is
   * aborted when that connection breaks, or is silent for 20 s; then another node may run the work. So the lock avoids
   * duplicate work but does not exclude it: the work must be idempotent. Rejects as `work` does, or with `StoreError`
   * before it.
   */
  exclusive<T>(name: string, work: (lost: AbortSignal) => Promise<T>): Promise<Exclusive<T>>;
  /** Creates missing partitions for the coming days. Safe at any time. */
  ensureReceiptPartitions(): Promise<void>;
  /** The database's clock in milliseconds since the epoch, with fractions. Also shows that the database answers. */
  now(): Promise<number>;
  /** `ok`, `unreachable`, or a short text why storage does not accept writes now. */
  describeHealth(): Promise<string>;
  /** `ok` while every commit waits for a connected standby, else a short text of what is missing. */
  describeStandby(): Promise<string>;
  /** State of the replica; null: there is none, and reports are read on the primary. */
  describeReplica(): ReplicaState | null;
  /** The present state of each pool of connections. */
  describePools(): readonly PoolState[];
  close(): Promise<void>;
}

/** The repositories that reports read, on one server. */
export type Reports = Pick<Repositories, 'decisions' | 'outcomes' | 'usage'>;

export interface ReplicaState {
  /** A short text why the replica is not read; null: it is read. */
  readonly fault: string | null;
  /** Upper bound of how far the replica is behind the primary; infinite: it was never in step. */
  readonly behindMs: number;
  /** Number of reports read on each server. */
  readonly reads: { readonly replica: number; readonly primary: number };
}

export interface PoolState {
  readonly pool: string;
  /** Connections in use. */
  readonly busy: number;
  readonly idle: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
}

export interface TransactionOptions {
  /** Deadline of the whole transaction, instead of the store's default. */
  readonly deadlineMs?: number;
  /**
   * The lane whose connections the transaction uses:
   * - `urgent`: short work that takes authority away, or that decisions need to continue. A lock that is not obtained
   *   within 400 ms is a `lock_timeout`.
   * - `bulk`: the same kind of work where it is long.
   * - `reports`: work that may come in any number; it gets few connections.
   */
  readonly lane?: 'urgent' | 'bulk' | 'reports';
  /**
   * Name of what the transaction will lock exclusively. Transactions with the same key run one after another on this
   * node, and wait without a connection. So many transactions on one record delay only each other.
   */
  readonly exclusiveKey?: string;
}

export type Exclusive<T> = { readonly held: true; readonly value: T } | { readonly held: false };

export interface Repositories {
  readonly orgs: OrgRepository;
  readonly agents: AgentRepository;
  readonly principals: PrincipalRepository;
  readonly relyingParties: RelyingPartyRepository;
  readonly claims: ClaimRepository;
  readonly apiKeys: ApiKeyRepository;
  readonly grants: GrantRepository;
  readonly statusLists: StatusListRepository;
  readonly pauses: PauseRepository;
  readonly approvals: ApprovalRepository;
  readonly entitlements: EntitlementRepository;
  readonly evidence: EvidenceRepository;
  readonly audit: AuditRepository;
  readonly receipts: ReceiptRepository;
  readonly decisions: DecisionRepository;
  readonly outcomes: OutcomeRepository;
  readonly consumption: ConsumptionRepository;
  readonly checkpoints: CheckpointRepository;
  readonly coldDays: ColdDayRepository;
  readonly usage: UsageRepository;
  readonly serviceKeys: ServiceKeyRepository;
  readonly selfServe: SelfServeRepository;
  readonly conformanceRuns: ConformanceRunRepository;
  readonly restores: RestoreRepository;
  readonly withheldGrants: WithheldGrantRepository;
  readonly eventSubscriptions: EventSubscriptionRepository;
  readonly eventLog: EventLogRepository;
  readonly eventDeliveries: EventDeliveryRepository;
  readonly revocationNotices: RevocationNoticeRepository;
  readonly streams: StreamRepository;
}
