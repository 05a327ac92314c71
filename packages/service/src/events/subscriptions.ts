/**
 * Webhook subscriptions of a caller's subject: create, read, test, rotate, disable, enable, delete and replay (protocol
 * §15).
 */
import { encodeUlid } from '@svc/protocol';
import { type OrgCaller, orgOfCaller, type PrincipalCaller, type RpCaller } from '../access/caller.ts';
import { lockLiveKey } from '../access/live-key.ts';
import { type AuditAction, auditEvent } from '../audit/audit-event.ts';
import { parseEndpoint } from '../conformance/endpoint.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, internal, invalidRequest, notFound, rateLimited } from '../errors.ts';
import { encodeCursor, type Page, parseCursor, readPage } from '../paging/page.ts';
import type { EventDeliveryRecord } from '../ports/event-deliveries.ts';
import type { EventAudience, EventSubscriptionRecord, EventType } from '../ports/event-subscriptions.ts';
import type { Repositories } from '../ports/store.ts';
import { presentSecret } from './webhook-secrets.ts';

export type Subscriber = RpCaller | PrincipalCaller | OrgCaller;

export interface NewSubscription {
  readonly url: string;
  readonly types: readonly EventType[];
  readonly description: string | null;
  readonly budgetLowPercent: number;
}

export interface WithSecret {
  readonly subscription: EventSubscriptionRecord;
  /** Only the answer that makes the secret contains it. */
  readonly secret: string;
}

const SUBSCRIPTIONS_EACH = 10;
/** Maximum number of pings of one subscription: each is a row that is kept for 30 days. */
const PINGS_PER_HOUR = 30;
/** Maximum number of replays of one subscription: each may send the events of 30 days again. */
const REPLAYS_PER_HOUR = 10;
/** How long the former secret signs beside the new one. */
const OVERLAP_HOURS = 24;

/** `INVALID_REQUEST` for a URL that events are not sent to, and beyond ten subscriptions of one subject. */
export const createSubscription = (
  deps: ServiceDeps,
  caller: Subscriber,
  { url, ...wanted }: NewSubscription,
  requestId: string,
): Promise<WithSecret> => {
  const endpoint = parseSendable(deps, url, 'url');
  const audience = audienceOf(caller);
  const subscriptionId = `whs_${encodeUlid(deps.clock.nowMs(), deps.random.bytes(10))}`;
  const createdBy = caller.keyId;
  return deps.store.transaction(async (tx) => {
    await lockLiveKey(tx, caller);
    if ((await tx.eventSubscriptions.countForUpdate(audience)) >= SUBSCRIPTIONS_EACH)
      throw invalidRequest(
        `${caller.subject} has ${SUBSCRIPTIONS_EACH} subscriptions, which is the limit; delete one that is not needed.`,
      );
    const subscription = await tx.eventSubscriptions.insert(
      { subscriptionId, audience, url: endpoint, createdBy, ...wanted },
      rootOf(deps),
    );
    await auditSubscriber(deps, tx, caller, 'subscription.create', subscriptionId, requestId);
    return withSecret(deps, subscription);
  });
};

/**
 * The URL in its normal form. `member`: the request member that the message names. Throws 400 for a URL that events are
 * not sent to.
 */
export const parseSendable = (
  { identity, mappedHosts, findUrlRefusal }: Pick<ServiceDeps, 'identity' | 'mappedHosts' | 'findUrlRefusal'>,
  text: string,
  member: string,
): string => {
  const url = parseEndpoint(text, identity, mappedHosts, member);
  const refusal = findUrlRefusal(url);
  if (refusal !== null)
    throw invalidRequest(`${member}: ${refusal}; events are sent to https, port 443, of a public host name`);
  return url;
};

/** The newest first. */
export const listSubscriptions = (
  { store }: Pick<ServiceDeps, 'store'>,
  caller: Subscriber,
): Promise<readonly EventSubscriptionRecord[]> => store.eventSubscriptions.list(audienceOf(caller));

/**
 * Sends a test event and returns its id. `RATE_LIMITED` beyond 30 in an hour, `CONFLICT` while the subscription is
 * disabled.
 */
export const pingSubscription = (deps: ServiceDeps, caller: Subscriber, id: string): Promise<string> =>
  deps.store.transaction(async (tx) => {
    await lockLiveKey(tx, caller);
    const { disabledAtMs } = await findOwn(tx, caller, id);
    if (disabledAtMs !== null) throw conflict('The subscription is disabled; enable it first.');
    const ping = await tx.eventSubscriptions.ping(id, PINGS_PER_HOUR);
    if ('eventId' in ping) return ping.eventId;
    throw rateLimited(
      `Too many pings: ${PINGS_PER_HOUR} in an hour for each subscription; try again in ${ping.waitSeconds} s`,
      ping.waitSeconds,
    );
  });

export const rotateSecret = (
  deps: ServiceDeps,
  caller: Subscriber,
  id: string,
  requestId: string,
): Promise<WithSecret & { readonly previousEndsAtMs: number }> =>
  change(deps, caller, id, 'subscription.rotate', requestId, async (tx) => {
    await tx.eventSubscriptions.rotate(id, rootOf(deps), OVERLAP_HOURS);
    const subscription = await findOwn(tx, caller, id);
    const previousEndsAtMs = subscription.secrets[1]?.endsAtMs ?? null;
    if (previousEndsAtMs === null) throw internal(`${id} has no former secret after a rotation`);
    return { isDone: true, result: { ...withSecret(deps, subscription), previousEndsAtMs } };
  });

/** Idempotent. */
export const disableSubscription = (
  deps: ServiceDeps,
  caller: Subscriber,
  id: string,
  requestId: string,
): Promise<EventSubscriptionRecord> =>
  change(deps, caller, id, 'subscription.disable', requestId, async (tx) => {
    const isDone = await tx.eventSubscriptions.disable(id);
    return { isDone, result: await findOwn(tx, caller, id) };
  });

/** Idempotent. */
export const enableSubscription = (
  deps: ServiceDeps,
  caller: Subscriber,
  id: string,
  requestId: string,
): Promise<EventSubscriptionRecord> =>
  change(deps, caller, id, 'subscription.enable', requestId, async (tx) => {
    const isDone = await tx.eventSubscriptions.enable(id);
    return { isDone, result: await findOwn(tx, caller, id) };
  });

export const deleteSubscription = (
  deps: ServiceDeps,
  caller: Subscriber,
  id: string,
  requestId: string,
): Promise<boolean> =>
  change(deps, caller, id, 'subscription.delete', requestId, async (tx) => {
    const isDone = await tx.eventSubscriptions.delete(id);
    return { isDone, result: isDone };
  });

/** The newest first. */
export const listDeliveries = async (
  { store }: Pick<ServiceDeps, 'store'>,
  caller: Subscriber,
  id: string,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<Page<EventDeliveryRecord>> => {
  await findOwn(store, caller, id);
  const before = parseCursor(cursor, isPosition);
  const beforePosition = before === undefined ? undefined : Number(before);
  const list = (rows: number) => store.eventDeliveries.list(id, { beforePosition, limit: rows });
  return readPage(limit, list, ({ position }) => encodeCursor(String(position)));
};

export type ReplayFrom = { readonly sinceMs: number } | { readonly eventId: string };

/**
 * Sends events again, from one event or time on. `NOT_FOUND` for an event that this subscription did not get, or that
 * has been deleted; `RATE_LIMITED` beyond ten replays in an hour.
 */
export const replayEvents = (
  deps: ServiceDeps,
  caller: Subscriber,
  id: string,
  from: ReplayFrom,
): Promise<EventSubscriptionRecord> =>
  deps.store.transaction(async (tx) => {
    await lockLiveKey(tx, caller);
    await findOwn(tx, caller, id);
    const position =
      'eventId' in from
        ? await tx.eventLog.findPositionOf(id, from.eventId)
        : await tx.eventLog.findPositionSince(from.sinceMs);
    if (position === null && 'eventId' in from)
      throw notFound(`No event ${from.eventId} that this subscription was told of.`);
    if (position !== null) {
      const waitSeconds = await tx.eventSubscriptions.countReplay(id, REPLAYS_PER_HOUR);
      if (waitSeconds !== null)
        throw rateLimited(
          `Too many replays: ${REPLAYS_PER_HOUR} in an hour for each subscription; try again in ${waitSeconds} s`,
          waitSeconds,
        );
      await tx.eventSubscriptions.readAgain(id, position);
    }
    return findOwn(tx, caller, id);
  });

export const audienceOf = ({ class: kind, subject }: Subscriber): EventAudience => `${kind} ${subject}`;

const findOwn = async (
  { eventSubscriptions }: Pick<Repositories, 'eventSubscriptions'>,
  caller: Subscriber,
  id: string,
): Promise<EventSubscriptionRecord> => {
  const found = await eventSubscriptions.find(audienceOf(caller), id);
  if (found === null) throw notFound(`No subscription ${id}.`);
  return found;
};

/** `isDone` false: nothing changed, so nothing is audited. */
interface Change<Result> {
  readonly isDone: boolean;
  readonly result: Result;
}

const change = <Result>(
  deps: ServiceDeps,
  caller: Subscriber,
  id: string,
  action: AuditAction,
  requestId: string,
  work: (tx: Repositories) => Promise<Change<Result>>,
): Promise<Result> =>
  deps.store.transaction(async (tx) => {
    await lockLiveKey(tx, caller);
    await findOwn(tx, caller, id);
    const { isDone, result } = await work(tx);
    if (isDone) await auditSubscriber(deps, tx, caller, action, id, requestId);
    return result;
  });

/** Writes the audit event of a change, in the transaction of the change. */
export const auditSubscriber = (
  deps: ServiceDeps,
  tx: Repositories,
  caller: Subscriber,
  action: AuditAction,
  target: string,
  requestId: string,
): Promise<void> =>
  tx.audit.insert(auditEvent(deps, caller, { action, target, requestId, orgId: orgOfCaller(caller) }));

const rootOf = ({ webhookSecrets }: Pick<ServiceDeps, 'webhookSecrets'>): string => {
  if (webhookSecrets.current === null) throw internal('no root of webhook secrets');
  return webhookSecrets.current;
};

const withSecret = (
  { webhookSecrets }: Pick<ServiceDeps, 'webhookSecrets'>,
  subscription: EventSubscriptionRecord,
): WithSecret => {
  const [newest] = subscription.secrets;
  const secret = newest && webhookSecrets.derive(subscription.subscriptionId, newest);
  if (!secret) throw internal(`${subscription.subscriptionId} has no secret`);
  return { subscription, secret: presentSecret(secret) };
};

const isPosition = (text: string | null): text is string => text !== null && /^[1-9][0-9]{0,15}$/.test(text);
