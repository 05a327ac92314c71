import { expect, it } from 'vitest';
import { pooledRandom } from './random.ts';

it('pooledRandom returns as many bytes as requested, and never the same bytes twice', () => {
  const random = pooledRandom();
  const seen = new Set<string>();
  for (let i = 0; i < 5_000; i++) {
    const bytes = random.bytes(10);
    expect(bytes).toHaveLength(10);
    seen.add(Buffer.from(bytes).toString('hex'));
  }
  expect(seen.size).toBe(5_000);
  expect(random.bytes(10_000)).toHaveLength(10_000);
});

it('pooledRandom never overwrites bytes that it has returned', () => {
  const random = pooledRandom();
  const first = random.bytes(32);
  const copy = Uint8Array.from(first);
  for (let i = 0; i < 1_000; i++) random.bytes(32);
  expect(first).toEqual(copy);
});
