/**
 * The metrics of several processes as those of one. Counts and histograms of processes that have ended stay in the sum: it
 * would fall otherwise, which Prometheus takes for a restart, and for a burst of as many events as are left.
 */
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { MetricSnapshot } from './messages.ts';

type MetricSnapshots = readonly MetricSnapshot[];

/** What tells how the worst of them is. Everything else is added up. */
const WORST: ReadonlySet<string> = new Set([
  'svc_holds',
  'svc_signer_gone',
  'svc_synchronous_standby_missing',
  'svc_replica_behind_seconds',
  'svc_fence_oldest_note_seconds',
]);
const EVENT_LOOP = /^nodejs_eventloop_lag_/;
/** The supervisor's: the others come and go. */
const START_TIME = 'process_start_time_seconds';
const BROKEN_DAYS = 'svc_content_broken_days';

/** The metrics of `living` processes, of `former` ones as far as they count on, and `own` of the supervisor. */
export const addUp = (
  living: readonly MetricSnapshots[],
  former: readonly MetricSnapshots[],
  own: MetricSnapshots,
): Registry => {
  const members = [...living, ...former].map((told) => told.filter(({ name }) => name !== START_TIME));
  // -1, no answer of storage, is worse than any number.
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

/** Several that have ended, as one. */
export const addUpFormer = async (former: readonly MetricSnapshots[]): Promise<MetricSnapshots> =>
  (await AggregatorRegistry.aggregate(
    former as unknown as object[],
  ).getMetricsAsJSON()) as unknown as MetricSnapshots;
