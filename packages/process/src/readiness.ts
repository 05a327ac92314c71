/** Whether the service behind a process can decide: whether storage takes writes, and each reason not to decide. */
import { HOLD_NAMES, type Holds, type Store } from '@svc/service';
import type { Readiness } from './admin-service.ts';

interface ReadinessDeps {
  readonly store: Pick<Store, 'describeHealth'>;
  readonly holds: Pick<Holds, 'list'>;
}

/** Results are cached this long: `/healthz` is public, and a probe is a write. */
const FRESH_MS = 500;

export const createServiceReadiness = ({ store, holds }: ReadinessDeps): (() => Promise<Readiness>) => {
  const findHealth = once(() => store.describeHealth());
  return async () => {
    const storage = await findHealth();
    const held = holds.list();
    const reasonOf = (name: string) => held.find((hold) => hold.name === name)?.reason ?? 'ok';
    return {
      ok: storage === 'ok' && held.length === 0,
      checks: { storage, ...Object.fromEntries(HOLD_NAMES.map((name) => [name, reasonOf(name)])) },
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
