import { expect, it } from 'vitest';
import { parseRetryAfter } from './retry-after.ts';

const NOW_MS = Date.parse('2026-11-20T08:00:00Z');

it.each<[what: string, value: string | null, seconds: number | null]>([
  ['an absent header', null, null],
  ['0 seconds', '0', 0],
  ['seconds', '120', 120],
  ['nine digits', '999999999', 999_999_999],
  ['a date', 'Fri, 20 Nov 2026 08:00:30 GMT', 30],
  ['a date with a fraction of a second, which is rounded up', '2026-11-20T08:00:30.001Z', 31],
  ['a date in the past', 'Fri, 20 Nov 2026 07:59:00 GMT', 0],
  ['a date too far ahead for nine digits', '+200000-01-01T00:00:00Z', 999_999_999],
  ['a word', 'soon', null],
  ['an empty header', '', null],
  ['seconds with a unit', '30s', null],
  ['a sign before seconds', '-30x', null],
])('parseRetryAfter gives the seconds, or null if there are none, for %s', (_, value, seconds) => {
  expect(parseRetryAfter(value, NOW_MS)).toBe(seconds);
});

it('parseRetryAfter gives null for other text around a number, and for a number of 20 digits', () => {
  // As dates they are invalid, or of a past year.
  for (const value of ['x30', '30 x', '12345678901234567890'])
    expect(parseRetryAfter(value, NOW_MS)).toBeNull();
});
