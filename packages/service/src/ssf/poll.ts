/** Polling a stream (RFC 8936): what is acknowledged goes, what waits is given until it is. */
import { holdLiveKey } from '../access/live-key.ts';
import { tenantOf } from '../access/tenant.ts';
import type { ServiceDeps } from '../deps.ts';
import { notFound, serviceUnavailable } from '../errors.ts';
import type { Subscriber } from '../events/subscriptions.ts';
import type { Waits } from '../lib/waits.ts';
import type { Repositories } from '../ports/store.ts';
import type { StreamRecord } from '../ports/streams.ts';
import { eventOfJti, setClaims, signSet } from './set.ts';
import { findOwn } from './streams.ts';

/** In one answer. */
const SETS_AT_ONCE = 100;
const WAIT_MS = 20_000;

export interface Poll {
  readonly ack: readonly string[];
  readonly setErrs: Readonly<
    Record<string, { readonly err: string; readonly description?: string | undefined }>
  >;
  readonly maxEvents: number | undefined;
  readonly returnImmediately: boolean;
}

export interface Polled {
  /** By `jti`, the oldest first: compact JWS. */
  readonly sets: Readonly<Record<string, string>>;
  readonly moreAvailable: boolean;
}

/** `gone`: nobody waits for the answer any more. `RATE_LIMITED`: too many wait on this node. */
export const pollStream = async (
  deps: ServiceDeps,
  waits: Waits,
  caller: Subscriber,
  id: string,
  { ack, setErrs, maxEvents = SETS_AT_ONCE, returnImmediately }: Poll,
  gone: AbortSignal,
): Promise<Polled> => {
  const stream = await settle(deps, caller, id, { ack, setErrs });
  const most = Math.min(maxEvents, SETS_AT_ONCE);
  const first = await give(deps, stream, most);
  // Who wants none waits for none.
  if (returnImmediately || maxEvents === 0 || Object.keys(first.sets).length > 0) return first;
  await waits.until(id, tenantOf(caller), WAIT_MS, gone);
  return give(deps, stream, most);
};

const settle = (
  { store }: Pick<ServiceDeps, 'store'>,
  caller: Subscriber,
  id: string,
  { ack, setErrs }: Pick<Poll, 'ack' | 'setErrs'>,
): Promise<StreamRecord> => {
  const refused = Object.entries(setErrs).flatMap(([jti, { err, description = '' }]) => {
    const eventId = eventOfJti(jti, id);
    return eventId === null ? [] : [{ eventId, problem: `refused: ${err} ${description}`.trimEnd() }];
  });
  const taken = ack.flatMap((jti) => eventOfJti(jti, id) ?? []);
  if (taken.length + refused.length === 0) return findPolled(store, caller, id);
  return store.transaction(async (tx) => {
    await holdLiveKey(tx, caller);
    const stream = await findPolled(tx, caller, id);
    await tx.streams.settle(id, taken, refused);
    return stream;
  });
};

const findPolled = async (
  repositories: Pick<Repositories, 'streams'>,
  caller: Subscriber,
  id: string,
): Promise<StreamRecord> => {
  const stream = await findOwn(repositories, caller, id);
  if (stream.delivery.method === 'poll') return stream;
  throw notFound(`Stream ${id} is pushed to its endpoint_url; there is nothing to poll.`);
};

const give = async (
  { store, identity }: Pick<ServiceDeps, 'store' | 'identity'>,
  stream: StreamRecord,
  most: number,
): Promise<Polled> => {
  const waiting = await store.streams.listWaiting(stream.streamId, most + 1);
  const { signer } = identity.statusKeys;
  const signed = waiting.slice(0, most).map(async (event) => {
    const claims = setClaims(event, stream, identity);
    return [claims.jti, await signSet(signer, claims)] as const;
  });
  try {
    return { sets: Object.fromEntries(await Promise.all(signed)), moreAvailable: waiting.length > most };
  } catch (error) {
    throw serviceUnavailable('what signs SETs is away', error);
  }
};
