/**
 * Storage of event deliveries (protocol §15), by webhook or as pushed SETs: open ones, due ones, and attempts'
 * outcomes.
 */
import type { DisabledBecause, EventAudience, EventSecretRecord } from './event-subscriptions.ts';
import type { SealedAuthorization } from './streams.ts';

export type DeliveryState = 'waiting' | 'delivered' | 'failed';

export interface EventDeliveryRecord {
  /** Position of the event in the log: ascending in time. */
  readonly position: number;
  readonly eventId: string;
  /** An event type, or `ping`. */
  readonly type: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly lastAttemptAtMs: number | null;
  /** HTTP status of the last attempt; null: there was no attempt, or no HTTP answer. */
  readonly lastStatus: number | null;
  readonly lastProblem: string | null;
  /** Null where no further attempt is planned. */
  readonly nextAttemptAtMs: number | null;
}

/** A delivery that one worker has taken. */
export interface TakenDelivery {
  readonly subscriptionId: string;
  readonly position: number;
  readonly url: string;
  readonly eventId: string;
  readonly type: string;
  readonly occurredAtMs: number;
  /** JSON text. */
  readonly data: string;
  /**
   * Number of scheduled attempts before this one. Where a success of the endpoint brought this attempt forward, without
   * the last of these.
   */
  readonly attempts: number;
  readonly secrets: readonly EventSecretRecord[];
  /** Null: a webhook. */
  readonly push: TakenPush | null;
  /** The endpoint belongs to an org that signed itself up and that nobody pays for. */
  readonly isNewcomer: boolean;
}

/** An endpoint that was disabled without a further attempt. */
export type FailedEndpoint = Pick<TakenDelivery, 'subscriptionId' | 'url' | 'push'> & {
  readonly lastProblem: string | null;
};

/** What a pushed SET needs besides the event. */
export interface TakenPush {
  readonly audience: EventAudience;
  /** The DID of the audience is claimed and its domain is not proven. */
  readonly isOfClaim: boolean;
  readonly authorization: SealedAuthorization | null;
}

/** The outcome of an attempt. `retrySeconds` null: an event that was not delivered is given up. */
export interface DeliveryOutcome {
  readonly isDelivered: boolean;
  /** The endpoint answered 410: it wants no more events. */
  readonly isGone: boolean;
  readonly status: number | null;
  readonly problem: string | null;
  readonly retrySeconds: number | null;
  /** Seconds for which nothing is sent to the endpoint; 0: the time follows from its failures. */
  readonly endpointWaitSeconds: number;
}

/** The state of all deliveries and subscriptions. */
export interface EventQueue {
  /**
   * Since when the delivery that has been due the longest is due, among endpoints that do not fail; null: none is due.
   */
  readonly dueSinceMs: number | null;
  /** Number of open deliveries; counting stops at 100,000. */
  readonly waiting: number;
  /** Number of subscriptions that are neither failing nor disabled, that are failing, and that are disabled. */
  readonly active: number;
  readonly failing: number;
  readonly disabled: number;
}

export interface TakeBounds {
  /** Most deliveries under way for one endpoint; one while it fails. */
  readonly atOnce: number;
  /** Most deliveries under way for one subject, and for one org with its members, while most places are free. */
  readonly ofTenant: number;
  /**
   * Deliveries that the process has under way. Newcomers together may have half of its places, which are these and the
   * free ones.
   */
  readonly underWay: { readonly newcomers: number; readonly others: number };
  readonly forSeconds: number;
  /** Whether deliveries of pushed streams are taken too, not only those of webhooks. */
  readonly pushes: boolean;
}

export interface OpenedDeliveries {
  readonly opened: number;
  /** True: the log has more events that the subscription has not read, and it may have more open deliveries. */
  readonly hasMore: boolean;
}

export interface EventDeliveryRepository {
  /** The newest first. */
  list(
    subscriptionId: string,
    page: { readonly beforePosition: number | undefined; readonly limit: number },
  ): Promise<readonly EventDeliveryRecord[]>;
  /**
   * Subscriptions for which the log may have new events, the longest waiting first. There are three lines, and at most
   * `ofEachLine` are taken from each:
   * - subscriptions that were noted for an event of their own;
   * - subscriptions that read events for all, or read the log again;
   * - subscriptions that had too many open deliveries.
   *
   * Each one taken goes to the end of its line, and stays behind the log until it is read (`open`).
   */
  takeBehind(ofEachLine: number): Promise<readonly string[]>;
  /** Opens deliveries of the next events of the log, so that the subscription has at most `window` open ones. */
  open(subscriptionId: string, window: number): Promise<OpenedDeliveries>;
  /**
   * Takes due deliveries; tenants take turns. A delivery is due again after `bounds.forSeconds` unless its outcome is
   * noted.
   */
  take(limit: number, bounds: TakeBounds): Promise<readonly TakenDelivery[]>;
  /** Records an outcome. Answers why this disabled the endpoint; null: it did not. */
  noteOutcome(
    delivery: Pick<TakenDelivery, 'subscriptionId' | 'position' | 'url' | 'push'>,
    outcome: DeliveryOutcome,
    disableAfterDays: number,
  ): Promise<DisabledBecause | null>;
  /**
   * Returns a delivery that was not attempted: it waits, and its subscription is deferred for `inSeconds`. False if the
   * subscription was deferred already, for example by another delivery.
   */
  release(delivery: Pick<TakenDelivery, 'subscriptionId' | 'position'>, inSeconds: number): Promise<boolean>;
  /**
   * Disables at most `limit` of the endpoints that have failed for `afterDays`, on at least three of these days
   * (protocol §15), and answers which. `pushes`: pushed streams too, not only webhooks.
   */
  disableFailing(
    limit: number,
    of: { readonly afterDays: number; readonly pushes: boolean; readonly nowMs: number },
  ): Promise<readonly FailedEndpoint[]>;
  /** `pushes`: pushed streams are counted too. */
  describeQueue(pushes: boolean): Promise<EventQueue>;
  /** When the oldest event that is not in the log yet happened; null: all events are in the log. */
  findOutboxSince(): Promise<number | null>;
}
