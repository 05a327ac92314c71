/** Prepares one SET for a push endpoint (RFC 8935), and reads its answer. */
import { randomBytes } from 'node:crypto';
import { encodeUlid, type JsonObject, type Signer } from '@svc/protocol';
import type { Prepared, Refusal, WebhookPort } from '../events/post.ts';
import type { WebhookSecrets } from '../events/webhook-secrets.ts';
import { messageOf } from '../lib/message-of.ts';
import type { TakenDelivery, TakenPush } from '../ports/event-deliveries.ts';
import type { DisabledBecause } from '../ports/event-subscriptions.ts';
import { STREAM_UPDATED, type WaitingEvent } from '../ports/streams.ts';
import { openAuthorization } from './authorization.ts';
import { reasonOf } from './reason.ts';
import { SET_TYP, setClaims, signSet } from './set.ts';
import { withoutAuthorization } from './without-authorization.ts';

export interface PushDeps {
  readonly secrets: WebhookSecrets;
  readonly identity: {
    readonly baseUrl: string;
    readonly did: string;
    readonly statusKeys: { readonly signer: Signer };
  };
}

export type PushDelivery = Pick<TakenDelivery, 'subscriptionId' | 'url'> & { readonly push: TakenPush };

/** Maximum size of a whole error answer: `err` and `description`, with a margin. */
const ERROR_BYTES = 8_192;
const ERR_CHARS = 128;
const DESCRIPTION_CHARS = 1_024;

/** The request to send. `missing`: why nothing can be sent; the reason lies in this service. */
export const preparePush = async (
  deps: PushDeps,
  delivery: PushDelivery,
  event: WaitingEvent,
): Promise<Prepared | { readonly missing: string }> => {
  if (delivery.push.isOfClaim) return { missing: 'its aud is a DID that is claimed, and not proven' };
  const authorization = authorizationOf(deps, delivery);
  if (authorization === null) return { missing: 'the root under which its authorization is sealed is gone' };
  const { identity } = deps;
  const stream = { streamId: delivery.subscriptionId, audience: delivery.push.audience };
  try {
    const body = await signSet(identity.statusKeys.signer, setClaims(event, stream, identity));
    const headers: Readonly<Record<string, string>> = authorization === '' ? {} : { authorization };
    return {
      request: { body, headers, contentType: `application/${SET_TYP}`, errorBytes: ERROR_BYTES },
      isTaken: (status) => status === ACCEPTED,
      expected: '202 is expected',
      refusalIn: (error) => refusalIn(error, authorization),
    };
  } catch (error) {
    return { missing: messageOf(error) };
  }
};

const ACCEPTED = 202;

/** The header; empty when the receiver wants none, null when it cannot be opened. */
const authorizationOf = (
  { secrets }: PushDeps,
  { subscriptionId: streamId, url, push }: PushDelivery,
): string | null =>
  push.authorization === null ? '' : openAuthorization(secrets, { streamId, url }, push.authorization);

/** The codes of RFC 8935 §2.4 that concern the SET itself. The other codes concern keys and access, which change. */
const FINAL: readonly string[] = ['invalid_request', 'invalid_issuer', 'invalid_audience'];

/** What a 400 says (RFC 8935 §2.3); null when it is not in that form. A text that repeats the header is not kept. */
const refusalIn = (error: string, authorization: string): Refusal | null => {
  const { err, description } = parseObject(error) ?? {};
  if (typeof err !== 'string' || err === '') return null;
  const said = typeof description === 'string' ? description : '';
  const clean = (text: string, most: number) =>
    [...withoutAuthorization(text, authorization)].slice(0, most).join('');
  const problem = `refused: ${clean(err, ERR_CHARS)} ${clean(said, DESCRIPTION_CHARS)}`;
  return { problem: problem.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trimEnd(), isFinal: FINAL.includes(err) };
};

const parseObject = (text: string): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : null;
  } catch {
    return null;
  }
};

/**
 * Tells the receiver that the service itself has paused the stream, by a stream-updated event (SSF 1.0 §8.1.5). It is
 * sent once; a receiver that does not get it can read the status.
 */
export const tellPaused = async (
  deps: PushDeps & { readonly webhooks: WebhookPort; readonly clock: { nowMs(): number } },
  delivery: PushDelivery,
  disabledBecause: DisabledBecause,
  lastProblem: string | null,
): Promise<void> => {
  const occurredAtMs = deps.clock.nowMs();
  const reason = reasonOf({ reason: null, disabledBecause, lastProblem });
  const prepared = await preparePush(deps, delivery, {
    eventId: `evt_${encodeUlid(occurredAtMs, randomBytes(10))}`,
    type: STREAM_UPDATED,
    occurredAtMs,
    data: JSON.stringify({ status: 'paused', reason }),
  });
  if ('request' in prepared) await deps.webhooks.post(delivery.url, prepared.request);
};
