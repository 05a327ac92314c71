import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inertCell } from './inert-cell.ts';

const SIGNS = ['=', '+', '-', '@', '＝', '⁼'];

describe('a cell', () => {
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
  ])('%j begins with a mark', (text) => {
    expect(inertCell(text).startsWith("'")).toBe(true);
  });

  it('holds no formula for a program that takes other separators', () => {
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

  it('gives back what was there when the marks are taken off', () => {
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

  it('that is a number or nothing stays it', () => {
    expect([inertCell(5), inertCell(null), inertCell('order/1')]).toEqual(['5', '', 'order/1']);
  });
});
