import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { parseJsonEnvelope } from './json-envelope.ts';

describe('The envelope of /verify', () => {
  it('reads top-level members as JSON.parse does, with any white space and escapes', () => {
    const values = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.string()),
    );
    const objects = fc.dictionary(
      fc.string().filter((name) => name !== '__proto__'),
      fc.oneof(
        values,
        fc.dictionary(
          fc.constantFrom('a', 'b"', '\\', 'c\\"'),
          fc.oneof(fc.integer(), fc.stringMatching(/^[a-z"\\{}[\],]*$/)),
        ),
      ),
    );
    fc.assert(
      fc.property(objects, fc.constantFrom(undefined, 1, '\t', '\r\n '), (object, space) => {
        const text = JSON.stringify(object, null, space);
        fc.pre(!/\\u0000|\\ud/.test(text));
        const nested = Object.values(object).some(
          (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
        );
        const parsed = parseJsonEnvelope(text);
        expect(parsed.ok).toBe(true);
        if (parsed.ok && !nested) expect(parsed.value).toEqual(JSON.parse(text));
        if (parsed.ok && nested) expect(Object.keys(parsed.value as object)).toEqual(Object.keys(object));
      }),
      { numRuns: sampled({ quick: 300, deep: 2_000 }) },
    );
  });

  it.each([
    ['a member twice', '{"type":"x","type":"y"}'],
    ['a member twice, one of them escaped', '{"type":"x","typ\\u0065":"y"}'],
    ['a fraction', '{"amount":1.5}'],
    ['an exponent', '{"amount":1e3}'],
    ['an integer beyond 2^53-1', '{"amount":9007199254740993}'],
    ['U+0000', '{"resource":"\\u0000"}'],
    ['a lone surrogate', '{"resource":"\\ud800"}'],
    ['too deep', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`],
  ])('passes on an action with %s as an empty object, which is then denied', (_, action) => {
    expect(parseJsonEnvelope(`{"grant":"g","action":${action} , "proof":"p"}`)).toEqual({
      ok: true,
      value: { grant: 'g', action: {}, proof: 'p' },
    });
  });

  it('with more than 16 members is refused without reading the others', () => {
    const membersOf = (count: number, value: string) =>
      `{${Array.from({ length: count }, (_, i) => `"${i.toString(36)}":${value}`).join()}}`;
    for (const value of ['0', '{}', '{"a":1}']) {
      const refused = { ok: false, problem: 'it has more than 16 members' };
      expect(parseJsonEnvelope(membersOf(7_000, value))).toEqual(refused);
      expect(parseJsonEnvelope(membersOf(17, value))).toEqual(refused);
      expect(parseJsonEnvelope(membersOf(16, value)).ok).toBe(true);
    }
    // The work is limited, not only fast: members after the 17th are not read, even if one is a duplicate.
    const parse = vi.spyOn(JSON, 'parse');
    parseJsonEnvelope(membersOf(7_000, '{}'));
    // The whole text once, and the name of each member that was read.
    expect(parse).toHaveBeenCalledTimes(18);
    parse.mockRestore();
    const late = membersOf(7_000, '0').replace(/\}$/, ',"0":1}');
    expect(parseJsonEnvelope(late)).toEqual({ ok: false, problem: 'it has more than 16 members' });
    expect(parseJsonEnvelope('{"a":1,"b":2,"a":3}')).toMatchObject({
      problem: 'the member "a" stands twice',
    });
  });

  it.each([
    ['is not JSON', '{"grant":'],
    ['names a member twice', '{"grant":"a","grant":"b","action":{}}'],
    ['names a member twice, once escaped', '{"grant":"a","gr\\u0061nt":"b"}'],
    ['begins with a byte order mark', '\ufeff{}'],
  ])('is refused if it %s', (_, text) => {
    expect(parseJsonEnvelope(text).ok).toBe(false);
  });

  it('may have scalars of any length', () => {
    const text = `{"a": ${'1'.repeat(5_000)},"b":true ,"c":null}`;
    expect(parseJsonEnvelope(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  it.each(['[]', 'null', '"x"', '7'])('that is %s is passed on, so that the contract refuses it', (text) => {
    expect(parseJsonEnvelope(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  it('treats a member named __proto__ as an ordinary member', () => {
    const parsed = parseJsonEnvelope('{"__proto__":{"grant":"x"}}');
    expect(parsed.ok && Object.keys(parsed.value as object)).toEqual(['__proto__']);
  });
});
