/**
 * Subscriptions to events and their deliveries (protocol §15). Only the two answers that create a secret contain it.
 */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp, parseAnyUtcTime } from '@svc/protocol';
import {
  createSubscription,
  deleteSubscription,
  disableSubscription,
  type EventDeliveryRecord,
  type EventSubscriptionRecord,
  enableSubscription,
  listDeliveries,
  listSubscriptions,
  pingSubscription,
  type ReplayFrom,
  replayEvents,
  rotateSecret,
  type ServiceDeps,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { formatTimestampOrNull } from './format-timestamp-or-null.ts';

export const eventEndpoints = (deps: ServiceDeps): HandlersOf<'events'> => ({
  createEventSubscription: async ({ caller, body, requestId }) => {
    const { url, types, description = null, budget_low_percent: budgetLowPercent } = body;
    const wanted = { url, types, description, budgetLowPercent };
    const { subscription, secret } = await createSubscription(deps, caller, wanted, requestId);
    return { status: 201, body: { ...presentSubscription(subscription), secret } };
  },

  listEventSubscriptions: async ({ caller }) => {
    const subscriptions = await listSubscriptions(deps, caller);
    return { status: 200, body: { subscriptions: subscriptions.map(presentSubscription) } };
  },

  testEventSubscription: async ({ caller, params }) => {
    const { subscription_id } = params;
    const event_id = await pingSubscription(deps, caller, subscription_id);
    return { status: 202, body: { subscription_id, event_id } };
  },

  rotateEventSecret: async ({ caller, params, requestId }) => {
    const { subscription_id } = params;
    const { secret, previousEndsAtMs } = await rotateSecret(deps, caller, subscription_id, requestId);
    const previous_ends_at = formatTimestamp(previousEndsAtMs);
    return { status: 200, body: { subscription_id, secret, previous_ends_at } };
  },

  disableEventSubscription: async ({ caller, params, requestId }) => {
    const disabled = await disableSubscription(deps, caller, params.subscription_id, requestId);
    return { status: 200, body: presentSubscription(disabled) };
  },

  enableEventSubscription: async ({ caller, params, requestId }) => {
    const enabled = await enableSubscription(deps, caller, params.subscription_id, requestId);
    return { status: 200, body: presentSubscription(enabled) };
  },

  deleteEventSubscription: async ({ caller, params, requestId }) => {
    const { subscription_id } = params;
    await deleteSubscription(deps, caller, subscription_id, requestId);
    return { status: 200, body: { subscription_id, deleted: true } };
  },

  listEventDeliveries: async ({ caller, params, query }) => {
    const { items, nextCursor } = await listDeliveries(deps, caller, params.subscription_id, query);
    return { status: 200, body: { deliveries: items.map(presentDelivery), next_cursor: nextCursor } };
  },

  replayEvents: async ({ caller, params, body }) => {
    const subscription = await replayEvents(deps, caller, params.subscription_id, replayFrom(body));
    return { status: 202, body: presentSubscription(subscription) };
  },
});

type Subscription = Body<Routes['disableEventSubscription'], 200>;
type Delivery = Body<Routes['listEventDeliveries'], 200>['deliveries'][number];

/** The contract has checked that exactly one of the two is given, and that the time is valid. */
const replayFrom = ({
  since,
  event_id: eventId,
}: {
  readonly since?: string | undefined;
  readonly event_id?: string | undefined;
}): ReplayFrom =>
  eventId === undefined ? { sinceMs: Math.floor(parseAnyUtcTime(since ?? '') ?? 0) } : { eventId };

const presentSubscription = (record: EventSubscriptionRecord): Subscription => ({
  subscription_id: record.subscriptionId,
  url: record.url,
  description: record.description,
  types: [...record.types],
  budget_low_percent: record.budgetLowPercent,
  created_at: formatTimestamp(record.createdAtMs),
  created_by: record.createdBy as Subscription['created_by'],
  state: stateOf(record),
  failing_since: formatTimestampOrNull(record.failingSinceMs),
  last_problem: record.lastProblem,
  disabled_at: formatTimestampOrNull(record.disabledAtMs),
  disabled_because: record.disabledBecause,
  waiting: record.waiting,
  secrets: record.secrets.map(({ number, endsAtMs }) => ({
    number,
    ends_at: formatTimestampOrNull(endsAtMs),
  })),
});

const stateOf = ({ disabledAtMs, failingSinceMs }: EventSubscriptionRecord): Subscription['state'] => {
  if (disabledAtMs !== null) return 'disabled';
  return failingSinceMs === null ? 'active' : 'failing';
};

const presentDelivery = (record: EventDeliveryRecord): Delivery => ({
  event_id: record.eventId,
  // Storage contains only the event types of the contract, and pings.
  type: record.type as Delivery['type'],
  state: record.state,
  attempts: record.attempts,
  last_attempt_at: formatTimestampOrNull(record.lastAttemptAtMs),
  last_status: record.lastStatus,
  last_problem: record.lastProblem,
  next_attempt_at: formatTimestampOrNull(record.nextAttemptAtMs),
});
