import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inertCell } from './inert-cell.ts';

const SIGNS = ['=', '+', '-', '@', '＝', '⁼'];
/** The rule as one regular expression, which searches all dropped characters again after each tab. */
const COMPUTED =
  /(?<=^|[;|\t])(?=[\s"'`\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@＝＋－＠﹦﹢﹣﹫⁼₌⁺₊⁻₋]|[\t\r\n'])/gu;

describe('A CSV cell', () => {
  it.each([
    ...SIGNS.flatMap((sign) => [
      `${sign}1`,
      ` ${sign}1`,
      `"${sign}1`,
      `\u200b${sign}1`,
      `\ufe0f${sign}1`,
      `\t${sign}1`,
    ]),
    "'=1",
    '\r1',
  ])('%j gets a leading apostrophe', (text) => {
    expect(inertCell(text).startsWith("'")).toBe(true);
  });

  it('contains no formula, even for a program that splits at ; | or tab', () => {
    const text = fc.string({
      unit: fc.constantFrom(...SIGNS, ';', '|', '\t', ' ', "'", 'a', '1'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(text, (value) => {
        for (const cell of inertCell(value).split(/[;|\t]/)) expect(cell).not.toMatch(/^\s*[=+\-@＝⁼]/);
      }),
      { numRuns: sampled({ quick: 500, deep: 5_000 }) },
    );
  });

  it('gives back the stored text when the added apostrophes are removed', () => {
    const text = fc.string({
      unit: fc.constantFrom(...SIGNS, ';', '|', '\t', '\r', ' ', "'", '"', 'a'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(text, (value) => {
        expect(inertCell(value).replace(/(?<=^|[;|\t])'/g, '')).toBe(value);
      }),
      { numRuns: sampled({ quick: 500, deep: 5_000 }) },
    );
  });

  it('has added apostrophes exactly where the rule requires them, for any text', () => {
    const dropped = [' ', '\t', '\r', '\n', '"', "'", '`', '\u200b', '\u0001', '\u2800', '\u{e0001}'];
    const unit = fc.oneof(
      fc.constantFrom(...SIGNS, ...dropped, ';', '|', ',', 'a', '1', '\ud800', '\udc00', '\u{1f600}'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 20 }), (value) => {
        expect(inertCell(value)).toBe(value.replace(COMPUTED, "'"));
      }),
      { numRuns: sampled({ quick: 2_000, deep: 50_000 }) },
    );
  });

  it('of a million tabs is marked correctly', () => {
    const tabs = '\t'.repeat(1_000_000);
    expect(inertCell(tabs)).toBe("'\t".repeat(1_000_000));
    expect(inertCell(`${tabs}=`)).toBe(`${"'\t".repeat(1_000_000)}'=`);
  });

  it('of a number, null or harmless text has no added apostrophe', () => {
    expect([inertCell(5), inertCell(null), inertCell('order/1')]).toEqual(['5', '', 'order/1']);
  });
});
