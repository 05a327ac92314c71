/** Subscriptions to events, and deliveries (protocol §15). Only the answer that makes a secret contains it. */
import { EVENT_TYPES } from '@svc/protocol';
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import {
  apiKeyId,
  eventId,
  integer,
  label,
  subscriptionId,
  timestamp,
  timestampOfAnySpelling,
  url,
} from '../formats.ts';

const SUBSCRIPTION_ID = 'whs_01M7VZGC008Q2R7V9X1C4E6H8R';
const EVENT_ID = 'evt_01M7VZGC008Q2R7V9X1C4E6H8K';
const SECRET = `whsec_${'EXAMPLE/'.repeat(5)}EXA=`;

const eventType = z.enum(EVENT_TYPES, { error: 'must be an event type such as decision.deny' }).meta({
  id: 'EventType',
  description: 'The type of event. Later versions of the service may have more types.',
});

const deliveredType = z
  .enum([...EVENT_TYPES, 'ping'])
  .meta({ id: 'DeliveredEventType', description: 'A type of event, or `ping`.' });

const percent = integer(1, 99).meta({
  description: 'The remaining percentage of a `maxTotal` at which `budget.low` is sent.',
});

export const eventSubscriptionRequest = z
  .strictObject({
    url: url(2048).meta({
      description: 'Where events are sent: https, port 443, a public host that is not the service’s.',
    }),
    types: z
      .array(eventType, { error: 'must be a list of event types' })
      .min(1, { error: 'must name at least one event type' })
      .max(EVENT_TYPES.length, { error: `must name at most ${EVENT_TYPES.length} event types` })
      .refine((types) => new Set(types).size === types.length, { error: 'must name each event type once' })
      .meta({ uniqueItems: true }),
    description: label.optional(),
    budget_low_percent: percent.default(20),
  })
  .meta({
    id: 'EventSubscriptionRequest',
    example: { url: 'https://shop.example/hooks/svc', types: ['decision.deny', 'grant.revoked'] },
  });

const secrets = z
  .array(
    z.strictObject({
      number: integer(1, 1_000_000_000),
      ends_at: timestamp.nullable().meta({ description: 'Null: it has no end until it is rotated.' }),
    }),
  )
  .meta({ description: 'The secrets that sign events, newest first; at most two.' });

const members = {
  subscription_id: subscriptionId,
  url: z.string(),
  description: z.string().nullable(),
  types: z.array(eventType),
  budget_low_percent: percent,
  created_at: timestamp,
  created_by: apiKeyId.nullable().meta({ description: 'The API key that created the subscription.' }),
  state: z.enum(['active', 'failing', 'disabled']),
  failing_since: timestamp.nullable().meta({ description: 'The time since which no attempt has succeeded.' }),
  last_problem: z.string().nullable().meta({ description: 'Why the latest failed attempt failed.' }),
  disabled_at: timestamp.nullable(),
  disabled_because: z
    .enum(['owner', 'failing', 'gone'])
    .nullable()
    .meta({ description: '`failing`: attempts failed for five days. `gone`: the endpoint answered 410.' }),
  waiting: integer(0, 1_000_000).meta({ description: 'The number of open deliveries.' }),
  secrets,
};

const example = {
  subscription_id: SUBSCRIPTION_ID,
  url: 'https://shop.example/hooks/svc',
  description: null,
  types: ['decision.deny', 'grant.revoked'],
  budget_low_percent: 20,
  created_at: EXAMPLE.at,
  created_by: EXAMPLE.keyId,
  state: 'active',
  failing_since: null,
  last_problem: null,
  disabled_at: null,
  disabled_because: null,
  waiting: 0,
  secrets: [{ number: 1, ends_at: null }],
};

export const eventSubscription = z.strictObject(members).meta({
  id: 'EventSubscription',
  description: 'An endpoint of a subject, and the event types that it receives.',
  example,
});

const secret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{43}=$/)
  .meta({ description: 'The secret itself. It is shown only in this answer.' });

export const eventSubscriptionCreated = z.strictObject({ ...members, secret }).meta({
  id: 'EventSubscriptionCreated',
  description: 'A new subscription, with its secret.',
  example: { ...example, secret: SECRET },
});

export const eventSubscriptionRotated = z
  .strictObject({ subscription_id: subscriptionId, secret, previous_ends_at: timestamp })
  .meta({
    id: 'EventSubscriptionRotated',
    description: 'A new secret, and the time until which the one before it is valid.',
    example: { subscription_id: SUBSCRIPTION_ID, secret: SECRET, previous_ends_at: EXAMPLE.at },
  });

export const eventSubscriptionDeleted = z
  .strictObject({ subscription_id: subscriptionId, deleted: z.literal(true) })
  .meta({
    id: 'EventSubscriptionDeleted',
    description: 'The deleted subscription.',
    example: { subscription_id: SUBSCRIPTION_ID, deleted: true },
  });

export const eventSubscriptionList = z
  .strictObject({ subscriptions: z.array(eventSubscription) })
  .meta({ id: 'EventSubscriptionList', example: { subscriptions: [example] } });

export const eventPing = z.strictObject({ subscription_id: subscriptionId, event_id: eventId }).meta({
  id: 'EventPing',
  description: 'A queued ping.',
  example: { subscription_id: SUBSCRIPTION_ID, event_id: EVENT_ID },
});

export const eventDeliveryList = z
  .strictObject({
    deliveries: z.array(
      z
        .strictObject({
          event_id: eventId,
          type: deliveredType,
          state: z
            .enum(['waiting', 'delivered', 'failed'])
            .meta({ description: '`failed`: it is not retried, unless it is replayed.' }),
          attempts: integer(0, 1_000_000),
          last_attempt_at: timestamp.nullable(),
          last_status: z
            .int()
            .nullable()
            .meta({ description: 'The HTTP status of the answer; null: there was no answer.' }),
          last_problem: z.string().nullable(),
          next_attempt_at: timestamp.nullable(),
        })
        .meta({ id: 'EventDelivery', description: 'The state of one event at one endpoint.' }),
    ),
    next_cursor: z.string().nullable(),
  })
  .meta({
    id: 'EventDeliveryList',
    description: 'A page of deliveries, newest first.',
    example: {
      deliveries: [
        {
          event_id: EVENT_ID,
          type: 'decision.deny',
          state: 'delivered',
          attempts: 1,
          last_attempt_at: EXAMPLE.at,
          last_status: 204,
          last_problem: null,
          next_attempt_at: null,
        },
      ],
      next_cursor: null,
    },
  });

export const eventReplayRequest = z
  .strictObject({
    since: timestampOfAnySpelling.optional().meta({ description: 'The first instant that is replayed.' }),
    event_id: eventId.optional().meta({ description: 'The first event that is replayed.' }),
  })
  .refine(({ since, event_id: id }) => (since === undefined) !== (id === undefined), {
    error: 'must name one of since and event_id',
  })
  .meta({ id: 'EventReplayRequest', example: { since: EXAMPLE.at } });
