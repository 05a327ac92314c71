import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from './api-error.ts';
import { readAnyNumbers, requireJsonType } from './json-of-authzen.ts';

/** The value as the reader returns it: numbers that are no safe integer become null. */
const asRead = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, member: unknown) =>
    typeof member === 'number' && !Number.isSafeInteger(member) ? null : member,
  );

const accepts = (text: string, parse: (text: string) => unknown): boolean => {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('The JSON reader of AuthZEN', () => {
  it('reads JSON like JSON.parse, except that numbers which strict JSON refuses become null', () => {
    const json = fc
      .jsonValue({ maxDepth: 4 })
      .filter((value) => accepts(JSON.stringify(asRead(value)), readAnyNumbers));
    fc.assert(
      fc.property(json, (value) => {
        expect(readAnyNumbers(JSON.stringify(value))).toEqual(asRead(value));
      }),
    );
  });

  it.each(['1.5', '-1.5', '1e3', '1E-3', '100.0', '9007199254740992', '-9007199254740992', '1e400'])(
    'reads %s as null',
    (text) => {
      expect(readAnyNumbers(`{"a":${text},"b":"${text}"}`)).toEqual({ a: null, b: text });
    },
  );

  it('accepts no text that JSON.parse refuses', () => {
    const near = fc.string({
      unit: fc.constantFrom(
        ...'{}[]",:\\',
        ...'0123456789',
        '.',
        '-',
        '+',
        'e',
        'E',
        'null',
        '"a"',
        ' ',
        'u0031',
      ),
      maxLength: 24,
    });
    fc.assert(
      fc.property(near, (text) => {
        if (accepts(text, readAnyNumbers)) expect(accepts(text, JSON.parse)).toBe(true);
      }),
      { numRuns: sampled({ quick: 2_000, deep: 20_000 }) },
    );
  });

  it.each(['01.5', '1.', '.5', '1.5.5', '--1.5', '1.5e', '+1.5', '0x1.8', '1.5 1.5', '"1.5', '"\\"1.5'])(
    'refuses %s',
    (text) => {
      expect(() => readAnyNumbers(`{"a":${text}}`)).toThrow(ApiError);
    },
  );

  it('refuses duplicate members, lone surrogates and too deep nesting', () => {
    for (const text of ['{"a":1.5,"a":2.5}', '{"a":"\\ud800"}', '['.repeat(40) + ']'.repeat(40)])
      expect(() => readAnyNumbers(text)).toThrow(ApiError);
  });

  it('refuses an unterminated string of a million escaped quotes', () => {
    const text = `"${'\\"'.repeat(1_000_000)}`;
    expect(() => readAnyNumbers(text)).toThrow(ApiError);
  });
});

it('The content type of AuthZEN requests must be application/json, in any case and with any parameters', () => {
  for (const type of ['application/json', 'Application/JSON', 'application/json; charset=utf-8'])
    expect(accepts(type, requireJsonType)).toBe(true);
  for (const type of ['', 'text/json', 'application/jsonp', 'application/problem+json'])
    expect(accepts(type, requireJsonType)).toBe(false);
});
