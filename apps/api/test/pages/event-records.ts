/** The service's answers about event subscriptions: two that exist, and those that a test makes. */
import type { Body, Routes } from '@svc/contract';
import { ApiError } from '../../src/http/api-error.ts';
import type { Served } from './serve.ts';

type Subscription = Body<Routes['listEventSubscriptions'], 200>['subscriptions'][number];
type Delivery = Body<Routes['listEventDeliveries'], 200>['deliveries'][number];

const AT = '2026-11-20T16:12:09.000Z';
const idOf = (i: number) =>
  `whs_01M7VZGC008Q2R7V9X1C4E6H${String(10 + i)}` as Subscription['subscription_id'];
const eventOf = (i: number) => `evt_01M7VZGC008Q2R7V9X1C4E6H${String(10 + i)}` as Delivery['event_id'];
export const SECRET = `whsec_${'SECRET/+'.repeat(5)}EXA=`;

const subscription = (i: number, more: Partial<Subscription>): Subscription => ({
  subscription_id: idOf(i),
  url: `https://acme.example/hooks/${i}`,
  description: null,
  types: ['decision.deny', 'grant.revoked'],
  budget_low_percent: 20,
  created_at: AT,
  created_by: '3fa1c09be742' as never,
  state: 'active',
  ...{ failing_since: null, last_problem: null, disabled_at: null, disabled_because: null },
  waiting: 0,
  secrets: [{ number: 1, ends_at: null }],
  ...more,
});

const delivery = (i: number, more: Partial<Delivery>): Delivery => ({
  event_id: eventOf(i),
  type: 'decision.deny',
  state: 'delivered',
  attempts: 1,
  ...{ last_attempt_at: AT, last_status: 204, last_problem: null, next_attempt_at: null },
  ...more,
});

/** A delivery to an endpoint that has answered 503 to all attempts so far, if there were any. */
export const waitingDelivery = (attempts: number, nextAttemptAt: string): Delivery =>
  delivery(0, {
    ...{ state: 'waiting', attempts, next_attempt_at: nextAttemptAt },
    ...(attempts === 0
      ? { last_attempt_at: null, last_status: null }
      : { last_status: 503, last_problem: 'answered 503' }),
  });

export const eventHandlers = (existing: readonly Subscription[]) => {
  const asked: unknown[] = [];
  let all = [...existing];
  let deliveries: Delivery[] = [
    delivery(0, {}),
    delivery(1, {
      ...{ type: 'budget.low', state: 'waiting', attempts: 3, last_status: 503 },
      ...{ last_problem: 'answered 503', next_attempt_at: '2026-11-20T16:42:09.000Z' },
    }),
    delivery(2, { state: 'failed', attempts: 10, last_status: null, last_problem: 'no answer within 15 s' }),
  ];
  const find = (id: string): Subscription => {
    const found = all.find(({ subscription_id: one }) => one === id);
    if (found === undefined) throw new ApiError('NOT_FOUND', 'No such subscription.');
    return found;
  };
  const set = (id: string, more: Partial<Subscription>) => {
    all = all.map((one) => (one.subscription_id === id ? { ...one, ...more } : one));
    return { status: 200, body: find(id) } as const;
  };
  const handlers: NonNullable<Served['handlers']> = {
    listEventSubscriptions: async () => ({ status: 200, body: { subscriptions: all } }),
    createEventSubscription: async ({ body }) => {
      asked.push({ create: body });
      if (body.url.startsWith('https://10.'))
        throw new ApiError('INVALID_REQUEST', 'url: must be of a public host');
      const made = subscription(all.length, { ...body, description: body.description ?? null });
      all = [made, ...all];
      return { status: 201, body: { ...made, secret: SECRET } };
    },
    testEventSubscription: async ({ params: { subscription_id: id } }) => {
      asked.push({ test: id });
      deliveries = [delivery(9, { type: 'ping' }), ...deliveries];
      return { status: 202, body: { subscription_id: id, event_id: eventOf(9) } };
    },
    rotateEventSecret: async ({ params: { subscription_id: id } }) => {
      asked.push({ rotate: id });
      return {
        status: 200,
        body: { subscription_id: id, secret: SECRET, previous_ends_at: '2026-11-21T16:12:09.000Z' },
      };
    },
    disableEventSubscription: async ({ params: { subscription_id: id } }) => {
      asked.push({ disable: id });
      return set(id, { state: 'disabled', disabled_because: 'owner', disabled_at: AT });
    },
    enableEventSubscription: async ({ params: { subscription_id: id } }) => {
      asked.push({ enable: id });
      return set(id, { state: 'active', disabled_because: null, disabled_at: null });
    },
    deleteEventSubscription: async ({ params: { subscription_id: id } }) => {
      asked.push({ delete: id });
      find(id);
      all = all.filter(({ subscription_id: one }) => one !== id);
      return { status: 200, body: { subscription_id: id, deleted: true } };
    },
    listEventDeliveries: async () => ({ status: 200, body: { deliveries, next_cursor: null } }),
    replayEvents: async ({ params: { subscription_id: id }, body }) => {
      asked.push({ replay: id, since: body.since });
      return { status: 202, body: find(id) };
    },
  };
  return { handlers, asked };
};

export const SUBSCRIPTIONS = [
  subscription(1, {
    description: 'accounting',
    types: ['decision.allow', 'decision.deny', 'budget.low', 'grant.revoked'],
  }),
  subscription(2, {
    ...{ state: 'failing', failing_since: AT, last_problem: 'answered 503', waiting: 12 },
    types: ['approval.requested'],
  }),
];
