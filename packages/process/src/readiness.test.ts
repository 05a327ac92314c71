import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createServiceReadiness } from './readiness.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('storage that does not answer is told within a second, however many ask', async () => {
  const describeHealth = vi.fn(() => new Promise<string>(() => {}));
  const readiness = createServiceReadiness({
    service: { store: { describeHealth }, holds: { list: () => [] } },
    fence: null,
  });
  const asked = Promise.all([readiness(), readiness()]);
  await vi.advanceTimersByTimeAsync(1_000);
  for (const { ok, checks } of await asked)
    expect([ok, checks.storage]).toEqual([false, 'no answer within 800 ms']);
  expect(describeHealth).toHaveBeenCalledTimes(1);
});
