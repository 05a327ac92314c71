/** Subscriptions to events (protocol §15): who wants to hear of what, and with which secrets it is signed. */
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

export interface EventSubscriptionRepository {
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
  /** At once for everybody; `EventLogRepository.forget` removes what it leaves. */
  delete(subscriptionId: string): Promise<boolean>;
  /** Writes a ping, or answers after how many seconds the next one is allowed. */
  ping(
    subscriptionId: string,
    atMostEachHour: number,
  ): Promise<{ readonly eventId: string } | { readonly waitSeconds: number }>;
  /** Counts a replay. Null: it is within the limit; else after how many seconds the next one is. */
  countReplay(subscriptionId: string, atMostEachHour: number): Promise<number | null>;
  /** The log is read again from there on. */
  readAgain(subscriptionId: string, fromPosition: number): Promise<void>;
  /** Whether anybody has a subscription that is not disabled. */
  hasSubscribers(): Promise<boolean>;
}
