import { sampled } from '@svc/testkit/sampled';
import { listThirdParty, readThirdPartyBytes } from '@svc/vectors/src/third-party.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from './json.ts';
import { MAX_JSON_DEPTH, parseJsonOfAnyNumbers, parseStrictJson } from './strict-json.ts';
import { decodeUtf8 } from './utf8.ts';

const name = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('__proto__', 'constructor', '', '0', 'a'),
);
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<JsonValue>(null, true, false),
    fc.maxSafeInteger(),
    name,
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(fc.tuple(name, tie('value')), { maxLength: 4 })
      .map((members) => Object.fromEntries(members) as JsonValue),
  ),
}));
const text = fc
  .tuple(value, fc.constantFrom(undefined, 1, '\t'))
  .map(([v, space]) => JSON.stringify(v, null, space));

/** Shows object members in order, and `__proto__` like any other. */
const show = (v: unknown): string => JSON.stringify(v);

const countColons = (t: string): number => t.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
const countMembers = (v: unknown): number => {
  if (typeof v !== 'object' || v === null) return 0;
  const inside = Object.values(v).reduce((sum: number, member) => sum + countMembers(member), 0);
  return inside + (Array.isArray(v) ? 0 : Object.keys(v).length);
};

/** Reasons why a text that JSON.parse accepts may be refused, found by an independent reading of the text. */
const RULES: Record<string, (text: string) => boolean> = {
  'duplicate member': (t) => countColons(t) > countMembers(JSON.parse(t)),
  'lone surrogate': (t) => /\\u[dD][89a-fA-F]|\p{Surrogate}/u.test(t),
  'U+0000': (t) => t.includes('\\u0000'),
  'number not an integer': (t) => /[0-9][.eE]/.test(t),
  'number out of range': (t) => /[0-9]{16}/.test(t),
};

const tryParse = (t: string): { value: unknown } | null => {
  try {
    return { value: JSON.parse(t) };
  } catch {
    return null;
  }
};

const SUITE = 'json-test-suite/test_parsing';

describe('parseStrictJson', () => {
  it('gives the value of JSON.parse if no stricter rule applies', () => {
    fc.assert(
      fc.property(text, (t) => {
        const result = parseStrictJson(t);
        if (t.includes('\\u0000')) expect(result).toMatchObject({ ok: false, problem: 'U+0000' });
        else expect(result.ok && show(result.value)).toBe(show(JSON.parse(t)));
      }),
      { numRuns: sampled({ quick: 300, deep: 1_000 }) },
    );
  });

  it('accepts damaged text only with the value of JSON.parse, and otherwise names the rule that the text breaks', () => {
    const fragment = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        '"',
        ':',
        ',',
        '\\',
        '\\u',
        '\\ud83d',
        '\\ude02',
        '\\u0000',
        '\\n',
        '0',
        '-',
        '.',
        '1e2',
      ],
      ...[
        '9007199254740993',
        'true',
        'nul',
        ' ',
        '\n',
        '\u0000',
        '\u0007',
        '\ufeff',
        '\ud83d',
        '\ude02',
        '"a":1,',
      ],
    );
    let refusedByRule = 0;
    fc.assert(
      fc.property(
        text,
        fc.array(fc.tuple(fc.nat(), fc.nat(2), fragment), { minLength: 1, maxLength: 3 }),
        (t, edits) => {
          let damaged = t;
          for (const [position, dropped, inserted] of edits) {
            const at = position % (damaged.length + 1);
            damaged = damaged.slice(0, at) + inserted + damaged.slice(at + dropped);
          }
          const strict = parseStrictJson(damaged);
          const lenient = tryParse(damaged);
          if (strict.ok) {
            expect(show(strict.value)).toBe(show(lenient?.value));
            return;
          }
          expect(strict.offset).toBeLessThanOrEqual(damaged.length);
          if (lenient === null) return;
          refusedByRule++;
          expect(RULES[strict.problem]?.(damaged), `${strict.problem}: ${JSON.stringify(damaged)}`).toBe(
            true,
          );
        },
      ),
      { numRuns: sampled({ quick: 500, deep: 5_000 }) },
    );
    expect(refusedByRule).toBeGreaterThan(0);
  });

  it('never throws on arbitrary text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 60 }),
        (t) => typeof parseStrictJson(t).ok === 'boolean',
      ),
    );
  });

  it.each([
    ['{"a":1,"a":1}', 'duplicate member', 7],
    ['{"x":[{"a":1,"\\u0061":2}]}', 'duplicate member', 13],
    ['{"__proto__":1,"__proto__":2}', 'duplicate member', 15],
    ['\ufeff{}', 'byte order mark', 0],
    ['"\\ud800"', 'lone surrogate', 1],
    ['"\\udc00\\ud800"', 'lone surrogate', 1],
    ['"\\ud83dx"', 'lone surrogate', 1],
    ['"\ud800"', 'lone surrogate', 1],
    ['"\\ud83d\ude02"', 'lone surrogate', 1],
    ['{"\\udfff":1}', 'lone surrogate', 2],
    ['"a\\u0000"', 'U+0000', 2],
    ['"\u0000"', 'control character in a string', 1],
    ['"\n"', 'control character in a string', 1],
    ['"\u0007\ude02"', 'control character in a string', 1],
    ['1.0', 'number not an integer', 0],
    ['1e0', 'number not an integer', 0],
    ['[-1E+2]', 'number not an integer', 1],
    ['9007199254740992', 'number out of range', 0],
    ['-9007199254740992', 'number out of range', 0],
    [`1${'0'.repeat(400)}`, 'number out of range', 0],
    ['01', 'number with a leading zero', 0],
    ['-', 'expected a digit', 1],
    ['+1', 'unexpected character', 0],
    ['.5', 'unexpected character', 0],
    ['NaN', 'unexpected character', 0],
    ['', 'unexpected end', 0],
    ['  ', 'unexpected end', 2],
    ['{"a":', 'unexpected end', 5],
    ['{"a"}', 'expected a colon', 4],
    ['{a:1}', 'expected a member name', 1],
    ['{"a":1,}', 'expected a member name', 7],
    ['[1,]', 'unexpected character', 3],
    ['[1 2]', 'expected a comma or the end of the array', 3],
    ['{"a":1]', 'expected a comma or the end of the object', 6],
    ['"abc', 'unterminated string', 4],
    ['"\\x"', 'invalid escape', 1],
    ['"\\u12g4"', 'invalid escape', 1],
    ['"\\', 'invalid escape', 1],
    ['true false', 'text after the value', 5],
    ['nul', 'unexpected character', 0],
    ['\u00a01', 'unexpected character', 0],
    ["'a'", 'unexpected character', 0],
    ['/**/1', 'unexpected character', 0],
  ])('refuses %j: %s', (t, problem, offset) => {
    expect(parseStrictJson(t)).toEqual({ ok: false, problem, offset });
  });

  it('accepts the ends of the integer range and every escape', () => {
    const t =
      '[9007199254740991,-9007199254740991,0,-0,"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE02😂\u2028"]';
    expect(parseStrictJson(t)).toEqual({
      ok: true,
      value: [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0, 0, '"\\/\b\f\n\r\té😂😂\u2028'],
    });
  });

  it('accepts nesting of 32 and refuses nesting of 33 and of a million, for arrays and objects', () => {
    const arrays = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    const objects = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    for (const nest of [arrays, objects]) {
      expect(parseStrictJson(nest(MAX_JSON_DEPTH)).ok).toBe(true);
      expect(parseStrictJson(nest(MAX_JSON_DEPTH + 1))).toMatchObject({
        ok: false,
        problem: 'nested too deep',
      });
      expect(parseStrictJson(nest(1_000_000))).toMatchObject({ ok: false, problem: 'nested too deep' });
    }
    expect(parseStrictJson(`[${Array(40).fill(arrays(31)).join()}]`).ok).toBe(true);
  });

  it('refuses all n_ and i_ files of JSONTestSuite, and accepts 76 of its y_ files', () => {
    const read = (kind: string): string[] =>
      files.filter((file) => {
        if (!file.startsWith(`${SUITE}/${kind}_`)) return false;
        const text = decodeUtf8(readThirdPartyBytes(file));
        return text !== null && parseStrictJson(text).ok;
      });
    const files = listThirdParty(SUITE, '.json');
    expect(files).toHaveLength(318);
    expect(read('n')).toEqual([]);
    expect(read('i')).toEqual([]);
    // The other 19 contain a number that is not an integer, U+0000, a duplicate member or a lone surrogate.
    expect(read('y')).toHaveLength(76);
  });

  it('returns __proto__ as an ordinary own member', () => {
    const result = parseStrictJson('{"__proto__":{"admin":true}}');
    if (!result.ok) throw new Error(result.problem);
    expect(Object.keys(result.value ?? {})).toEqual(['__proto__']);
    expect((result.value as Record<string, unknown>).admin).toBeUndefined();
    expect(Object.getOwnPropertyDescriptor(result.value, '__proto__')).toMatchObject({
      configurable: true,
      enumerable: true,
      writable: true,
    });
  });

  it('does not count siblings as nesting', () => {
    const brothers = Array.from({ length: 3 * MAX_JSON_DEPTH }, (_, i) => (i % 2 === 0 ? [] : {}));
    expect(parseStrictJson(JSON.stringify(brothers))).toEqual({ ok: true, value: brothers });
  });

  it('skips the four white space characters of JSON, and no others', () => {
    const spaced = (space: string) =>
      parseStrictJson(`${space}[${space}1${space},${space}2${space}]${space}`);
    for (const space of [' ', '\t', '\n', '\r']) expect(spaced(space)).toEqual({ ok: true, value: [1, 2] });
    for (const space of ['\v', '\f', '\u00a0', '\ufeff', '\u2028']) expect(spaced(space).ok).toBe(false);
  });

  it.each([
    ['\\ud800\\udc00', true],
    ['\\udbff\\udfff', true],
    ['\\udc00\\udc00', false],
    ['\\udfff\\udc00', false],
    ['\\ud800\\ud800', false],
    ['\\ud800\\udbff', false],
    ['\\ud800\\ue000', false],
    ['\\udc00', false],
  ])('accepts a high surrogate followed by a low one, and no other surrogates: %s', (escapes, isPair) => {
    const text = `"${escapes}"`;
    const result = parseStrictJson(text);
    expect(result).toMatchObject(
      isPair ? { value: JSON.parse(text) } : { ok: false, problem: 'lone surrogate' },
    );
  });
});

describe('parseJsonOfAnyNumbers', () => {
  it.each<[string, unknown]>([
    ['{"a":52.5,"b":1}', { a: null, b: 1 }],
    ['[1.0,1e3,-0.0,1E-7,9007199254740993,-9007199254740993]', [null, null, null, null, null, null]],
    ['[0,-0,9007199254740991,-1]', [0, 0, 9007199254740991, -1]],
    ['"1.5"', '1.5'],
    ['[0.125,1e10,12.75E-101]', [null, null, null]],
    [`${'9'.repeat(400)}`, null],
  ])('reads %s with null for each number that strict JSON refuses', (text, value) => {
    expect(parseJsonOfAnyNumbers(text)).toEqual({ ok: true, value });
  });

  it.each([
    '01',
    '01.5',
    '1.',
    '.5',
    '1e',
    '1e+',
    '-',
    '-.5',
    '+1',
    '1.5.2',
    '0x1',
    'NaN',
    'Infinity',
    '1_0',
    '{"a":1.5,"a":2}',
    '["\\u0000"]',
    `${'['.repeat(33)}${']'.repeat(33)}`,
  ])('refuses %s', (text) => {
    expect(parseJsonOfAnyNumbers(text).ok).toBe(false);
  });

  it('accepts as many levels more as may surround the text', () => {
    const arrays = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(parseJsonOfAnyNumbers(arrays(MAX_JSON_DEPTH + 3), 3).ok).toBe(true);
    expect(parseJsonOfAnyNumbers(arrays(MAX_JSON_DEPTH + 4), 3)).toMatchObject({
      ok: false,
      problem: 'nested too deep',
    });
  });

  it('agrees with parseStrictJson on all other JSON text', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const strict = parseStrictJson(text);
        if (strict.ok) expect(parseJsonOfAnyNumbers(text)).toEqual(strict);
        else if (/number (?:not|out)/.test(strict.problem)) {
          const any = parseJsonOfAnyNumbers(text);
          if (!any.ok) expect(any.problem).not.toMatch(/number/);
        } else expect(parseJsonOfAnyNumbers(text).ok).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
