import { expect, it } from 'vitest';
import { addFailures, type Failure, failure, show } from './failure.ts';

it('failure() has a path only if one is given', () => {
  expect(Object.keys(failure('broken', 'because'))).toEqual(['code', 'message']);
  expect(failure('broken', 'because', '/a')).toEqual({ code: 'broken', message: 'because', path: '/a' });
});

it('addFailures adds every failure behind those that are there, also more than one call takes as arguments', () => {
  const first = failure('broken', 'first');
  const found = [failure('broken', 'second'), ...Array<Failure>(300_000).fill(failure('broken', 'again'))];
  const failures: Failure[] = [first];
  addFailures(failures, found);
  expect(failures.length).toBe(1 + found.length);
  expect([failures[0], failures[1], failures.at(-1)]).toEqual([first, found[0], found.at(-1)]);
});

it('show() gives a text of at most 80 characters, with an ellipsis if it was cut, for any value', () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  expect([show({ a: [1, null] }), show(undefined), show(1n), show(cycle)]).toEqual([
    '{"a":[1,null]}',
    'missing',
    'a value that is not JSON (bigint)',
    'a value that is not JSON (object)',
  ]);
  expect(show('a'.repeat(78))).toBe(`"${'a'.repeat(78)}"`);
  expect(show('a'.repeat(79))).toBe(`"${'a'.repeat(79)}…`);
});
