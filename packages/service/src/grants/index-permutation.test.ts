import { randomBytes } from 'node:crypto';
import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { permuteIndex } from './index-permutation.ts';

it('permuteIndex gives every ordinal of a whole list a different index inside the list', () => {
  const sizeBits = sampled({ quick: 16_384, deep: 131_072 });
  const key = randomBytes(32);
  const taken = new Uint8Array(sizeBits);
  for (let ordinal = 0; ordinal < sizeBits; ordinal++) {
    const index = permuteIndex(key, sizeBits, ordinal);
    taken[index] = (taken[index] ?? 0) + 1;
  }
  expect(taken.every((times) => times === 1)).toBe(true);
});

it('permuteIndex is a bijection for powers of two from 4 to 512 and any key', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 9 }),
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      (log, key) => {
        const size = 2 ** log;
        const images = new Set(
          Array.from({ length: size }, (_, ordinal) => permuteIndex(key, size, ordinal)),
        );
        expect(images.size).toBe(size);
        expect(Math.max(...images)).toBe(size - 1);
      },
    ),
    { numRuns: sampled({ quick: 16, deep: 50 }) },
  );
});

it('permuteIndex hides the order of allocation: indexes are not in order, and differ between keys', () => {
  const size = 131_072;
  const first = Array.from({ length: 64 }, (_, ordinal) => permuteIndex(new Uint8Array(32), size, ordinal));
  const second = Array.from({ length: 64 }, (_, ordinal) =>
    permuteIndex(new Uint8Array(32).fill(1), size, ordinal),
  );
  expect(first).not.toEqual(second);
  const ascending = first.filter((index, i) => i > 0 && index > (first[i - 1] ?? 0)).length;
  expect(ascending).toBeGreaterThan(10);
  expect(ascending).toBeLessThan(54);
});

it.each([-1, 131_072, 0.5])('permuteIndex refuses ordinal %s, which is outside the list', (ordinal) => {
  expect(() => permuteIndex(new Uint8Array(32), 131_072, ordinal)).toThrow(RangeError);
});

it.each([3, 100_000, 2])(
  'permuteIndex refuses a list of %s bits, which is not a power of two of at least 4',
  (size) => {
    expect(() => permuteIndex(new Uint8Array(32), size, 0)).toThrow(RangeError);
  },
);
