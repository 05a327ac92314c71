/**
 * Prometheus metrics of deliveries: the outcomes of attempts on this node, and what waits in storage, whichever node
 * sends it.
 */
import { type AttemptOutcome, type EventDeliveryRepository, withinMs } from '@svc/service';
import { Counter, Gauge, type Registry } from 'prom-client';
import { HEALTH_ANSWER_MS } from '../admin-service.ts';
import { gauge } from '../gauge.ts';

const OUTCOMES: readonly AttemptOutcome[] = ['delivered', 'rejected', 'unanswered', 'not_signed'];
/** One look at storage serves all metrics that are read at once. */
const FRESH_MS = 1_000;

/** Returns the function that records an attempt. */
export const createDeliveryMetrics = (
  registry: Registry,
  deliveries: Pick<EventDeliveryRepository, 'describeQueue' | 'findOutboxSince'>,
  pushes: boolean,
): ((outcome: AttemptOutcome) => void) => {
  const attempts = new Counter({
    name: 'svc_webhook_attempts_total',
    help: 'Attempts by outcome: delivered, rejected (answered with another status), unanswered (no connection, or no answer in time), not_signed (a key is not available, or the DID of a stream is claimed and not proven).',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of OUTCOMES) attempts.labels({ outcome }).inc(0);
  const look = lookAt(() => deliveries.describeQueue(pushes));
  // Read separately, so that it is known even if the queue is too long to be described in time.
  const lookAtOutbox = lookAt(async () => ({ sinceMs: await deliveries.findOutboxSince() }));
  gauge(registry, 'svc_webhook_outbox_seconds', {
    help: 'Age of the oldest event that is not in the log yet; 0: there is none; -1: storage does not answer.',
    read: async () => ageSeconds((await lookAtOutbox())?.sinceMs),
  });
  gauge(registry, 'svc_webhook_late_seconds', {
    help: 'Longest time for which a delivery has been due, of endpoints that do not fail; 0: none is due; -1: storage does not answer.',
    read: async () => ageSeconds((await look())?.dueSinceMs),
  });
  gauge(registry, 'svc_webhook_waiting', {
    help: 'Open deliveries, 100,000 at most; -1: storage does not answer.',
    read: async () => (await look())?.waiting ?? -1,
  });
  const endpoints = new Gauge({
    name: 'svc_webhook_endpoints',
    help: 'Subscriptions by state: active, failing, or disabled (by their owners, after five days of failures, or after the answer 410); -1: storage does not answer.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const queue = await look();
      for (const state of ['active', 'failing', 'disabled'] as const)
        endpoints.labels({ state }).set(queue?.[state] ?? -1);
    },
  });
  return (outcome) => attempts.labels({ outcome }).inc();
};

const lookAt = <T>(describe: () => Promise<T>): (() => Promise<T | null>) => {
  let latest: Promise<T | null> | null = null;
  let lookedMs = 0;
  return () => {
    if (latest === null || performance.now() - lookedMs > FRESH_MS) {
      lookedMs = performance.now();
      latest = withinMs(HEALTH_ANSWER_MS, describe(), () => null).catch(() => null);
    }
    return latest;
  };
};

const ageSeconds = (sinceMs: number | null | undefined): number => {
  if (sinceMs === undefined) return -1;
  return sinceMs === null ? 0 : Math.max(0, (Date.now() - sinceMs) / 1000);
};
