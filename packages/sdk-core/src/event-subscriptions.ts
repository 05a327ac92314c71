/**
 * Subscriptions to events, and the results of their deliveries (protocol §15). `verifyWebhook` reads the events that
 * arrive.
 */
import type { JsonValue } from '@svc/codec';
import { isSubscriptionId } from '@svc/protocol';
import { instant } from './account.ts';
import {
  anInteger,
  aText,
  aTextList,
  checkValue,
  isObject,
  optionally,
  type Rules,
  readArgument,
  rule,
} from './arguments.ts';
import type { CallOptions } from './call-options.ts';
import { SvcError } from './errors.ts';
import { iteratePages } from './pages.ts';
import type { Reader } from './read.ts';
import {
  readEventDeliveryList,
  readEventPing,
  readEventSubscription,
  readEventSubscriptionCreated,
  readEventSubscriptionDeleted,
  readEventSubscriptionList,
  readEventSubscriptionRotated,
} from './readers.generated.ts';
import type { Transport } from './transport.ts';
import type {
  EventDelivery,
  EventDeliveryList,
  EventPing,
  EventSubscription,
  EventSubscriptionCreated,
  EventSubscriptionDeleted,
  EventSubscriptionRotated,
  EventType,
} from './wire.generated.ts';

/** Which events to send, and where. */
export interface NewEventSubscription {
  /** https, port 443, a public host. */
  url: string;
  types: readonly EventType[];
  description?: string;
  /** The remaining share of a total, in percent, at which `budget.low` is sent; 20 unless given. */
  budgetLowPercent?: number;
}

/** The start of a replay: an instant, or an event, which is included. */
export type ReplayFrom =
  | { since: Date | string; eventId?: undefined }
  | { eventId: string; since?: undefined };

/** The subscriptions of the caller's own subject, at most ten. */
export interface EventSubscriptions {
  /**
   * Subscribes to events from now on. `secret` is returned only here: pass it to `verifyWebhook`.
   * @throws SvcError The call is never repeated. After `outcome-unknown` or a 503 a subscription may exist whose secret
   * was lost: list the subscriptions and delete it.
   */
  create(request: NewEventSubscription, options?: CallOptions): Promise<EventSubscriptionCreated>;
  /** Newest first, with the problems of each subscription. Secrets are never returned. */
  list(options?: CallOptions): Promise<EventSubscription[]>;
  /** Sends a `ping`; a moment later `deliveries` shows its result. */
  test(subscriptionId: string, options?: CallOptions): Promise<EventPing>;
  /**
   * Makes a new secret, returned only here. The previous secret works until `previous_ends_at`: give `verifyWebhook`
   * both until then.
   * @throws SvcError The call is never repeated: a second rotation would end the secret in use. After `outcome-unknown`
   * or a 503 create a new subscription, give its secret to `verifyWebhook`, and delete this one.
   */
  rotate(subscriptionId: string, options?: CallOptions): Promise<EventSubscriptionRotated>;
  /** Stops sending; the service keeps events for 30 days for `enable`. Repeatable. */
  disable(subscriptionId: string, options?: CallOptions): Promise<EventSubscription>;
  /** Resumes at the event where the subscription was disabled, by you or by the service. Repeatable. */
  enable(subscriptionId: string, options?: CallOptions): Promise<EventSubscription>;
  /**
   * Deletes the subscription with its secrets and deliveries, for good.
   * @throws SvcError `refused` (`NOT_FOUND`) if it was already deleted
   */
  delete(subscriptionId: string, options?: CallOptions): Promise<EventSubscriptionDeleted>;
  /** The answer to each event, newest first. Pages are fetched as the list is consumed. */
  deliveries(
    subscriptionId: string,
    filter?: { limit?: number },
    options?: CallOptions,
  ): AsyncGenerator<EventDelivery, void, undefined>;
  /** One page of the list; `next_cursor` is the `cursor` of the next page, null on the last one. */
  deliveriesPage(
    subscriptionId: string,
    filter?: { limit?: number; cursor?: string },
    options?: CallOptions,
  ): Promise<EventDeliveryList>;
  /**
   * Sends the events since `from` again, in order and with the same ids: at most 30 days back, and ten replays an hour.
   */
  replay(subscriptionId: string, from: ReplayFrom, options?: CallOptions): Promise<EventSubscription>;
}

const PATH = '/event-subscriptions';
const aSubscriptionId = rule(
  'the subscription_id of a subscription, whs_ and 26 characters',
  isSubscriptionId,
);
const eventTypes = aTextList('event types, such as "decision.deny"', 1, 32);
const NEW: Rules<NewEventSubscription> = {
  url: aText('the address of your endpoint, https://…'),
  types: rule(eventTypes.what, (value): value is readonly EventType[] => eventTypes.isMet(value)),
  description: optionally(aText()),
  budgetLowPercent: optionally(anInteger(1, 99, 'percent')),
};
const aBeginning = rule(
  '{ since } or { eventId }',
  (value): value is ReplayFrom =>
    isObject(value) && (value.since === undefined) !== (value.eventId === undefined),
);

export function createEventSubscriptions(transport: Transport): EventSubscriptions {
  const post = async <Answer extends { subscription_id: string }>(
    id: string,
    action: string,
    read: Reader<Answer>,
    { body, isOnceOnly = false, ...call }: CallOptions & { body?: JsonValue; isOnceOnly?: boolean },
  ): Promise<Answer> => {
    checkValue('subscriptionId', id, aSubscriptionId);
    const answer = await transport.send({
      method: 'POST',
      path: `${PATH}/${id}/${action}`,
      ...(body === undefined ? {} : { body }),
      ...{ hasEffect: true, isOnceOnly, mayBePending: true },
      ...call,
    });
    const about = read(answer.body, 'the answer');
    if (about.subscription_id === id) return about;
    throw new SvcError('bad-response', 'the service answered about another subscription', answer);
  };
  const deliveriesPage: EventSubscriptions['deliveriesPage'] = async (id, filter = {}, call = {}) => {
    checkValue('subscriptionId', id, aSubscriptionId);
    const path = `${PATH}/${id}/deliveries`;
    const query = { ...filter };
    return readEventDeliveryList(
      (await transport.send({ method: 'GET', path, query, hasEffect: false, ...call })).body,
      'the page',
    );
  };
  return {
    async create(asked, call = {}) {
      const { budgetLowPercent, types, ...request } = readArgument<NewEventSubscription>(
        'subscriptions.create',
        asked,
        NEW,
      );
      const low = budgetLowPercent === undefined ? {} : { budget_low_percent: budgetLowPercent };
      const body = { ...request, types: [...types], ...low };
      const sent = { method: 'POST', path: PATH, body, hasEffect: true, isOnceOnly: true } as const;
      return readEventSubscriptionCreated(
        (await transport.send({ ...sent, ...call })).body,
        'the subscription',
      );
    },
    async list(call = {}) {
      const { body } = await transport.send({ method: 'GET', path: PATH, hasEffect: false, ...call });
      return readEventSubscriptionList(body, 'the list').subscriptions;
    },
    test: (id, call = {}) => post(id, 'test', readEventPing, call),
    rotate: (id, call = {}) =>
      post(id, 'rotate', readEventSubscriptionRotated, { ...call, isOnceOnly: true }),
    disable: (id, call = {}) => post(id, 'disable', readEventSubscription, call),
    enable: (id, call = {}) => post(id, 'enable', readEventSubscription, call),
    delete: (id, call = {}) => post(id, 'delete', readEventSubscriptionDeleted, call),
    deliveriesPage,
    deliveries: (id, filter = {}, call = {}) =>
      iteratePages(
        (cursor) => deliveriesPage(id, { ...filter, ...cursor }, call),
        ({ deliveries }) => deliveries,
      ),
    replay: async (id, from, call = {}) => {
      checkValue('from', from, aBeginning);
      const { since, eventId } = from;
      const body = eventId === undefined ? instant('since', since) : { event_id: eventId };
      return post(id, 'replay', readEventSubscription, { ...call, body });
    },
  };
}
