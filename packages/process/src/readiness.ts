/** Whether the service behind a process can decide, and whether it answers what is no decision; each reason why not. */
import { type Fence, HOLD_NAMES, type Holds, type ServiceIdentity, type Store, withinMs } from '@svc/service';
import { HEALTH_ANSWER_MS, type Readiness } from './admin-service.ts';
import type { StandbyHealth } from './standby-health.ts';

interface ReadinessDeps {
  readonly service: {
    readonly store: Pick<Store, 'describeHealth' | 'describeReplica'>;
    readonly holds: Pick<Holds, 'list'>;
    readonly identity: Pick<ServiceIdentity, 'statusKeys'>;
  };
  readonly fence: Pick<Fence, 'describeUnkept'> | null;
  /** Null: none is promised. */
  readonly standby: StandbyHealth | null;
}

/** Results are cached this long: `/healthz` is public, and a probe is a write. */
const FRESH_MS = 500;

/**
 * How long a process serves on without its database: a primary that is lost is replaced within 25 s
 * (docs/availability.md), for every process at once, and status lists, documents and refusals that say when to come
 * again are answered from memory meanwhile.
 */
const SERVES_WITHOUT_STORAGE_MS = 30_000;

const NO_ANSWER = `no answer within ${HEALTH_ANSWER_MS} ms`;

export const createServiceReadiness = ({
  service: { store, holds, identity },
  fence,
  standby,
}: ReadinessDeps): (() => Promise<Readiness>) => {
  const findHealth = once(() =>
    Promise.all([withinMs(HEALTH_ANSWER_MS, store.describeHealth(), () => NO_ANSWER), standby?.describe()]),
  );
  let reachedAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const [storage, ofStandby] = await findHealth();
    if (storage !== 'unreachable' && storage !== NO_ANSWER) reachedAtMs = performance.now();
    const promised = ofStandby === undefined ? {} : { 'synchronous-standby': ofStandby };
    const held = holds.list();
    const unkept = fence?.describeUnkept() ?? null;
    const reasonOf = (name: string) => held.find((hold) => hold.name === name)?.reason ?? 'ok';
    const reasons = Object.fromEntries(HOLD_NAMES.map((name) => [name, reasonOf(name)]));
    if (fence === null && reasons.fence === 'ok') reasons.fence = 'none';
    // What a later restore could lack is no reason to decide nothing now: an alert tells of it.
    const copies = fence === null ? {} : { 'fence-copies': unkept ?? 'ok' };
    // Without it no revocation is answered 200 and no day closed; decisions go on, so the process stays ready.
    const { findFault } = identity.statusKeys.signer;
    const signer = findFault === undefined ? {} : { 'status-signer': findFault() ?? 'ok' };
    // The primary answers what the replica does not, so a fault of the replica is shown and makes nothing unready.
    const found = store.describeReplica();
    const replica = found === null ? {} : { replica: found.fault ?? 'ok' };
    const mayServe = performance.now() - reachedAtMs < SERVES_WITHOUT_STORAGE_MS;
    return {
      ok: storage === 'ok' && held.length === 0,
      // Most holds are of decisions alone, and of the whole deployment: whoever is sent nothing for them could not revoke either.
      serves: mayServe && !held.some(({ isOfAll }) => isOfAll === true),
      checks: { storage, ...promised, ...replica, ...reasons, ...copies, ...signer },
    };
  };
};

/** Runs at most one `find` at a time; concurrent and closely following callers share its result. */
const once = <T>(find: () => Promise<T>): (() => Promise<T>) => {
  let found: Promise<T> | null = null;
  return () => {
    if (found !== null) return found;
    found = find();
    const forget = () => {
      found = null;
    };
    found.then(() => setTimeout(forget, FRESH_MS).unref(), forget);
    return found;
  };
};
