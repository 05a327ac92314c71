/** Metrics of deliveries show the outcomes of attempts and what waits, and -1 if storage does not answer. */
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createDeliveryMetrics } from './delivery-metrics.ts';

const linesOf = async (registry: Registry) =>
  (await registry.metrics()).split('\n').filter((line) => /^svc_webhook/.test(line));

it('delivery metrics count attempts from 0 on, and show the queue with one query of storage', async () => {
  const registry = new Registry();
  let looks = 0;
  const describeQueue = async () => {
    looks += 1;
    const dueSinceMs = Date.now() - 90_000;
    return { dueSinceMs, waiting: 7, active: 3, failing: 2, disabled: 1 };
  };
  const record = createDeliveryMetrics(registry, { describeQueue, findOutboxSince: async () => null }, false);
  record('delivered');
  record('rejected');
  record('delivered');
  const lines = await linesOf(registry);
  expect(lines.map((line) => line.replace(/(late_seconds 9[0-9]).*/, '$1'))).toEqual([
    'svc_webhook_attempts_total{outcome="delivered"} 2',
    'svc_webhook_attempts_total{outcome="rejected"} 1',
    'svc_webhook_attempts_total{outcome="unanswered"} 0',
    'svc_webhook_attempts_total{outcome="not_signed"} 0',
    'svc_webhook_outbox_seconds 0',
    'svc_webhook_late_seconds 90',
    'svc_webhook_waiting 7',
    'svc_webhook_endpoints{state="active"} 3',
    'svc_webhook_endpoints{state="failing"} 2',
    'svc_webhook_endpoints{state="disabled"} 1',
  ]);
  expect(looks).toBe(1);
});

const gone = () => Promise.reject(new Error('gone'));
const valuesWhere = async (findOutboxSince: () => Promise<number | null>) => {
  const registry = new Registry();
  createDeliveryMetrics(registry, { describeQueue: gone, findOutboxSince }, false);
  return (await linesOf(registry)).slice(4).map((line) => line.split(' ')[1]);
};

it('delivery metrics are -1 while storage does not answer', async () => {
  expect(await valuesWhere(gone)).toEqual(Array(6).fill('-1'));
});

it('delivery metrics show the age of the outbox even if the queue cannot be described', async () => {
  expect(await valuesWhere(async () => null)).toEqual(['0', ...Array(5).fill('-1')]);
});
