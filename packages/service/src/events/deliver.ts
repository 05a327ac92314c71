/** Makes one attempt to deliver one event, and acts on its answer. */

import { parseRetryAfter } from '@svc/codec';
import { messageOf } from '../lib/message-of.ts';
import type { DeliveryOutcome, EventDeliveryRepository, TakenDelivery } from '../ports/event-deliveries.ts';
import type { Log } from '../ports/platform.ts';
import type { WaitingEvent } from '../ports/streams.ts';
import type { ServiceIdentity } from '../service-keys/service-identity.ts';
import { preparePush, tellPaused } from '../ssf/push.ts';
import { DISABLED_AFTER_DAYS, type PostAnswer, type Prepared, type WebhookPort } from './post.ts';
import { signWebhook, webhookBody } from './sign-webhook.ts';
import type { WebhookSecrets } from './webhook-secrets.ts';

export interface DeliveryDeps {
  readonly eventDeliveries: Pick<EventDeliveryRepository, 'noteOutcome' | 'release' | 'disableFailing'>;
  readonly webhooks: WebhookPort;
  readonly secrets: WebhookSecrets;
  /** Subscriptions for which it has been logged that the root of one of their secrets is missing. */
  readonly rootMissing: Set<string>;
  readonly identity: Pick<ServiceIdentity, 'baseUrl'> & {
    readonly did: string;
    readonly statusKeys: Pick<ServiceIdentity['statusKeys'], 'signer'>;
  };
  readonly clock: { nowMs(): number };
  readonly log: Log;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** Wait after each attempt but the last, in seconds; 72 hours in all. */
export const RETRY_SECONDS = [
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  20 * HOUR + 24 * MINUTE,
] as const;
/** Each wait is shortened by up to this fraction, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;
const AFTER_NO_SIGNATURE_SECONDS = 30;

/** `rejected`: answered with a status other than success. `unanswered`: no connection, or no answer in time. */
export type AttemptOutcome = 'delivered' | 'rejected' | 'unanswered' | 'not_signed';

/**
 * Makes one attempt. Rejects with `StoreError`, and with errors that kept `webhooks` from sending at all, such as a
 * refused system call. Those say nothing about the endpoint, so they do not count as an attempt: the delivery is taken
 * again when its lease is over.
 */
export const deliver = async (deps: DeliveryDeps, delivery: TakenDelivery): Promise<AttemptOutcome> => {
  const { eventDeliveries, webhooks, log } = deps;
  const { push } = delivery;
  const prepared =
    push === null
      ? await sign(deps, delivery)
      : await preparePush(deps, { ...delivery, push }, delivery as WaitingEvent);
  if ('missing' in prepared) {
    const isFirst = await eventDeliveries.release(delivery, AFTER_NO_SIGNATURE_SECONDS);
    const { subscriptionId: subscription_id } = delivery;
    if (isFirst) log.error('webhook.not_signed', { subscription_id, reason: prepared.missing });
    return 'not_signed';
  }
  const answer = await webhooks.post(delivery.url, prepared.request);
  const outcome = outcomeOf(answer, prepared, delivery.attempts, deps.clock.nowMs());
  const disabled = await eventDeliveries.noteOutcome(delivery, outcome, DISABLED_AFTER_DAYS);
  if (disabled !== null) {
    log.warn('webhook.disabled', { subscription_id: delivery.subscriptionId, because: disabled });
    if (push !== null) await tellPaused(deps, { ...delivery, push }, disabled, outcome.problem);
  }
  if (outcome.isDelivered) return 'delivered';
  return outcome.status === null ? 'unanswered' : 'rejected';
};

/**
 * Disables at most `limit` of the endpoints that have failed for days, also those for which no event waits. Returns for
 * each pushed stream a function that tells its receiver; that takes as long as an attempt.
 */
export const disableFailing = async (
  deps: DeliveryDeps,
  limit: number,
  pushes: boolean,
): Promise<readonly (() => Promise<void>)[]> => {
  const { eventDeliveries, clock, log } = deps;
  const of = { afterDays: DISABLED_AFTER_DAYS, pushes, nowMs: clock.nowMs() };
  const failed = await eventDeliveries.disableFailing(limit, of);
  for (const { subscriptionId } of failed)
    log.warn('webhook.disabled', { subscription_id: subscriptionId, because: 'failing' });
  return failed.flatMap(({ push, lastProblem, ...endpoint }) =>
    push === null ? [] : [() => tellPaused(deps, { ...endpoint, push }, 'failing', lastProblem)],
  );
};

/**
 * The signed webhook. `missing`: no secret can be derived, or the signer is unavailable. Without `v1a` nothing is sent,
 * because receivers that check it would refuse the message.
 */
const sign = async (
  { secrets, rootMissing, identity, clock, log }: DeliveryDeps,
  delivery: TakenDelivery,
): Promise<Prepared | { readonly missing: string }> => {
  const derived = delivery.secrets.flatMap((secret) => secrets.derive(delivery.subscriptionId, secret) ?? []);
  if (derived.length === 0) return { missing: 'no root of its secret' };
  if (derived.length < delivery.secrets.length && !rootMissing.has(delivery.subscriptionId)) {
    rootMissing.add(delivery.subscriptionId);
    log.warn('webhook.root_missing', { subscription_id: delivery.subscriptionId });
  }
  const atSeconds = Math.floor(clock.nowMs() / 1000);
  const message = { id: delivery.eventId, atSeconds, body: webhookBody(delivery) };
  try {
    const { body, headers } = await signWebhook(message, derived, identity.statusKeys.signer);
    return {
      request: { body, headers, contentType: 'application/json', errorBytes: 0 },
      isTaken: (status) => status >= 200 && status <= 299,
      expected: '200 to 299 is expected',
      refusalIn: () => null,
    };
  } catch (error) {
    return { missing: messageOf(error) };
  }
};

const GONE = 410;
/** Too Many Requests and Service Unavailable: with these a host may say when to retry. */
const COME_AGAIN: readonly number[] = [429, 503];

const BAD_REQUEST = 400;

const outcomeOf = (
  answer: PostAnswer,
  { isTaken, expected, refusalIn }: Prepared,
  attempts: number,
  nowMs: number,
): DeliveryOutcome => {
  const status = 'status' in answer ? answer.status : null;
  const isDelivered = status !== null && isTaken(status);
  const refusal = 'status' in answer && answer.status === BAD_REQUEST ? refusalIn(answer.error) : null;
  const wait = refusal?.isFinal ? undefined : RETRY_SECONDS[attempts];
  const askedSeconds = waitAskedFor(answer, nowMs);
  return {
    isDelivered,
    isGone: status === GONE,
    status,
    problem: isDelivered ? null : (refusal?.problem ?? describe(answer, expected)),
    retrySeconds:
      isDelivered || wait === undefined ? null : Math.max(wait * (1 - JITTER * Math.random()), askedSeconds),
    endpointWaitSeconds: askedSeconds,
  };
};

/** The wait that the answer asks for, in seconds; 0 for none. It is at most the longest wait between attempts. */
const waitAskedFor = (answer: PostAnswer, nowMs: number): number => {
  if (!('status' in answer) || !COME_AGAIN.includes(answer.status)) return 0;
  return Math.min(parseRetryAfter(answer.retryAfter, nowMs) ?? 0, Math.max(...RETRY_SECONDS));
};

const describe = (answer: PostAnswer, expected: string): string => {
  if ('problem' in answer) return answer.problem;
  const { status } = answer;
  return status >= 300 && status <= 399
    ? `answered ${status}: redirects are not followed, name the new address`
    : `answered ${status}: ${expected}`;
};
