/** Events told to endpoints that their subscribers name (protocol §15). */
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
const ABSENT = 'No such subscription of this key’s subject.';
/** What each route has in common. */
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
      'Names an endpoint that is told of what happens from now on, as Standard Webhooks 1.0.0. An RP key hears of its own',
      'decisions and of revocations of Grants that it has verified, a Principal key of decisions on Grants that it has signed,',
      'an org key of its members’. The secret is shown only in this answer. Ten subscriptions for each subject.',
    ].join('\n'),
    auth: writing,
    body: eventSubscriptionRequest,
    responses: { 201: json(eventSubscriptionCreated, 'Subscribed. Keep the secret: it is not shown again.') },
    errors: {
      INVALID_REQUEST:
        'The URL is not https, port 443, of a public host name, carries credentials, or is of the service; or there are ten already.',
    },
  }),

  listEventSubscriptions: defineRoute({
    ...common,
    method: 'get',
    path: '/event-subscriptions',
    summary: 'List subscriptions',
    description:
      'The subscriptions of the key’s subject, the newest first: with what is wrong with each, and never a secret.',
    auth: reading,
    responses: { 200: json(eventSubscriptionList, 'All of them.') },
    errors: {},
  }),

  testEventSubscription: defineRoute({
    ...common,
    method: 'post',
    path: '/event-subscriptions/{subscription_id}/test',
    summary: 'Send a test event',
    description:
      'Sends an event of type `ping`, signed as every other. What came of it is among the deliveries a moment later.',
    auth: writing,
    params,
    responses: { 202: json(eventPing, 'It is on its way.') },
    errors: {
      NOT_FOUND: ABSENT,
      CONFLICT: 'The subscription is disabled.',
      RATE_LIMITED: 'The limit of the key, or the 30 pings of an hour that a subscription has.',
    },
  }),

  rotateEventSecret: defineRoute({
    ...common,
    method: 'post',
    path: '/event-subscriptions/{subscription_id}/rotate',
    summary: 'Rotate the secret',
    description: [
      'Makes a new secret, shown only in this answer. For 24 hours events are signed with it and with the one before; a third',
      'ends at once.',
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
      'Nothing more is sent. Events are kept for 30 days for when it is enabled again. Harmless when repeated.',
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
      'Goes on where it was disabled, whatever the reason; what waits is tried at once. Harmless when repeated.',
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
    description: 'With its deliveries and its secrets, for good.',
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
    description: 'The newest first, with what was answered. Deliveries are kept for 30 days.',
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
      'Sends again, in order and with the same ids, what the subject was told from a time or from an event on: 30 days back at',
      'most. From before the subscription was made that is what others of the subject were told. More than was asked for may come,',
      'since an event is also found by when it was logged.',
    ].join('\n'),
    auth: writing,
    params,
    body: eventReplayRequest,
    responses: { 202: json(eventSubscription, 'It begins within a second.') },
    errors: {
      NOT_FOUND: 'No such subscription of this key’s subject, or it was not told of this event.',
      RATE_LIMITED: 'The limit of the key, or the 10 replays of an hour that a subscription has.',
      INVALID_REQUEST: 'Neither a time nor an event is named, or both.',
    },
  }),
} as const;
