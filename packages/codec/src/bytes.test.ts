import { expect, it } from 'vitest';
import { concatBytes, isSameBytes } from './bytes.ts';

const bytes = (...values: number[]) => Uint8Array.from(values);

it('isSameBytes is true exactly for equal lengths and equal bytes', () => {
  expect(isSameBytes(bytes(1, 2), bytes(1, 2))).toBe(true);
  expect(isSameBytes(bytes(), bytes())).toBe(true);
  for (const other of [bytes(1), bytes(1, 3), bytes(1, 2, 3), bytes()])
    expect(isSameBytes(bytes(1, 2), other)).toBe(false);
});

it('concatBytes joins its parts in order', () => {
  expect(concatBytes([bytes(1), bytes(), bytes(2, 3)])).toEqual(bytes(1, 2, 3));
  expect(concatBytes([])).toEqual(bytes());
});
