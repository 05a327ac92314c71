/** Storage of subscriptions to events (protocol §15): their endpoints, event types and signing secrets. */
import type { EventType } from '@svc/protocol';

export { EVENT_TYPES, type EventType } from '@svc/protocol';

/** The subject that an event is for: a Principal, a relying party or an org, by DID or id. */
export type EventAudience = `principal ${string}` | `rp ${string}` | `org ${string}`;

/** Why nothing is delivered: the owner disabled the endpoint, it failed for days, or it answered 410. */
export type DisabledBecause = 'owner' | 'failing' | 'gone';

/** One secret of an endpoint. The secret itself is derived from the root secret named `root`. */
export interface EventSecretRecord {
  /** Number of the secret, from 1. */
  readonly number: number;
  readonly root: string;
  /** Null: it is in force until it is rotated. */
  readonly endsAtMs: number | null;
}

export interface NewEventSubscription {
  readonly subscriptionId: string;
  readonly audience: EventAudience;
  readonly url: string;
  readonly description: string | null;
  readonly types: readonly EventType[];
  readonly budgetLowPercent: number;
  /** Id of the API key that created it. */
  readonly createdBy: string | null;
}

export interface EventSubscriptionRecord extends NewEventSubscription {
  readonly createdAtMs: number;
  /** Since when no attempt has succeeded; null: the last attempt succeeded. */
  readonly failingSinceMs: number | null;
  /** Problem of the latest failed attempt; null while the endpoint does not fail. */
  readonly lastProblem: string | null;
  readonly disabledAtMs: number | null;
  readonly disabledBecause: DisabledBecause | null;
  /** Number of open deliveries. */
  readonly waiting: number;
  /** The secrets in force, the newest first; at most two. */
  readonly secrets: readonly EventSecretRecord[];
}

export interface EventSubscriptionRepository {
  /** Number of subscriptions of the audience. Locks the audience until the end of the transaction. */
  countForUpdate(audience: EventAudience): Promise<number>;
  /** Stores a subscription, which receives events from now on. */
  insert(subscription: NewEventSubscription, root: string): Promise<EventSubscriptionRecord>;
  /** The newest first. */
  list(audience: EventAudience): Promise<readonly EventSubscriptionRecord[]>;
  find(audience: EventAudience, subscriptionId: string): Promise<EventSubscriptionRecord | null>;
  /** Adds a new secret. The previous secret ends after `overlapHours`, older ones at once. */
  rotate(subscriptionId: string, root: string, overlapHours: number): Promise<void>;
  /** False if the subscription is disabled already. */
  disable(subscriptionId: string): Promise<boolean>;
  /** Enables a subscription; its open deliveries are due at once. False if it is not disabled. */
  enable(subscriptionId: string): Promise<boolean>;
  /** Deletes a subscription with immediate effect; `EventLogRepository.forget` removes the rows that it leaves. */
  delete(subscriptionId: string): Promise<boolean>;
  /** Writes a ping event, or answers the seconds until the next one is allowed. */
  ping(
    subscriptionId: string,
    atMostEachHour: number,
  ): Promise<{ readonly eventId: string } | { readonly waitSeconds: number }>;
  /** Counts a replay. Null: it is within the limit; else the seconds until the next one is allowed. */
  countReplay(subscriptionId: string, atMostEachHour: number): Promise<number | null>;
  /** Makes the subscription read the log again from this position. */
  readAgain(subscriptionId: string, fromPosition: number): Promise<void>;
  /** Whether there is any subscription that is not disabled. */
  hasSubscribers(): Promise<boolean>;
}
