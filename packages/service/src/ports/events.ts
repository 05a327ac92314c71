/**
 * Events (protocol §15): who wants to hear of what, the log of what was told, and deliveries of it. Events themselves are
 * written by the database, in the transaction of the fact that they tell.
 */
import type { EventType } from '@svc/protocol';

export { EVENT_TYPES, type EventType } from '@svc/protocol';

/** The subject that an event is for: a Principal, a relying party or an org, by DID or id. */
export type EventAudience = `principal ${string}` | `rp ${string}` | `org ${string}`;

/** Why nothing is delivered: its owner said so, it failed for days, or it answered 410. */
export type DisabledBecause = 'owner' | 'failing' | 'gone';

/** One secret of an endpoint; the secret itself is derived from the root of that name. */
export interface EventSecretRecord {
  /** Number of the secret, from 1. */
  readonly number: number;
  readonly root: string;
  /** Null: until it is rotated. */
  readonly endsAtMs: number | null;
}

export interface NewEventSubscription {
  readonly subscriptionId: string;
  readonly audience: EventAudience;
  readonly url: string;
  readonly description: string | null;
  readonly types: readonly EventType[];
  readonly budgetLowPercent: number;
  /** The id of the API key that asked for it. */
  readonly createdBy: string | null;
}

export interface EventSubscriptionRecord extends NewEventSubscription {
  readonly createdAtMs: number;
  /** Since when no attempt has succeeded; null: the last one did. */
  readonly failingSinceMs: number | null;
  /** What the latest failed attempt met with, while it fails. */
  readonly lastProblem: string | null;
  readonly disabledAtMs: number | null;
  readonly disabledBecause: DisabledBecause | null;
  /** Deliveries that are open. */
  readonly waiting: number;
  /** Those in force, the newest first; two at most. */
  readonly secrets: readonly EventSecretRecord[];
}

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
  /** Made before this one. */
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

/** Readable with a root of that name alone. */
export interface SealedAuthorization {
  readonly root: string;
  /** Base64url. */
  readonly sealed: string;
}

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

/** What waits to be told, of everybody. */
export interface EventQueue {
  /** When the oldest event happened that is not in the log; null: all are. */
  readonly outboxSinceMs: number | null;
  /** Since when the delivery is due that is so the longest, of endpoints that do not fail; null: none is. */
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

export interface EventRepository {
  /** Number of subscriptions of the audience. Locks the audience until the end of the transaction. */
  countForUpdate(audience: EventAudience): Promise<number>;
  /** It receives events from now on. */
  insert(subscription: NewEventSubscription, root: string): Promise<EventSubscriptionRecord>;
  /** The newest first. */
  list(audience: EventAudience): Promise<readonly EventSubscriptionRecord[]>;
  find(audience: EventAudience, subscriptionId: string): Promise<EventSubscriptionRecord | null>;
  /** A new secret; the one before it ends after `overlapHours`, those before that at once. */
  rotate(subscriptionId: string, root: string, overlapHours: number): Promise<void>;
  /** False if it is disabled already. */
  disable(subscriptionId: string): Promise<boolean>;
  /** What waits is due at once. False if it is not disabled. */
  enable(subscriptionId: string): Promise<boolean>;
  /** At once for everybody; `forget` removes what it leaves. */
  delete(subscriptionId: string): Promise<boolean>;
  /** Deletes all subscriptions of an audience whose name has passed to another holder, and its events; see `forget`. */
  deleteAll(audience: EventAudience): Promise<void>;
  /** Writes a ping, or answers after how many seconds the next one is allowed. */
  ping(
    subscriptionId: string,
    atMostEachHour: number,
  ): Promise<{ readonly eventId: string } | { readonly waitSeconds: number }>;
  /** The newest first. */
  listDeliveries(
    subscriptionId: string,
    page: { readonly beforePosition: number | undefined; readonly limit: number },
  ): Promise<readonly EventDeliveryRecord[]>;
  /** Where in the log the first event logged at or after `sinceMs` is; null: there is none. */
  findPositionSince(sinceMs: number): Promise<number | null>;
  /** Null where the subscription has not been told of it, or no longer. */
  findPositionOf(subscriptionId: string, eventId: string): Promise<number | null>;
  /** Counts a replay. Null: it is within the limit; else after how many seconds the next one is. */
  countReplay(subscriptionId: string, atMostEachHour: number): Promise<number | null>;
  /** The log is read again from there on. */
  readAgain(subscriptionId: string, fromPosition: number): Promise<void>;

  /** Whether anybody has a subscription that is not disabled. */
  hasSubscribers(): Promise<boolean>;
  /** `pushes`: with streams that are pushed. */
  describeQueue(pushes: boolean): Promise<EventQueue>;
  /**
   * Moves events that no earlier one can precede any more into the log, in order, and notes who is behind with them. Answers
   * how many these were; of what all are told, with the subscriptions that were noted.
   */
  sequence(limit: number): Promise<number>;
  /**
   * The next Principal after `after`, by name and beginning again at the first, with a revocation that was not yet sent to every
   * relying party that has verified the Grant; null: there is none.
   */
  nextToTell(after: string | null): Promise<string | null>;
  /**
   * Looks for relying parties that have verified what the Principal has revoked, and writes what they are told: one at
   * least, and further ones for `forMs`; the next call goes on from there. False: nothing is left, or somebody else is
   * at it.
   */
  tellVerifiers(principal: string, forMs: number): Promise<boolean>;
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
   * Disables at most `limit` of the endpoints that have failed for `afterDays`, on three of these days at least
   * (protocol §15), and answers which. `pushes`: streams that are pushed too, not webhooks alone.
   */
  disableFailing(
    limit: number,
    of: { readonly afterDays: number; readonly pushes: boolean; readonly nowMs: number },
  ): Promise<readonly FailedEndpoint[]>;
  /**
   * Nothing was attempted: the delivery waits, and its subscription is put off for `inSeconds`. False if it was put off
   * already, as by another delivery of it.
   */
  release(delivery: Pick<TakenDelivery, 'subscriptionId' | 'position'>, inSeconds: number): Promise<boolean>;
  /**
   * Forgets at most `limit` events of the log that are older than `keptDays`, with their deliveries, and at most as
   * many rows of each other kind that was deleted. Answers the largest of these numbers.
   */
  forget(limit: number, keptDays: number, nowMs: number): Promise<number>;
}
