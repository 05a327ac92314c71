import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '@svc/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findFirstDifference } from './first-difference.ts';

/** Plain JSON only: without -0, and without objects that have a class. */
const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);

describe('findFirstDifference', () => {
  it('returns null exactly for equal values', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(findFirstDifference(a, b) === null).toBe(isDeepStrictEqual(a, b));
        expect(findFirstDifference(a, JSON.parse(JSON.stringify(a)))).toBeNull();
      }),
    );
  });

  it.each<readonly [string, JsonValue, JsonValue, object]>([
    ['a scalar', 1, '1', { pointer: '', expected: 1, got: '1' }],
    ['null for absent', { a: null }, {}, { pointer: '/a', expected: null, got: undefined }],
    ['a member too many', {}, { a: null }, { pointer: '/a', expected: undefined, got: null }],
    ['the first in expected order', { b: 1, a: 1 }, { a: 2, b: 2 }, { pointer: '/b', expected: 1, got: 2 }],
    ['deep', { a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }, { pointer: '/a/1/b', expected: 2, got: 3 }],
    ['an item too few', [1, 2], [1], { pointer: '/1', expected: 2, got: undefined }],
    ['an array for an object', { a: {} }, { a: [] }, { pointer: '/a', expected: {}, got: [] }],
    ['names with slash and tilde', { 'a/b~': 1 }, { 'a/b~': 2 }, { pointer: '/a~1b~0', expected: 1, got: 2 }],
    [
      'names of the prototype',
      {},
      JSON.parse('{"__proto__":1}'),
      { pointer: '/__proto__', expected: undefined, got: 1 },
    ],
    [
      'an inherited name',
      JSON.parse('{"toString":1}'),
      {},
      { pointer: '/toString', expected: 1, got: undefined },
    ],
  ])('finds the difference: %s', (_, expected, got, difference) => {
    expect(findFirstDifference(expected, got)).toEqual(difference);
  });
});
