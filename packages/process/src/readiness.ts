/**
 * Whether the service behind a process can decide, whether it answers requests that need no decision, and the reasons
 * why not.
 */
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
  /** Null: no standby is promised. */
  readonly standby: StandbyHealth | null;
}

/** Milliseconds for which results are cached: `/healthz` is public, and a probe is a write. */
const FRESH_MS = 500;

/**
 * Milliseconds for which a process continues to serve without its database. A lost primary is replaced within 25 s
 * (docs/availability.md), for all processes at once. Meanwhile status lists, documents and refusals with a
 * `Retry-After` are answered from memory.
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
    // A later restore could lack something without copies. An alert reports this; it is no reason to stop decisions.
    const copies = fence === null ? {} : { 'fence-copies': unkept ?? 'ok' };
    // Without the status signer no revocation is answered 200 and no day is closed. Decisions go on, so the process
    // stays ready.
    const { findFault } = identity.statusKeys.signer;
    const signer = findFault === undefined ? {} : { 'status-signer': findFault() ?? 'ok' };
    // The primary answers in place of the replica, so a fault of the replica is shown but does not make the process
    // unready.
    const found = store.describeReplica();
    const replica = found === null ? {} : { replica: found.fault ?? 'ok' };
    const mayServe = performance.now() - reachedAtMs < SERVES_WITHOUT_STORAGE_MS;
    return {
      ok: storage === 'ok' && held.length === 0,
      // Most holds stop only decisions, on all nodes. If proxies sent such nodes no requests, revocations would fail
      // too.
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
