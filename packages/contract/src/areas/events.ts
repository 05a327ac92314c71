/** Events, sent to the endpoints that their subscribers name (protocol §15). */
import { z } from 'zod';
import { cursor, pageLimit, subscriptionId } from '../formats.ts';
import {
  eventDeliveryList,
  eventPing,
  eventReplayRequest,
  eventSubscription,
  eventSubscriptionCreated,
  eventSubscriptionDeleted,
  eventSubscriptionList,
  eventSubscriptionRequest,
  eventSubscriptionRotated,
} from '../resources/event-subscription.ts';
import { defineRoute, json } from '../route.ts';

const params = z.strictObject({ subscription_id: subscriptionId });
const ABSENT = 'The subject of this key has no such subscription.';
/** Members that all routes share. */
const common = { tag: 'Events', limiter: 'authenticated', feature: 'webhooks' } as const;
const writing = ['rp', 'principal', 'org:admin'] as const;
const reading = ['rp', 'principal', 'org'] as const;

export const eventRoutes = {
  createEventSubscription: defineRoute({
    ...common,
    method: 'post',
    path: '/event-subscriptions',
    summary: 'Subscribe to events',
    description: [
      'Registers an endpoint that receives events from now on, as defined by Standard Webhooks 1.0.0. An RP key',
      'receives events about its own decisions and about revocations of Grants that it has verified; a Principal key',
      'about decisions on Grants that it has signed; an org key the events of its members. The secret is shown only in',
      'this answer. A subject may have ten subscriptions.',
    ].join('\n'),
    auth: writing,
    body: eventSubscriptionRequest,
    responses: { 201: json(eventSubscriptionCreated, 'Subscribed. Keep the secret: it is not shown again.') },
    errors: {
      INVALID_REQUEST:
        'The URL is not https on port 443 of a public host name, contains credentials, or belongs to the service; or the subject already has ten subscriptions.',
    },
  }),

  listEventSubscriptions: defineRoute({
    ...common,
    method: 'get',
    path: '/event-subscriptions',
    summary: 'List subscriptions',
    description:
      'The subscriptions of the key’s subject, newest first, with the problems of each. Secrets are never listed.',
    auth: reading,
    responses: { 200: json(eventSubscriptionList, 'All subscriptions.') },
    errors: {},
  }),

  testEventSubscription: defineRoute({
    ...common,
    method: 'post',
    path: '/event-subscriptions/{subscription_id}/test',
    summary: 'Send a test event',
    description:
      'Sends an event of type `ping`, signed like every other event. Its result is among the deliveries a moment later.',
    auth: writing,
    params,
    responses: { 202: json(eventPing, 'The ping is queued.') },
    errors: {
      NOT_FOUND: ABSENT,
      CONFLICT: 'The subscription is disabled.',
      RATE_LIMITED: 'The rate limit of the key, or the limit of 30 pings an hour of the subscription.',
    },
  }),

  rotateEventSecret: defineRoute({
    ...common,
    method: 'post',
    path: '/event-subscriptions/{subscription_id}/rotate',
    summary: 'Rotate the secret',
    description: [
      'Creates a new secret, which is shown only in this answer. For 24 hours events are signed with the new secret and',
      'the one before; any older secret ends at once.',
    ].join('\n'),
    auth: writing,
    params,
    responses: { 200: json(eventSubscriptionRotated, 'Rotated. Keep the secret: it is not shown again.') },
    errors: { NOT_FOUND: ABSENT },
  }),

  disableEventSubscription: defineRoute({
    ...common,
    method: 'post',
    path: '/event-subscriptions/{subscription_id}/disable',
    summary: 'Disable a subscription',
    description:
      'Sends no more events. The service keeps events for 30 days, in case the subscription is enabled again. You may repeat the call.',
    auth: writing,
    params,
    responses: { 200: json(eventSubscription, 'Disabled.') },
    errors: { NOT_FOUND: ABSENT },
  }),

  enableEventSubscription: defineRoute({
    ...common,
    method: 'post',
    path: '/event-subscriptions/{subscription_id}/enable',
    summary: 'Enable a subscription',
    description:
      'Continues from the point where the subscription was disabled, whatever the reason; waiting deliveries are tried at once. You may repeat the call.',
    auth: writing,
    params,
    responses: { 200: json(eventSubscription, 'Enabled.') },
    errors: { NOT_FOUND: ABSENT },
  }),

  deleteEventSubscription: defineRoute({
    ...common,
    method: 'post',
    path: '/event-subscriptions/{subscription_id}/delete',
    summary: 'Delete a subscription',
    description: 'Deletes the subscription with its deliveries and its secrets, for good.',
    auth: writing,
    params,
    responses: { 200: json(eventSubscriptionDeleted, 'Deleted.') },
    errors: { NOT_FOUND: ABSENT },
  }),

  listEventDeliveries: defineRoute({
    ...common,
    method: 'get',
    path: '/event-subscriptions/{subscription_id}/deliveries',
    summary: 'List deliveries',
    description: 'Newest first, with the answers of the endpoint. Deliveries are kept for 30 days.',
    auth: reading,
    params,
    query: z.strictObject({ limit: pageLimit, cursor: cursor.optional() }),
    responses: { 200: json(eventDeliveryList, 'A page of deliveries.') },
    errors: { NOT_FOUND: ABSENT, INVALID_REQUEST: 'A bad parameter or cursor.' },
  }),

  replayEvents: defineRoute({
    ...common,
    method: 'post',
    path: '/event-subscriptions/{subscription_id}/replay',
    summary: 'Replay events',
    description: [
      'Sends the subject’s events again, in order and with the same ids, starting at a time or at an event, at most 30',
      'days back. For the time before the subscription was created, these are the events that other subscriptions of',
      'the subject received. More events than requested may arrive, because an event is also found by the time when it',
      'was logged.',
    ].join('\n'),
    auth: writing,
    params,
    body: eventReplayRequest,
    responses: { 202: json(eventSubscription, 'The replay begins within a second.') },
    errors: {
      NOT_FOUND:
        'The subject of this key has no such subscription, or the subscription did not receive this event.',
      RATE_LIMITED: 'The rate limit of the key, or the limit of 10 replays an hour of the subscription.',
      INVALID_REQUEST: 'Name either a time or an event, not both or neither.',
    },
  }),
} as const;
