/** Streams of a caller's subject: create, read, change, pause, disable, verify and delete (protocol §17). */
import { isDeepStrictEqual } from 'node:util';
import { encodeUlid } from '@svc/protocol';
import { lockLiveKey } from '../access/live-key.ts';
import type { AuditAction } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, forbidden, invalidRequest, notFound, rateLimited } from '../errors.ts';
import { audienceOf, auditSubscriber, type Subscriber } from '../events/subscriptions.ts';
import type { Repositories } from '../ports/store.ts';
import type { StreamDelivery, StreamRecord, StreamStatus } from '../ports/streams.ts';
import { type DeliveryRequest, deliveryOf } from './delivery.ts';
import { audienceClaimOf, eventUris, typesOf } from './set.ts';

const STREAMS_EACH = 5;
/** Minimum number of seconds between two verifications of one stream. */
export const VERIFIED_EVERY_SECONDS = 30;

/** The members that a receiver may set; an absent member says nothing. */
export interface StreamRequest {
  readonly events_requested?: readonly string[] | undefined;
  readonly delivery?: DeliveryRequest | undefined;
  readonly description?: string | undefined;
}

/** The members that a receiver may send in a change, including those that it has read from the service. */
export interface StreamChange extends StreamRequest {
  readonly stream_id: string;
  readonly iss?: string | undefined;
  readonly aud?: string | readonly string[] | undefined;
  readonly events_supported?: readonly string[] | undefined;
  readonly events_delivered?: readonly string[] | undefined;
  readonly min_verification_interval?: number | undefined;
}

/** `CONFLICT` beyond five of one subject, `FORBIDDEN` for a DID that is only claimed. */
export const createStream = (
  deps: ServiceDeps,
  caller: Subscriber,
  wanted: StreamRequest,
  requestId: string,
): Promise<StreamRecord> => {
  const audience = audienceOf(caller);
  const streamId = `ssf_${encodeUlid(deps.clock.nowMs(), deps.random.bytes(10))}`;
  const delivery = deliveryOf(deps, streamId, wanted.delivery, null);
  return deps.store.transaction(async (tx) => {
    await lockLiveKey(tx, caller);
    if ((await tx.streams.countForUpdate(audience)) >= STREAMS_EACH)
      throw conflict(
        `${caller.subject} has ${STREAMS_EACH} streams, which is the limit; use one of them, or delete one.`,
      );
    const wishes = wishesOf(deps, delivery, wanted);
    const stream = await tx.streams.insert({ streamId, audience, createdBy: caller.keyId, ...wishes });
    assertProven(stream);
    await auditSubscriber(deps, tx, caller, 'stream.create', streamId, requestId);
    return stream;
  });
};

/** The streams of the caller's subject, the oldest first. */
export const listStreams = (
  { store }: Pick<ServiceDeps, 'store'>,
  caller: Subscriber,
): Promise<readonly StreamRecord[]> => store.streams.list(audienceOf(caller));

export const findStream = (
  { store }: Pick<ServiceDeps, 'store'>,
  caller: Subscriber,
  id: string,
): Promise<StreamRecord> => findOwn(store, caller, id);

/**
 * Changes a stream. Members that are not named stay as they are, or, with `isWhole`, are reset. `INVALID_REQUEST` when
 * a member that only the service sets has another value.
 */
export const changeStream = (
  deps: ServiceDeps,
  caller: Subscriber,
  sent: StreamChange,
  isWhole: boolean,
  requestId: string,
): Promise<StreamRecord> =>
  change(deps, caller, sent.stream_id, 'stream.update', requestId, async (tx, stream) => {
    assertProven(stream);
    refuseOtherFacts(deps, sent, stream);
    const { requested, description } = stream;
    const kept = isWhole ? {} : { events_requested: requested, description: description ?? undefined };
    const delivery =
      sent.delivery === undefined && !isWhole
        ? stream.delivery
        : deliveryOf(deps, stream.streamId, sent.delivery, isWhole ? null : stream.delivery);
    await tx.streams.update(stream.streamId, wishesOf(deps, delivery, { ...kept, ...sent }));
    return findOwn(tx, caller, stream.streamId);
  });

export const setStreamStatus = (
  deps: ServiceDeps,
  caller: Subscriber,
  {
    id,
    status,
    reason,
  }: { readonly id: string; readonly status: StreamStatus; readonly reason: string | null },
  requestId: string,
): Promise<StreamRecord> =>
  change(deps, caller, id, 'stream.status', requestId, async (tx) => {
    await tx.streams.setStatus(id, status, reason);
    return findOwn(tx, caller, id);
  });

export const deleteStream = (
  deps: ServiceDeps,
  caller: Subscriber,
  id: string,
  requestId: string,
): Promise<void> => change(deps, caller, id, 'stream.delete', requestId, (tx) => tx.streams.delete(id));

/** Writes a verification event. `RATE_LIMITED` within 30 s of the last one. */
export const verifyStream = (
  deps: ServiceDeps,
  caller: Subscriber,
  id: string,
  state: string | null,
): Promise<void> =>
  deps.store.transaction(async (tx) => {
    await lockLiveKey(tx, caller);
    const stream = await findOwn(tx, caller, id);
    assertProven(stream);
    const { status } = stream;
    if (status === 'disabled') throw invalidRequest('The stream is disabled; nothing is told on it.');
    const waitSeconds = await tx.streams.verify(id, state, VERIFIED_EVERY_SECONDS);
    if (waitSeconds !== null)
      throw rateLimited(
        `A stream is verified once in ${VERIFIED_EVERY_SECONDS} s; try again in ${waitSeconds} s`,
        waitSeconds,
      );
  });

/**
 * Throws `FORBIDDEN` for a stream of a DID that is only claimed. A SET names its receiver in `aud`, and a claim does
 * not show that the DID belongs to the claimant, so no SET is signed for it.
 */
export const assertProven = (stream: StreamRecord): void => {
  if (!stream.isOfClaim) return;
  const did = audienceClaimOf(stream);
  throw forbidden(
    `${did} is claimed, and no SET is signed for it before its domain is proven. GET /claims/{did} says what to publish.`,
  );
};

/** A stream of the caller's subject. */
export const findOwn = async (
  { streams }: Pick<Repositories, 'streams'>,
  caller: Subscriber,
  id: string,
): Promise<StreamRecord> => {
  const found = await streams.find(audienceOf(caller), id);
  if (found === null) throw notFound(`No stream ${id}.`);
  return found;
};

const wishesOf = (
  { identity }: Pick<ServiceDeps, 'identity'>,
  delivery: StreamDelivery,
  {
    events_requested: requested = [],
    description = null,
  }: Omit<StreamRequest, 'description'> & { readonly description?: string | null | undefined },
) => ({ delivery, requested, types: typesOf(requested, identity.baseUrl), description });

const refuseOtherFacts = (
  deps: Pick<ServiceDeps, 'identity'>,
  sent: StreamChange,
  stream: StreamRecord,
): void => {
  const { baseUrl } = deps.identity;
  const supported = eventUris(baseUrl);
  const facts: readonly (readonly [string, unknown, readonly unknown[]])[] = [
    ['iss', sent.iss, [baseUrl]],
    ['aud', sent.aud, [audienceClaimOf(stream)]],
    ['events_supported', sent.events_supported, supported],
    [
      'events_delivered',
      sent.events_delivered,
      supported.filter((uri) => typesOf([uri], baseUrl).some((type) => stream.types.includes(type))),
    ],
    ['min_verification_interval', sent.min_verification_interval, [VERIFIED_EVERY_SECONDS]],
  ];
  for (const [name, said, fact] of facts)
    if (said !== undefined && !isSameSet([said].flat(), fact))
      throw invalidRequest(`${name} is for this service to say; send it as it was read, or leave it out`);
};

/** True for the same members, in any order. */
const isSameSet = (some: readonly unknown[], others: readonly unknown[]): boolean => {
  const [left, right] = [new Set(some), new Set(others)];
  return left.size === right.size && [...left].every((one) => right.has(one));
};

const change = <Result>(
  deps: ServiceDeps,
  caller: Subscriber,
  id: string,
  action: AuditAction,
  requestId: string,
  work: (tx: Repositories, stream: StreamRecord) => Promise<Result>,
): Promise<Result> =>
  deps.store.transaction(async (tx) => {
    await lockLiveKey(tx, caller);
    // Locked first, so that members which the change keeps are those read here.
    await tx.streams.lock(id);
    const before = await findOwn(tx, caller, id);
    const result = await work(tx, before);
    // When the stream is unchanged, nothing is audited.
    if (!isDeepStrictEqual(result, before)) await auditSubscriber(deps, tx, caller, action, id, requestId);
    return result;
  });
