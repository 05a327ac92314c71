/**
 * Aggregates the metrics of several processes into one set. Counters and histograms of processes that have ended stay
 * in the sum. Otherwise the sum would fall, which Prometheus takes for a restart and for a burst of as many events as
 * remain.
 */
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { MetricSnapshot } from './messages.ts';

type MetricSnapshots = readonly MetricSnapshot[];

/** Gauges of which the worst process counts. All other metrics are added up. */
const WORST: ReadonlySet<string> = new Set([
  'svc_holds',
  'svc_signer_gone',
  'svc_synchronous_standby_missing',
  'svc_replica_behind_seconds',
  'svc_fence_oldest_note_seconds',
]);
const EVENT_LOOP = /^nodejs_eventloop_lag_/;
/** Only the supervisor's is reported, since its processes are replaced. */
const START_TIME = 'process_start_time_seconds';
const BROKEN_DAYS = 'svc_content_broken_days';

/** The metrics of `living` processes, the lasting part of `former` ones, and the supervisor's `own`. */
export const addUp = (
  living: readonly MetricSnapshots[],
  former: readonly MetricSnapshots[],
  own: MetricSnapshots,
): Registry => {
  const members = [...living, ...former].map((told) => told.filter(({ name }) => name !== START_TIME));
  // -1 means that storage did not answer, which is worse than any number.
  const unknown = living.some((told) =>
    told.some((metric) => metric.name === BROKEN_DAYS && isUnknown(metric)),
  );
  const howOf = ({ name, aggregator }: MetricSnapshot): string | undefined => {
    if (name === BROKEN_DAYS) return unknown ? 'min' : 'max';
    return WORST.has(name) || EVENT_LOOP.test(name) ? 'max' : aggregator;
  };
  const marked = [...members, own].map((told) =>
    told.map((metric) => ({ ...metric, aggregator: howOf(metric) ?? 'sum' })),
  );
  return AggregatorRegistry.aggregate(marked as unknown as object[]);
};

const isUnknown = ({ values }: MetricSnapshot): boolean => values.some(({ value }) => value < 0);

/** The part of a process's last report that still counts after its end: counters and histograms. */
export const lasting = (told: MetricSnapshots): MetricSnapshots =>
  told.filter(({ type }) => String(type) === 'counter' || String(type) === 'histogram');

/** The reports of several processes that have ended, as one. */
export const addUpFormer = async (former: readonly MetricSnapshots[]): Promise<MetricSnapshots> =>
  (await AggregatorRegistry.aggregate(
    former as unknown as object[],
  ).getMetricsAsJSON()) as unknown as MetricSnapshots;
