/** What is left of a budget, as people read it. */
import { expect, it } from 'vitest';
import type { Balance } from '../../shared/wire.ts';
import { linesOf } from './budget-lines.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const balance = (start: string | null): Balance => ({
  key: `sha256:${'1'.repeat(64)}` as Balance['key'],
  ...{ spent_total: 42_700, spent_in_period: 42_700, uses_spent: 1 },
  period_start: start,
  limits: { total: 500_000, per_period: 100_000, uses: 10 },
  remaining: { total: 457_300, per_period: 57_300, uses: 9 },
  updated_at: '2026-11-20T10:00:00.000Z',
});
const AUTHORITY = {
  action: 'commerce:purchase',
  constraints: { currency: 'USD', period: 'day' },
} as const;
const textsOf = (start: string | null, authority: Parameters<typeof linesOf>[1] = AUTHORITY) =>
  linesOf(balance(start), authority, NOW).map(
    ({ text, name }) => `${text.replaceAll('\u00a0', ' ')} ${name}`,
  );

it('names amounts in their currency, of the window that is now', () => {
  expect(textsOf('2026-11-20T00:00:00.000Z')).toEqual([
    'USD 4,573.00 of 5,000.00 in all',
    'USD 573.00 of 1,000.00 today',
    '9 of 10 uses',
  ]);
});

it('a window that is past has used up nothing of the one that is now', () => {
  expect(textsOf('2026-11-19T00:00:00.000Z')[1]).toBe('USD 1,000.00 of 1,000.00 today');
});

it('where no Receipt says the currency, minor units are called that, and no window is guessed', () => {
  expect(textsOf('2026-11-19T00:00:00.000Z', null)).toEqual([
    '457,300 minor units of 500,000 in all',
    '57,300 minor units of 100,000 per period',
    '9 of 10 uses',
  ]);
});

it('what is not limited has no line', () => {
  const none = { total: null, per_period: null, uses: null };
  expect(linesOf({ ...balance(null), limits: none, remaining: none }, null, NOW)).toEqual([]);
});
