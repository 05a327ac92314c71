/**
 * Polls a stream (RFC 8936): SETs that are acknowledged are removed; SETs that wait are returned until they are
 * acknowledged.
 */
import { assertLiveKey, lockLiveKey } from '../access/live-key.ts';
import { tenantOf } from '../access/tenant.ts';
import type { ServiceDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import type { Subscriber } from '../events/subscriptions.ts';
import type { Waits } from '../lib/waits.ts';
import type { Repositories } from '../ports/store.ts';
import type { StreamRecord } from '../ports/streams.ts';
import { eventOfJti } from './set.ts';
import type { SetSigner } from './sign-sets.ts';
import { assertProven, findOwn } from './streams.ts';

/** Maximum number of SETs in one answer. */
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
  /** Compact JWS by `jti`, the oldest first. */
  readonly sets: Readonly<Record<string, string>>;
  readonly moreAvailable: boolean;
}

/** The state that a node keeps between polls. */
export interface Polling {
  readonly waits: Waits;
  readonly signer: SetSigner;
}

/**
 * `gone`: aborted when the client no longer waits for the answer. `RATE_LIMITED`: too many polls wait on this node.
 * `UNAUTHORIZED`: the key was revoked during the wait.
 */
export const pollStream = async (
  deps: ServiceDeps,
  { waits, signer }: Polling,
  caller: Subscriber,
  id: string,
  { ack, setErrs, maxEvents = SETS_AT_ONCE, returnImmediately }: Poll,
  gone: AbortSignal,
): Promise<Polled> => {
  const stream = await settle(deps, caller, id, { ack, setErrs });
  const most = Math.min(maxEvents, SETS_AT_ONCE);
  const tenant = tenantOf(caller);
  const give = async (to: StreamRecord): Promise<Polled> => {
    const waiting = await deps.store.streams.listWaiting(id, most + 1);
    const sets = await signer.sign(waiting.slice(0, most), to, tenant);
    return { sets, moreAvailable: waiting.length > Object.keys(sets).length };
  };
  const first = await give(stream);
  // A receiver that requests no SET does not wait for one.
  if (returnImmediately || maxEvents === 0 || Object.keys(first.sets).length > 0) return first;
  await waits.until(id, tenant, WAIT_MS, gone);
  await assertLiveKey(deps.store, caller);
  return give(await findPolled(deps.store, caller, id));
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
    await lockLiveKey(tx, caller);
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
  if (stream.delivery.method !== 'poll')
    throw notFound(`Stream ${id} is pushed to its endpoint_url; there is nothing to poll.`);
  assertProven(stream);
  return stream;
};
