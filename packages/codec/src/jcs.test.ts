import { listThirdParty, readThirdPartyJson, readThirdPartyText } from '@svc/vectors/src/third-party.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JcsError, jcs, MAX_JCS_DEPTH } from './jcs.ts';
import type { JsonValue } from './json.ts';
import { encodeUtf8 } from './utf8.ts';

const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 6 }) as fc.Arbitrary<JsonValue>;
const refuses = (value: unknown): void => expect(() => jcs(value as JsonValue)).toThrow(JcsError);
const nested = (depth: number): JsonValue =>
  depth === 0 ? 1 : depth % 2 === 0 ? [nested(depth - 1)] : { a: nested(depth - 1) };

/** The value with its members in reverse order, at every depth. */
const reversed = (value: JsonValue): JsonValue => {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
};

describe('jcs', () => {
  it('gives the bytes of every RFC 8785 vector', () => {
    const files = listThirdParty('jcs/input', '.json');
    expect(files).toHaveLength(6);
    for (const file of files) {
      const bytes = encodeUtf8(jcs(readThirdPartyJson<JsonValue>(file)));
      const hex = readThirdPartyText(file.replace('input', 'outhex').replace('.json', '.txt'))
        .trim()
        .split(/\s+/);
      expect([...bytes].map((byte) => byte.toString(16).padStart(2, '0'))).toEqual(hex);
    }
  });

  it('is idempotent and keeps the value', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = jcs(value);
        expect(jcs(JSON.parse(text) as JsonValue)).toBe(text);
        expect(JSON.stringify(reversed(reversed(JSON.parse(text) as JsonValue)))).toBe(text);
      }),
    );
  });

  it('does not depend on the order of members', () => {
    fc.assert(fc.property(json, (value) => jcs(reversed(value)) === jcs(value)));
  });

  it('sorts by UTF-16 code unit and writes -0 as 0', () => {
    expect(jcs({ '\u{1f602}': 1, '\ufb33': 2, a: -0, B: [] })).toBe(
      '{"B":[],"a":0,"\u{1f602}":1,"\ufb33":2}',
    );
  });

  it('keeps members named __proto__ and toJSON', () => {
    expect(jcs(JSON.parse('{"__proto__":1,"toJSON":2}') as JsonValue)).toBe('{"__proto__":1,"toJSON":2}');
  });

  it.each([
    ['undefined', undefined],
    ['an undefined member', { a: undefined }],
    ['a function', { a: () => 1 }],
    ['toJSON', { toJSON: () => 1 }],
    ['a symbol', Symbol('a')],
    ['a bigint', 1n],
    ['NaN', Number.NaN],
    ['infinity', [Number.POSITIVE_INFINITY]],
    // biome-ignore lint/suspicious/noSparseArray: the hole is the case
    ['a hole', [1, , 2]],
    ['a Date', new Date(0)],
    ['a Map', new Map()],
    ['bytes', new Uint8Array(1)],
    ['a lone surrogate', ['\ud800']],
    ['a lone surrogate in a name', { '\udc00': 1 }],
  ])('refuses %s', (_, value) => refuses(value));

  it('accepts nesting of 64, and refuses nesting of 65 and of 100,000, and a cycle', () => {
    expect(jcs(nested(MAX_JCS_DEPTH))).toMatch(/^\[\{"a":/);
    refuses(nested(MAX_JCS_DEPTH + 1));
    refuses(JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)));
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    refuses(cycle);
  });

  it('accepts an object without a prototype, and its error has the name JcsError', () => {
    expect(jcs(Object.assign(Object.create(null), { a: true }))).toBe('{"a":true}');
    expect(new JcsError('because').name).toBe('JcsError');
  });

  it('accepts the same object in two places', () => {
    const shared = { a: 1 };
    expect(jcs([shared, shared])).toBe('[{"a":1},{"a":1}]');
  });
});
