import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createColdHealth, createContentHealth } from './content-health.ts';

const health = (
  listBroken: () => Promise<string[]>,
  oldestCheckMs = async (): Promise<number | null> => null,
) => {
  const registry = new Registry();
  return { registry, health: createContentHealth(registry, { listBroken, oldestCheckMs }) };
};

it('broken days are counted in the metrics and named in the description', async () => {
  const days = ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04', '2026-01-05', '2026-01-06'];
  const broken = health(async () => days);
  expect(await broken.registry.metrics()).toContain('svc_content_broken_days 6');
  expect(await broken.health.describe()).toBe(`broken: ${days.slice(0, 5).join(', ')} and 1 more`);
  const whole = health(async () => []);
  expect(await whole.registry.metrics()).toContain('svc_content_broken_days 0');
  expect(await whole.health.describe()).toBe('ok');
});

it('content health is unknown, -1 in the metrics, while storage does not answer', async () => {
  const blind = health(() => Promise.reject(new Error('gone')));
  expect(await blind.registry.metrics()).toContain('svc_content_broken_days -1');
  expect(await blind.health.describe()).toBe('unknown');
});

it('a hot day that was last read 40 hours ago is reported, with its age in the metrics', async () => {
  let hours = 35;
  const late = health(
    async () => [],
    async () => Date.now() - hours * 3_600_000 - 1_000,
  );
  expect(await late.health.describe()).toBe('ok');
  hours = 40;
  expect(await late.health.describe()).toBe('a closed day was last read 40 hours ago');
  expect(await late.registry.metrics()).toMatch(/^svc_content_check_age_seconds 14400\d/m);
});

it('broken cold days have a separate description and metric', async () => {
  const registry = new Registry();
  const listBroken = async () => [{ day: '2026-01-01', problem: 'its ids lead elsewhere' }];
  const oldestProofMs = async () => null;
  const cold = createColdHealth(registry, { listBroken, oldestProofMs });
  expect(await cold.describe()).toBe('broken: 2026-01-01');
  expect(await registry.metrics()).toContain('svc_cold_broken_days 1');
});

it('a cold day that was last proven 41 days ago is reported, with its age in the metrics', async () => {
  const registry = new Registry();
  let days = 0;
  const oldestProofMs = async () => Date.now() - days * 86_400_000 - 1_000;
  const cold = createColdHealth(registry, { listBroken: async () => [], oldestProofMs });
  days = 39;
  expect(await cold.describe()).toBe('ok');
  days = 41;
  expect(await cold.describe()).toBe('a cold day was last proven 41 days ago');
  expect(await registry.metrics()).toMatch(/^svc_cold_proof_age_seconds 35424\d\d/m);
});
