import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createJobMetrics } from './job-metrics.ts';
import type { Job } from './loop.ts';

const JOBS: readonly Job[] = ['a', 'b'].map((name) => ({
  name,
  everyMs: 1,
  alarmingItems: ['lost'],
  run: async () => ({}),
}));

const metricsOf = () => {
  const registry = new Registry();
  const metrics = createJobMetrics(registry, JOBS);
  const read = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values ?? [];
  const value = async (name: string, labels: Record<string, string>) =>
    (await read(name)).find((one) => JSON.stringify(one.labels) === JSON.stringify(labels))?.value;
  return { ...metrics, value };
};

it('every job has its metrics before its first round, including those of alerts', async () => {
  const { value, failing } = metricsOf();
  for (const job of ['a', 'b']) {
    for (const outcome of ['done', 'failed', 'elsewhere', 'held'])
      expect(await value('svc_job_rounds_total', { job_name: job, outcome })).toBe(0);
    expect(await value('svc_job_items_total', { job_name: job, item: 'lost' })).toBe(0);
    expect(await value('svc_job_last_success_timestamp_seconds', { job_name: job })).toBe(0);
  }
  expect(failing()).toEqual([]);
});

it('rounds are counted by outcome and by items, and only a round that is done counts as a success', async () => {
  const { record, value, failing } = metricsOf();
  const rounds = (outcome: string) => value('svc_job_rounds_total', { job_name: 'a', outcome });
  const succeeded = () => value('svc_job_last_success_timestamp_seconds', { job_name: 'a' });

  record({ job: 'a', outcome: 'failed', durationMs: 20, error: new Error('no') });
  record({ job: 'a', outcome: 'elsewhere' });
  expect([await rounds('failed'), await rounds('elsewhere'), await rounds('done')]).toEqual([1, 1, 0]);
  expect([await succeeded(), failing()]).toEqual([0, ['a']]);

  for (const closed of [2, 3]) record({ job: 'a', outcome: 'done', durationMs: 10, result: { closed } });
  expect([
    await rounds('done'),
    await value('svc_job_items_total', { job_name: 'a', item: 'closed' }),
  ]).toEqual([2, 5]);
  expect(await succeeded()).toBeGreaterThan(0);
  expect(failing()).toEqual([]);
  expect(await value('svc_job_rounds_total', { job_name: 'b', outcome: 'done' })).toBe(0);
});
