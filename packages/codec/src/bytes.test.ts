import { expect, it } from 'vitest';
import { concatBytes, isSameBytes } from './bytes.ts';

const bytes = (...values: number[]) => Uint8Array.from(values);

it('bytes are the same where length and each of them are', () => {
  expect(isSameBytes(bytes(1, 2), bytes(1, 2))).toBe(true);
  expect(isSameBytes(bytes(), bytes())).toBe(true);
  for (const other of [bytes(1), bytes(1, 3), bytes(1, 2, 3), bytes()])
    expect(isSameBytes(bytes(1, 2), other)).toBe(false);
});

it('parts follow one another in one piece', () => {
  expect(concatBytes([bytes(1), bytes(), bytes(2, 3)])).toEqual(bytes(1, 2, 3));
  expect(concatBytes([])).toEqual(bytes());
});
