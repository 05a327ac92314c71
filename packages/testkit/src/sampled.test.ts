import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => vi.unstubAllEnvs());

const load = async (depth: string) => {
  vi.stubEnv('SVC_TEST_DEPTH', depth);
  vi.resetModules();
  return import('./sampled.ts');
};

it('a quick sample has the first, the last and other elements, and a deep run has all', async () => {
  const all = Array.from({ length: 1_000 }, (_, i) => i);
  const quick = await load('');
  expect(quick.sampled({ quick: 1, deep: 2 })).toBe(1);
  const sample = quick.sampleOf(all, 5);
  expect([sample.length, sample[0], sample.at(-1), new Set(sample).size]).toEqual([5, 0, 999, 5]);
  const deep = await load('deep');
  expect([deep.sampled({ quick: 1, deep: 2 }), deep.sampleOf(all, 5)]).toEqual([2, all]);
});
