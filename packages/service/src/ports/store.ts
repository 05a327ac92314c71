/**
 * Storage as the use cases need it: one repository per group of records. Every method has a deadline of its own and fails
 * with a `StoreError`; nothing here waits for ever. A method that returns has committed, unless it runs inside
 * `transaction`. Instants are milliseconds since the epoch, stamped by the database's clock where the storage sets them.
 * `version` counts the changes that can alter a decision.
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

/**
 * A count over part of a cold day would need more groups than are made for it. Whole days have stored sums. The message is
 * for the caller.
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
   * The same store for a tenant's work, which waits in line as that tenant: connections go round those who wait. What is
   * done on the store itself is the service's own, and shares with all tenants together; so are commits of decisions,
   * which are gathered from all of them.
   */
  as(tenant: Tenant): Store;
  /** Runs `work` in one READ COMMITTED transaction. Rolls back when `work` throws; the commit tag is checked. */
  transaction<T>(work: (tx: Repositories) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Runs `work`, which reads much and decides nothing, where it is in nobody's way: on a replica that has all that was
   * committed when the call began, where there is one, else where lists and counts are read on the primary. It is run
   * there again where the replica fails it.
   */
  report<T>(work: (from: Reports) => Promise<T>): Promise<T>;
  /**
   * Stores the push, on the connections of `urgent`, unless one with a later `asOfMs` is stored; answers whether it
   * did. A cap that begins, or begins elsewhere, counts the ledger. After this returns no decision is stored that went
   * by the former row.
   */
  putEntitlement(orgId: OrgId, push: EntitlementPush): Promise<boolean>;
  readonly verify: VerifyStore;
  readonly revocation: RevocationStore;
  readonly retention: RetentionStore;
  readonly clock: ClockStore;
  readonly lineage: LineageStore;
  /**
   * Runs `work` if nobody else runs work of this name, on any node. The lock lives on a connection of its own; `lost`
   * is aborted when that breaks, or nothing was heard on it for 20 s, and somebody else may run the work then. So a lock keeps work from being done twice,
   * and does not make it safe: the work must be idempotent. Rejects as `work` does, or with `StoreError` before it.
   */
  exclusive<T>(name: string, work: (lost: AbortSignal) => Promise<T>): Promise<Exclusive<T>>;
  /** Creates the partitions of the days to come that are missing. Safe at any time. */
  ensureReceiptPartitions(): Promise<void>;
  /** The database's clock in milliseconds since the epoch, fractions included. Also tells that it answers. */
  now(): Promise<number>;
  /** `ok`, `unreachable`, or in a few words why storage does not take writes now. */
  describeHealth(): Promise<string>;
  /** `ok` while every commit waits for a standby that is connected, else in a few words what is missing. */
  describeStandby(): Promise<string>;
  /** Null: reports are read on the primary. */
  describeReplica(): ReplicaState | null;
  /** Each pool of connections as it is now. */
  describePools(): readonly PoolState[];
  close(): Promise<void>;
}

/** What reports are made of, as one server has it. */
export type Reports = Pick<Repositories, 'decisions' | 'outcomes' | 'usage'>;

export interface ReplicaState {
  /** In a few words why it is not read from; null: it is. */
  readonly fault: string | null;
  /** What it has is at most so old, as far as is known; infinite: it never was in step. */
  readonly behindMs: number;
  /** How many reports were read where. */
  readonly reads: { readonly replica: number; readonly primary: number };
}

export interface PoolState {
  readonly pool: string;
  /** Connections at work. */
  readonly busy: number;
  readonly idle: number;
  /** Callers in line for one. */
  readonly waiting: number;
}

export interface TransactionOptions {
  /** For the whole transaction, instead of the store's usual limit. */
  readonly deadlineMs?: number;
  /**
   * Whose connections it takes. `urgent`: what takes authority away or lets decisions go on, and is short; a lock that it
   * does not get in 400 ms is a `lock_timeout`. `bulk`: the same where it is long. `reports`: few connections, for what may
   * come in any number.
   */
  readonly lane?: 'urgent' | 'bulk' | 'reports';
  /**
   * What it will lock for itself. Transactions with one key run one after another on this node, and stand in line without a
   * connection: whoever does much to one thing waits for it alone.
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
