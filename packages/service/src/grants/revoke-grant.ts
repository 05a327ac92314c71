/**
 * Revocation in two phases (protocol §9). The first commits the flag, the newly signed status list and the audit
 * row: from then on no decision that reads the Grant can allow it. The second is a barrier: it waits for the
 * decisions already under way and stamps `revoked_at`. Only then is the answer 200.
 *
 * A crash between the two leaves the revocation recorded and effective; a repeated call completes the stamp.
 *
 * A Principal has one turn on each node: what is asked for while it is taken is done together in the next, with one
 * signature for each list and one barrier. So a Principal who revokes much waits for nobody but itself, and holds one
 * connection at most (decision 23).
 */
import type { DidWeb, GrantId } from '@svc/protocol';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../access/caller.ts';
import { auditEvent, type SystemActor } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { internal, notFound } from '../errors.ts';
import { notYetVisible } from '../lib/barrier.ts';
import { Batcher } from '../lib/batcher.ts';
import { logRevocation } from '../lib/revocation-log.ts';
import type { GrantRecord } from '../ports/grants.ts';
import { type Repositories, StoreError } from '../ports/store.ts';
import { revokeInLists } from './status-list.ts';

export interface Revocation {
  readonly grantId: GrantId;
  readonly revokedAtMs: number;
}

/** Who revokes what; `deps` has the store as the caller's tenant. */
export interface RevokeOrder {
  readonly deps: ServiceDeps;
  readonly caller: Caller | SystemActor;
  readonly principal: DidWeb;
  readonly grantId: GrantId;
  readonly requestId: string;
}

const GATHERING = { maxBatch: 32, maxInFlight: 1, maxWaiting: 1_024 };
const PRINCIPALS_REMEMBERED = 10_000;

type Turn = Batcher<RevokeOrder, Revocation | Error>;

export class Revoker {
  /** One that is forgotten while it is under way shares the Principal's turn in the store with the next. */
  private readonly turns = new LRUCache<DidWeb, Turn>({ max: PRINCIPALS_REMEMBERED });

  /** Revokes a Grant of `principal`. Idempotent. `SERVICE_UNAVAILABLE`: recorded, not yet known to be visible. */
  async revoke(order: RevokeOrder): Promise<Revocation> {
    const result = await this.turnOf(order.principal).submit(order);
    if (result instanceof Error) throw result;
    return result;
  }

  private turnOf(principal: DidWeb): Turn {
    const known = this.turns.get(principal);
    if (known !== undefined) return known;
    const turn: Turn = new Batcher((orders) => revokeTogether(principal, orders), GATHERING);
    this.turns.set(principal, turn);
    return turn;
  }
}

const revokeTogether = async (
  principal: DidWeb,
  orders: readonly RevokeOrder[],
): Promise<readonly (Revocation | Error)[]> => {
  const [first] = orders;
  if (first === undefined) return [];
  const { store } = first.deps;
  const grants = await store.transaction((tx) => recordRevocations(first.deps, tx, principal, orders), {
    lane: 'urgent',
    turn: principal,
  });
  const unstamped = [...grants.values()].filter(({ revokedAtMs }) => revokedAtMs === null);
  const stamps = await stamp(first.deps, principal, unstamped);
  return orders.map(({ grantId }) => {
    const grant = grants.get(grantId);
    if (grant === undefined) return notFound(`No Grant ${grantId} of this Principal.`);
    const revokedAtMs = grant.revokedAtMs ?? stamps.get(grantId);
    return revokedAtMs === undefined ? internal(`no stamp for ${grantId}`) : { grantId, revokedAtMs };
  });
};

/** The Principal's Grants of those that are asked for, as they were. Of two orders for one Grant the first is its revoker. */
const recordRevocations = async (
  deps: ServiceDeps,
  tx: Repositories,
  principal: DidWeb,
  orders: readonly RevokeOrder[],
): Promise<ReadonlyMap<GrantId, GrantRecord>> => {
  const asked = new Map([...orders].reverse().map((order) => [order.grantId, order]));
  const found = await tx.grants.listForUpdate(principal, [...asked.keys()]);
  const inForce = found.filter(({ revocationRecordedAtMs }) => revocationRecordedAtMs === null);
  if (inForce.length > 0) {
    logRevocation(deps, { principal, grant_ids: inForce.map(({ id }) => id) });
    await revokeInLists(deps, tx, inForce);
    await tx.grants.recordRevocation(inForce.map(({ id }) => id));
    await tx.audit.insertAll(
      inForce.map(({ id }) => {
        const order = asked.get(id);
        if (order === undefined) throw internal(`nobody asked for ${id}`);
        const { caller, requestId } = order;
        return auditEvent(deps, caller, { action: 'grant.revoke', target: id, requestId });
      }),
    );
  }
  return new Map(found.map((grant) => [grant.id, grant]));
};

const stamp = async (
  { store, clock }: ServiceDeps,
  principal: DidWeb,
  grants: readonly GrantRecord[],
): Promise<ReadonlyMap<GrantId, number>> => {
  if (grants.length === 0) return new Map();
  try {
    return await store.revocation.stampRevoked(
      principal,
      grants.map(({ id }) => id),
      clock.nowMs(),
    );
  } catch (error) {
    throw error instanceof StoreError ? notYetVisible(error) : error;
  }
};
