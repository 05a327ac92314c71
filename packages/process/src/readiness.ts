/** What `/readyz` says of the service behind a process: whether storage answers, and each reason not to decide. */
import { HOLD_NAMES, type Holds, type Store, StoreError } from '@svc/service';
import type { Readiness } from './admin-service.ts';

export interface ReadinessDeps {
  readonly store: Pick<Store, 'now'>;
  readonly holds: Pick<Holds, 'list'>;
}

export const serviceReadiness = async ({ store, holds }: ReadinessDeps): Promise<Readiness> => {
  const stored = await store.now().then(
    () => true,
    (error: unknown) => {
      if (error instanceof StoreError) return false;
      throw error;
    },
  );
  const held = holds.list();
  const reasonOf = (name: string) => held.find((hold) => hold.name === name)?.reason ?? 'ok';
  return {
    ok: stored && held.length === 0,
    checks: {
      storage: stored ? 'ok' : 'unreachable',
      ...Object.fromEntries(HOLD_NAMES.map((name) => [name, reasonOf(name)])),
    },
  };
};
