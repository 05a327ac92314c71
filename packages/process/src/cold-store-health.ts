/**
 * Whether the store of cold days is the one that days were packed into, where an operator of a node that reads it looks:
 * log, metrics and `/readyz`. Without it reads of cold days are 503; nothing else depends on it, so no node is unready.
 */
import { assertSameStore } from '@svc/cold-ledger';
import { messageOf, type ObjectStore, type ServiceDeps, StoreError, withinMs } from '@svc/service';
import { Gauge, type Registry } from 'prom-client';
import { HEALTH_ANSWER_MS } from './admin-service.ts';
import type { ContentHealth } from './content-health.ts';

interface ColdStoreDeps {
  readonly objects: Pick<ObjectStore, 'head'>;
  readonly store: { readonly coldDays: Pick<ServiceDeps['store']['coldDays'], 'listLatestManifests'> };
  readonly log: Pick<ServiceDeps['log'], 'warn'>;
  readonly nowMs?: () => number;
}

/** Three requests. */
const EVERY_MS = 60_000;
const LOOK_MS = 30_000;
const UNKNOWN = 'unknown';

/** Looks when it is asked, and answers what it knows while a look takes longer than whoever asks may wait. */
export const createColdStoreHealth = (
  registry: Registry,
  { objects, store, log, nowMs = () => performance.now() }: ColdStoreDeps,
): ContentHealth => {
  let known = UNKNOWN;
  let looking: { readonly fromMs: number; readonly found: Promise<string> } | null = null;
  const look = async (): Promise<string> => {
    const found = await assertSameStore({ objects, store }, AbortSignal.timeout(LOOK_MS)).then(
      () => 'ok',
      (error: unknown) => (error instanceof StoreError ? UNKNOWN : messageOf(error)),
    );
    if (found !== 'ok' && found !== UNKNOWN && found !== known)
      log.warn('cold.another_store', { problem: found });
    known = found;
    return found;
  };
  const describe = (): Promise<string> => {
    if (looking === null || nowMs() - looking.fromMs > EVERY_MS) looking = { fromMs: nowMs(), found: look() };
    return withinMs(HEALTH_ANSWER_MS, looking.found, () => known);
  };
  new Gauge({
    name: 'svc_cold_store_known',
    help: 'Whether SVC_COLD names the store that days were packed into; 0: another one, or it does not answer; -1: not known.',
    registers: [registry],
    async collect() {
      const found = await describe();
      this.set(found === 'ok' ? 1 : found === UNKNOWN ? -1 : 0);
    },
  });
  return { describe };
};
