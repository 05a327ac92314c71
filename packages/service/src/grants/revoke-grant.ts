/**
 * Revocation in two phases (protocol §9). The first phase commits the flag, the newly signed status list and the audit
 * row: from then on no decision that reads the Grant can allow it. The second phase is a barrier: it waits for the
 * decisions already under way and stamps `revoked_at`. Only then is the answer 200.
 *
 * When the signer of lists is unavailable, the first phase is committed without the list. Every decision then denies,
 * and the answer is 503 until a repeated call or the worker has signed the list and stamped. So an attacker who cuts
 * off the signing token cannot keep a revocation from taking effect (decision 52).
 *
 * A crash between the two phases leaves the revocation recorded and effective; a repeated call completes the stamp.
 *
 * On each node a Principal has one batch of revocations under way. Calls that arrive meanwhile form the next batch,
 * with one signature for each list and one barrier. So a Principal that revokes much delays only itself, and holds at
 * most one connection (decision 23).
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

/** An order to revoke a Grant, and its caller. `deps.store` acts as the caller's tenant. */
export interface RevokeOrder {
  readonly deps: ServiceDeps;
  readonly caller: Caller | SystemActor;
  readonly principal: DidWeb;
  readonly grantId: GrantId;
  readonly requestId: string;
  /** The Principal's org, which sees the audit event whoever revokes. */
  readonly orgId?: OrgId | null;
}

const GATHERING = { maxBatch: 32, maxInFlight: 1, maxWaiting: 1_024 };
const PRINCIPALS_REMEMBERED = 10_000;

type PrincipalBatcher = Batcher<RevokeOrder, Revocation | Error>;

export class Revoker {
  /**
   * Batchers by Principal. If one is evicted while its batch is under way, the Principal's next batcher shares its turn
   * in the store, by the exclusive key.
   */
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
  /** The Grants asked for that are the Principal's, as they were before. */
  readonly grants: ReadonlyMap<GrantId, RevocableGrant>;
  /** Why the lists do not contain the revocations yet; null when the lists contain those Grants that were in force. */
  readonly unsigned: ServiceError | null;
}

/**
 * Records the revocations. No row is locked while the lists are signed. When another node has changed a list meanwhile,
 * the lists are signed again under lock. When all Grants had been revoked before, they are read again in that
 * transaction: it commits only when what it read is durable.
 */
const recordRevocations = async (
  deps: ServiceDeps,
  principal: DidWeb,
  orders: readonly RevokeOrder[],
): Promise<Recorded> => {
  const { store } = deps;
  // When several orders name one Grant, the first one is recorded as its revoker.
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

/**
 * Puts into their lists the revocations recorded while nothing signed them. Returns why they are still not in their
 * lists; null when they are.
 */
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

/** The rows to be written; null when all Grants have been revoked before. */
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
