import { expect, it } from 'vitest';
import { BoundedMemo } from './bounded-memo.ts';

it('BoundedMemo holds at most its limit of entries, and drops the least recently used one', () => {
  const memo = new BoundedMemo<number>(2);
  memo.insert('a', 1);
  memo.insert('b', 2);
  expect(memo.find('a')).toBe(1);
  memo.insert('c', 3);
  expect(memo.size).toBe(2);
  expect(memo.find('unknown')).toBeUndefined();
  expect(memo.size).toBe(2);
  expect([memo.find('a'), memo.find('b'), memo.find('c')]).toEqual([1, undefined, 3]);
});

it('BoundedMemo replaces the value of a key that is inserted again, and drops no entry', () => {
  const memo = new BoundedMemo<number>(2);
  memo.insert('a', 1);
  memo.insert('b', 2);
  memo.insert('a', 3);
  expect([memo.find('a'), memo.find('b')]).toEqual([3, 2]);
});
