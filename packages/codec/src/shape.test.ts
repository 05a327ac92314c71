import { describe, expect, it } from 'vitest';
import type { Failure } from './failure.ts';
import { checkShape, closed, oneOf, open, type Shape, type ShapeFailureCode, scalar, text } from './shape.ts';

const findIn = (value: unknown, shape: Shape): Failure<ShapeFailureCode>[] => {
  const failures: Failure<ShapeFailureCode>[] = [];
  checkShape(value, shape, { what: 'parcel', failures });
  return failures;
};

const size = closed(
  { width: scalar('an integer', Number.isInteger) },
  { unit: oneOf('mm', 'm') },
  ({ width }, path, { failures }) => {
    if (width === 0)
      failures.push({
        code: 'malformed-member',
        message: `${path} must have a width`,
        path: `${path}/width`,
      });
  },
);
const parcel = closed({ name: text('not empty', (value) => value !== ''), size: { ...size, orNull: true } });

describe('a closed shape', () => {
  it.each([
    { name: 'a', size: { width: 1 } },
    { name: 'a', size: { width: 1, unit: 'm' } },
    { name: 'a', size: null },
  ])('accepts an object whose members all have their form: %j', (value) => {
    expect(findIn(value, parcel)).toEqual([]);
  });

  it('reports every fault with its JSON Pointer', () => {
    expect(findIn({ name: 7, size: { unit: 'ft' }, 'a/b': 1 }, parcel)).toEqual([
      { code: 'malformed-member', message: '/name must be not empty, not 7', path: '/name' },
      { code: 'malformed-member', message: '/size/unit must be "mm" or "m", not "ft"', path: '/size/unit' },
      { code: 'missing-member', message: '/size/width is missing', path: '/size/width' },
      { code: 'unknown-member', message: '/a~1b is not a member of a parcel', path: '/a~1b' },
    ]);
  });

  it('reports 100 unknown members, counts the others, and still reports faults of known members', () => {
    const many = Object.fromEntries(Array.from({ length: 103 }, (_, i) => [`m${i}`, i]));
    expect(findIn({ ...many, name: 7, size: null }, parcel)).toEqual([
      ...Array.from({ length: 100 }, (_, i) => expect.objectContaining({ path: `/m${i}` })),
      { code: 'malformed-member', message: '/name must be not empty, not 7', path: '/name' },
      { code: 'unknown-member', message: 'each of 3 more is not a member of a parcel', path: '' },
    ]);
  });

  it('does not count further unknown members if there are exactly 100', () => {
    const unknown = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`m${i}`, i]));
    const paths = findIn({ ...unknown, name: 'a', size: null }, parcel).map(({ path }) => path);
    expect(paths).toEqual(Object.keys(unknown).map((name) => `/${name}`));
  });

  it('reports the faults found by its check of the whole object', () => {
    expect(findIn({ name: 'a', size: { width: 0 } }, parcel)).toEqual([
      { code: 'malformed-member', message: '/size must have a width', path: '/size/width' },
    ]);
  });

  it.each([[[]], ['text'], [null], [undefined]])('refuses a value that is not an object: %j', (value) => {
    expect(findIn(value, parcel).map(({ code, path }) => ({ code, path }))).toEqual([
      { code: 'malformed-member', path: '' },
    ]);
  });

  it('does not accept inherited members, and reports __proto__ as an unknown member', () => {
    expect(findIn(Object.create({ name: 'a', size: null }), parcel).map(({ code }) => code)).toEqual([
      'missing-member',
      'missing-member',
    ]);
    expect(findIn(JSON.parse('{"__proto__":1,"name":"a","size":null}'), parcel)).toEqual([
      { code: 'unknown-member', message: '/__proto__ is not a member of a parcel', path: '/__proto__' },
    ]);
  });
});

it('checkShape reports only the missing member if a member is missing', () => {
  expect(findIn({ name: 'a' }, parcel)).toEqual([
    { code: 'missing-member', message: '/size is missing', path: '/size' },
  ]);
});

it('checkShape accepts a scalar with the right value, and names the expected value for another', () => {
  expect(findIn('a', oneOf('a'))).toEqual([]);
  expect(findIn('b', oneOf('a'))).toEqual([
    { code: 'malformed-member', message: 'the parcel must be "a", not "b"', path: '' },
  ]);
});

it('an open shape ignores unknown members, and reports missing ones', () => {
  const shape = open({ name: oneOf('a') });
  expect(findIn({ name: 'a', more: 1 }, shape)).toEqual([]);
  expect(findIn({ more: 1 }, shape).map(({ code }) => code)).toEqual(['missing-member']);
});
