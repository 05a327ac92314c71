/** Deliveries of events (protocol §15), by webhook or pushed as SETs: what is open, what is due, and what came of attempts. */
import type { DisabledBecause, EventAudience, EventSecretRecord } from './event-subscriptions.ts';
import type { SealedAuthorization } from './streams.ts';

export type DeliveryState = 'waiting' | 'delivered' | 'failed';

export interface EventDeliveryRecord {
  /** Position of the event in the log: ascending in time. */
  readonly position: number;
  readonly eventId: string;
  /** `ping` beside the types of events. */
  readonly type: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly lastAttemptAtMs: number | null;
  /** Null: never, or not as HTTP. */
  readonly lastStatus: number | null;
  readonly lastProblem: string | null;
  /** Null where there is none. */
  readonly nextAttemptAtMs: number | null;
}

/** A delivery in the hands of one worker. */
export interface TakenDelivery {
  readonly subscriptionId: string;
  readonly position: number;
  readonly url: string;
  readonly eventId: string;
  readonly type: string;
  readonly occurredAtMs: number;
  /** JSON text. */
  readonly data: string;
  /** Attempts of the schedule that were made before this one; where a success brought it forward, before the last of these. */
  readonly attempts: number;
  readonly secrets: readonly EventSecretRecord[];
  /** Null: a webhook. */
  readonly push: TakenPush | null;
  /** The endpoint belongs to an org that signed itself up and that nobody pays for. */
  readonly isNewcomer: boolean;
}

/** What was disabled without an attempt. */
export type FailedEndpoint = Pick<TakenDelivery, 'subscriptionId' | 'url' | 'push'> & {
  readonly lastProblem: string | null;
};

/** What a SET is sent with, beside the event. */
export interface TakenPush {
  readonly audience: EventAudience;
  /** The DID of the audience is claimed, and its domain not proven. */
  readonly isOfClaim: boolean;
  readonly authorization: SealedAuthorization | null;
}

/** What came of an attempt. `retrySeconds` null: the delivery is given up, if it was not delivered. */
export interface DeliveryOutcome {
  readonly isDelivered: boolean;
  /** The endpoint wants no more (410). */
  readonly isGone: boolean;
  readonly status: number | null;
  readonly problem: string | null;
  readonly retrySeconds: number | null;
  /** For how long the endpoint is to be asked nothing at all; 0: as long as its failures say. */
  readonly endpointWaitSeconds: number;
}

/** What waits to be sent, to everybody. */
export interface EventQueue {
  /**
   * When the delivery became due that has been due the longest, among endpoints that do not fail; null: none is due.
   */
  readonly dueSinceMs: number | null;
  /** Open deliveries, 100,000 at most. */
  readonly waiting: number;
  /** Subscriptions that are neither of the other two, that fail, and that are disabled. */
  readonly active: number;
  readonly failing: number;
  readonly disabled: number;
}

export interface TakeBounds {
  /** Deliveries of one endpoint under way; one while it fails. */
  readonly atOnce: number;
  /** Deliveries under way for all endpoints of one subject, and for all of an org and its members, while most places are free. */
  readonly ofTenant: number;
  /** What the process has under way: newcomers together have half of its places, these and those that are free. */
  readonly underWay: { readonly newcomers: number; readonly others: number };
  readonly forSeconds: number;
  /** Streams that are pushed too, not webhooks alone. */
  readonly pushes: boolean;
}

export interface EventDeliveryRepository {
  /** The newest first. */
  list(
    subscriptionId: string,
    page: { readonly beforePosition: number | undefined; readonly limit: number },
  ): Promise<readonly EventDeliveryRecord[]>;
  /**
   * Subscriptions for which the log may have something new, whoever has waited longest first: so many at most of those
   * that were told something, of those that read what all are told or read again, and of those whose deliveries were too
   * many. Each goes to the end of its line, and is behind until it is read (`open`).
   */
  takeBehind(ofEachLine: number): Promise<readonly string[]>;
  /** Opens deliveries until `window` are open. Answers how many it opened. */
  open(subscriptionId: string, window: number): Promise<number>;
  /** Takes what is due, in turns of the tenants. It is due again after `forSeconds` unless its outcome is noted. */
  take(limit: number, bounds: TakeBounds): Promise<readonly TakenDelivery[]>;
  /** Answers why the endpoint was disabled by this; null: it was not. */
  noteOutcome(
    delivery: Pick<TakenDelivery, 'subscriptionId' | 'position' | 'url' | 'push'>,
    outcome: DeliveryOutcome,
    disableAfterDays: number,
  ): Promise<DisabledBecause | null>;
  /**
   * Nothing was attempted: the delivery waits, and its subscription is put off for `inSeconds`. False if it was put off
   * already, as by another delivery of it.
   */
  release(delivery: Pick<TakenDelivery, 'subscriptionId' | 'position'>, inSeconds: number): Promise<boolean>;
  /**
   * Disables at most `limit` of the endpoints that have failed for `afterDays`, on three of these days at least
   * (protocol §15), and answers which. `pushes`: streams that are pushed too, not webhooks alone.
   */
  disableFailing(
    limit: number,
    of: { readonly afterDays: number; readonly pushes: boolean; readonly nowMs: number },
  ): Promise<readonly FailedEndpoint[]>;
  /** `pushes`: with streams that are pushed. */
  describeQueue(pushes: boolean): Promise<EventQueue>;
  /** When the oldest event happened that is not in the log; null: all are. */
  findOutboxSince(): Promise<number | null>;
}
