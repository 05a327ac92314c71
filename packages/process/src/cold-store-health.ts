/**
 * Reports in log, metrics and `/readyz` whether the configured store of cold days is the one that days were packed
 * into. Without this store, reads of cold days answer 503. Nothing else depends on it, so no node becomes unready.
 */
import { assertSameStore } from '@svc/cold-ledger';
import { messageOf, type ObjectStore, type ServiceDeps, StoreError } from '@svc/service';
import type { Registry } from 'prom-client';
import type { ContentHealth } from './content-health.ts';
import { gauge } from './gauge.ts';

interface ColdStoreDeps {
  readonly objects: Pick<ObjectStore, 'head'>;
  readonly store: { readonly coldDays: Pick<ServiceDeps['store']['coldDays'], 'listLatestManifests'> };
  readonly log: Pick<ServiceDeps['log'], 'warn'>;
  readonly nowMs?: () => number;
}

/** One check takes three requests. */
const EVERY_MS = 60_000;
const LOOK_MS = 30_000;
const UNKNOWN = 'unknown';

/**
 * Starts a check when it is asked, and answers with the result of an earlier one. The caller does not wait for the
 * store, which may hang for all processes at once. Therefore the first answer is `unknown`.
 */
export const createColdStoreHealth = (
  registry: Registry,
  { objects, store, log, nowMs = () => performance.now() }: ColdStoreDeps,
): ContentHealth => {
  let known = UNKNOWN;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<void> => {
    const found = await assertSameStore({ objects, store }, AbortSignal.timeout(LOOK_MS)).then(
      () => 'ok',
      (error: unknown) => (error instanceof StoreError ? UNKNOWN : messageOf(error)),
    );
    if (found !== 'ok' && found !== UNKNOWN && found !== known)
      log.warn('cold.another_store', { problem: found });
    known = found;
  };
  const tell = (): string => {
    if (nowMs() - lookedAtMs > EVERY_MS) {
      lookedAtMs = nowMs();
      void look();
    }
    return known;
  };
  gauge(registry, 'svc_cold_store_known', {
    help: 'Whether SVC_COLD names the store that days were packed into; 0: not known; -1: it is another one, or does not answer.',
    // The worst value of several processes counts.
    aggregator: 'min',
    read: () => {
      const found = tell();
      return found === 'ok' ? 1 : found === UNKNOWN ? 0 : -1;
    },
  });
  return { describe: async () => tell() };
};
