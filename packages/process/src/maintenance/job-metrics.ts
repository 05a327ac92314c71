/** Prometheus metrics of the jobs: results, durations and work of their rounds, and the time of the last success. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Job, Round } from './loop.ts';

export interface JobMetrics {
  record(round: Round): void;
  /** Names of the jobs whose latest round failed. */
  failing(): readonly string[];
}

const SECONDS = [0.01, 0.05, 0.25, 1, 5, 25, 100];

/**
 * Every job has its series from the start, so that a job that never ran can be told from an unknown one. The label is
 * `job_name`, because Prometheus itself labels targets with `job` and renames a metric's own label of that name.
 */
export const createJobMetrics = (registry: Registry, jobs: readonly Job[]): JobMetrics => {
  const rounds = new Counter({
    name: 'svc_job_rounds_total',
    help: 'Rounds by job and outcome: done, failed, elsewhere (another node does the job), or held (/readyz says why).',
    labelNames: ['job_name', 'outcome'],
    registers: [registry],
  });
  const items = new Counter({
    name: 'svc_job_items_total',
    help: 'Items that rounds processed, by job and by kind of item.',
    labelNames: ['job_name', 'item'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'svc_job_duration_seconds',
    help: 'Duration of the rounds that this node ran.',
    labelNames: ['job_name'],
    buckets: SECONDS,
    registers: [registry],
  });
  const succeededAt = new Gauge({
    name: 'svc_job_last_success_timestamp_seconds',
    help: 'Time at which a round of this job last succeeded on this node; 0: never.',
    labelNames: ['job_name'],
    registers: [registry],
  });
  for (const { name: job, alarmingItems = [] } of jobs) {
    for (const outcome of ['done', 'failed', 'elsewhere', 'held'])
      rounds.labels({ job_name: job, outcome }).inc(0);
    // Prometheus sees no increase in a series that begins with 5, so each begins with 0.
    for (const item of alarmingItems) items.labels({ job_name: job, item }).inc(0);
    succeededAt.labels({ job_name: job }).set(0);
  }
  const failing = new Set<string>();
  return {
    failing: () => [...failing],
    record(round) {
      const { job, outcome } = round;
      rounds.labels({ job_name: job, outcome }).inc();
      if (outcome === 'elsewhere' || outcome === 'held') return;
      durations.labels({ job_name: job }).observe(round.durationMs / 1000);
      if (outcome === 'failed') return void failing.add(job);
      failing.delete(job);
      succeededAt.labels({ job_name: job }).setToCurrentTime();
      for (const [item, count] of Object.entries(round.result))
        items.labels({ job_name: job, item }).inc(count);
    },
  };
};
