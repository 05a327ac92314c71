import { expect, it } from 'vitest';
import type { JsonValue } from './json.ts';
import { plainObject } from './plain-object.ts';
import { MAX_JSON_DEPTH } from './strict-json.ts';

const deep = (depth: number): JsonValue => {
  let value: JsonValue = 1;
  for (let left = depth; left > 0; left--) value = { a: value };
  return value;
};

it('plainObject copies every member, including `__proto__` and values that are not JSON', () => {
  const given = JSON.parse('{"a":[1,{"b":null}],"__proto__":{"c":"d"}}');
  const copy = plainObject(given);
  expect(JSON.stringify(copy)).toBe(JSON.stringify(given));
  expect(copy?.a).not.toBe(given.a);
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  expect(Object.getOwnPropertyDescriptor(copy, '__proto__')).toEqual({
    ...{ value: { c: 'd' }, configurable: true, enumerable: true, writable: true },
  });
  expect(plainObject({ a: 1n, b: undefined })).toEqual({ a: 1n, b: undefined });
});

it('plainObject accepts the nesting that strict JSON allows, and returns null for deeper nesting and cycles', () => {
  expect(plainObject(deep(MAX_JSON_DEPTH))).toEqual(deep(MAX_JSON_DEPTH));
  expect(plainObject({ a: [deep(MAX_JSON_DEPTH - 2)] })).toEqual({ a: [deep(MAX_JSON_DEPTH - 2)] });
  expect(plainObject({ a: [deep(MAX_JSON_DEPTH - 1)] })).toBeNull();
  for (const depth of [MAX_JSON_DEPTH + 1, 100, 4_000, 100_000]) expect(plainObject(deep(depth))).toBeNull();
  const cycle: Record<string, unknown> = {};
  cycle.self = [cycle];
  expect(plainObject(cycle)).toBeNull();
});

it('plainObject returns null for a non-object, a toJSON function within, and an object that throws when read', () => {
  for (const none of [undefined, null, 1, 'a', [], () => 1]) expect(plainObject(none)).toBeNull();
  for (const other of [new Date(0), Object.defineProperty([], 'toJSON', { value: () => null })])
    expect(plainObject({ a: other })).toBeNull();
  expect(plainObject({ toJSON: 'a' })).toEqual({ toJSON: 'a' });
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const throwing = {
    get b() {
      throw new Error('no');
    },
  };
  for (const bad of [proxy, { a: proxy }, { a: [throwing] }]) expect(plainObject(bad)).toBeNull();
});

it('plainObject reads an accessor once', () => {
  let asked = 0;
  const given = {
    get a() {
      asked++;
      return asked;
    },
  };
  const copy = plainObject(given);
  expect([copy?.a, copy?.a, asked]).toEqual([1, 1, 1]);
});

it('plainObject returns null for an object that is too large when written out, such as with repeated parts', () => {
  let shared: JsonValue = 1;
  for (let level = 1; level < MAX_JSON_DEPTH; level++) shared = { a: shared, b: shared };
  expect(plainObject(shared)).toBeNull();
  // The array is a member too.
  expect(plainObject({ a: Array.from({ length: 249_999 }, () => 1) })).not.toBeNull();
  expect(plainObject({ a: Array.from({ length: 250_000 }, () => 1) })).toBeNull();
});
