/**
 * Revocation in two phases (protocol §9). The first commits the flag, the newly signed status list and the audit
 * row: from then on no decision that reads the Grant can allow it. The second is a barrier: it waits for the
 * decisions already under way and stamps `revoked_at`. Only then is the answer 200.
 *
 * Where what signs lists is away, the first phase is committed without the list: every decision denies, and the answer is
 * 503 until the list is signed, which a repeated call or the worker does before it stamps. So whoever can cut a token off
 * keeps no revocation from taking effect (decision 52).
 *
 * A crash between the two leaves the revocation recorded and effective; a repeated call completes the stamp.
 *
 * A Principal has one turn on each node: what is asked for while it is taken is done together in the next, with one
 * signature for each list and one barrier. So a Principal who revokes much waits for nobody but itself, and holds one
 * connection at most (decision 23).
 */
import type { DidWeb, GrantId, OrgId } from '@svc/protocol';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../access/caller.ts';
import { auditEvent, type SystemActor } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { internal, notFound, ServiceError } from '../errors.ts';
import { logRevocation } from '../fence/revocation-log.ts';
import { Batcher } from '../lib/batcher.ts';
import type { Revocable, RevocableGrant, SignedRevocations } from '../ports/grants.ts';
import { StoreError } from '../ports/store.ts';
import { notYetVisible } from './barrier.ts';
import { publishRevoked } from './publish-revoked.ts';
import { notSigned, STATUS_LIST_CONTENT_TYPE, signRevoked } from './status-list.ts';

export interface Revocation {
  readonly grantId: GrantId;
  readonly revokedAtMs: number;
}

/** An order to revoke a Grant, and its caller; `deps` has the store as the caller's tenant. */
export interface RevokeOrder {
  readonly deps: ServiceDeps;
  readonly caller: Caller | SystemActor;
  readonly principal: DidWeb;
  readonly grantId: GrantId;
  readonly requestId: string;
  /** The Principal's org, which is to see it whoever revokes. */
  readonly orgId?: OrgId | null;
}

const GATHERING = { maxBatch: 32, maxInFlight: 1, maxWaiting: 1_024 };
const PRINCIPALS_REMEMBERED = 10_000;

type PrincipalBatcher = Batcher<RevokeOrder, Revocation | Error>;

export class Revoker {
  /** One that is forgotten while it is under way shares the Principal's turn in the store with the next. */
  private readonly batchers = new LRUCache<DidWeb, PrincipalBatcher>({ max: PRINCIPALS_REMEMBERED });

  /** Revokes a Grant of `principal`. Idempotent. `SERVICE_UNAVAILABLE`: recorded, not yet known to be visible. */
  async revoke(order: RevokeOrder): Promise<Revocation> {
    const result = await this.batcherOf(order.principal).submit(order);
    if (result instanceof Error) throw result;
    return result;
  }

  private batcherOf(principal: DidWeb): PrincipalBatcher {
    const known = this.batchers.get(principal);
    if (known !== undefined) return known;
    const batcher: PrincipalBatcher = new Batcher((orders) => revokeTogether(principal, orders), GATHERING);
    this.batchers.set(principal, batcher);
    return batcher;
  }
}

const revokeTogether = async (
  principal: DidWeb,
  orders: readonly RevokeOrder[],
): Promise<readonly (Revocation | Error)[]> => {
  const [first] = orders;
  if (first === undefined) return [];
  const { grants, unsigned } = await recordRevocations(first.deps, principal, orders);
  const unstamped = [...grants.values()].filter(({ revokedAtMs }) => revokedAtMs === null);
  const problem = unsigned ?? (await publish(first.deps, principal, unstamped));
  const stamps = problem === null ? await stamp(first.deps, principal, unstamped) : new Map();
  return orders.map(({ grantId }) => {
    const grant = grants.get(grantId);
    if (grant === undefined) return notFound(`No Grant ${grantId} of this Principal.`);
    const revokedAtMs = grant.revokedAtMs ?? stamps.get(grantId);
    if (revokedAtMs !== undefined) return { grantId, revokedAtMs };
    return problem === null ? internal(`no stamp for ${grantId}`) : notYetVisible(problem);
  });
};

interface Recorded {
  /** The Principal's Grants of those that are asked for, as they were. */
  readonly grants: ReadonlyMap<GrantId, RevocableGrant>;
  /** Why their lists do not say it yet; null: those that were in force are in their lists now. */
  readonly unsigned: ServiceError | null;
}

/**
 * Nothing is locked while the lists are signed: where they have changed meanwhile, on another node, they are signed again under
 * lock. So is what had been revoked before, which must last as what is revoked now.
 */
const recordRevocations = async (
  deps: ServiceDeps,
  principal: DidWeb,
  orders: readonly RevokeOrder[],
): Promise<Recorded> => {
  const { store } = deps;
  // The first of several orders for one Grant is its revoker.
  const asked = new Map([...orders].reverse().map((order) => [order.grantId, order]));
  const ids = [...asked.keys()];
  const found = await store.revocation.grants.findRevocable(principal, ids);
  if (found.grants.length === 0) return { grants: new Map(), unsigned: null };
  const signed = await signRevocations(deps, principal, found, asked);
  if (signed !== null && (await store.revocation.grants.recordRevocations(signed)))
    return { grants: byId(found), unsigned: signed.unsigned };
  return store.transaction(
    async (tx) => {
      const locked = await tx.grants.findRevocableForUpdate(principal, ids);
      const again = await signRevocations(deps, principal, locked, asked);
      if (again !== null && !(await tx.grants.recordRevocations(again)))
        throw internal('a locked list changed');
      return { grants: byId(locked), unsigned: again?.unsigned ?? null };
    },
    { lane: 'urgent', exclusiveKey: principal },
  );
};

/** Puts into their lists what was recorded while nothing signed them. Answers why they still are not. */
const publish = async (
  deps: ServiceDeps,
  principal: DidWeb,
  grants: readonly RevocableGrant[],
): Promise<ServiceError | StoreError | null> => {
  const before = grants.filter(({ revocationRecordedAtMs }) => revocationRecordedAtMs !== null);
  if (before.length === 0) return null;
  return publishRevoked(deps, principal, before);
};

const byId = ({ grants }: Revocable): ReadonlyMap<GrantId, RevocableGrant> =>
  new Map(grants.map((grant) => [grant.id, grant]));

/** What is to be written; null where all have been revoked before. */
const signRevocations = async (
  deps: ServiceDeps,
  principal: DidWeb,
  { grants, lists }: Revocable,
  asked: ReadonlyMap<GrantId, RevokeOrder>,
): Promise<(SignedRevocations & Pick<Recorded, 'unsigned'>) | null> => {
  const inForce = grants.filter(({ revocationRecordedAtMs }) => revocationRecordedAtMs === null);
  if (inForce.length === 0) return null;
  const ids = inForce.map(({ id }) => id);
  logRevocation(deps, { principal, grant_ids: ids });
  const signed = await signRevoked(deps, lists, inForce).catch(notSigned);
  return {
    principal,
    ids,
    ...(signed instanceof ServiceError ? { lists: [], unsigned: signed } : { lists: signed, unsigned: null }),
    listContentType: STATUS_LIST_CONTENT_TYPE,
    events: ids.map((id) => {
      const order = asked.get(id);
      if (order === undefined) throw internal(`nobody asked for ${id}`);
      const { caller, requestId, orgId = null } = order;
      return auditEvent(deps, caller, { action: 'grant.revoke', target: id, requestId, orgId });
    }),
  };
};

const stamp = async (
  { store, clock }: ServiceDeps,
  principal: DidWeb,
  grants: readonly RevocableGrant[],
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
