/** What is left of a budget, in words. */
import type { Capability } from '@svc/protocol';
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
const textsOf = (start: string | null, authority: Capability | null = AUTHORITY) =>
  linesOf(balance(start), authority, NOW).map(
    ({ text, name }) => `${text.replaceAll('\u00a0', ' ')} ${name}`,
  );

it('amounts are shown in their currency, for the current window', () => {
  expect(textsOf('2026-11-20T00:00:00.000Z')).toEqual([
    'USD 4,573.00 of 5,000.00 in all',
    'USD 573.00 of 1,000.00 today',
    '9 of 10 uses',
  ]);
});

it('a past window counts nothing against the current one', () => {
  expect(textsOf('2026-11-19T00:00:00.000Z')[1]).toBe('USD 1,000.00 of 1,000.00 today');
});

it('without currency and period from a Receipt, minor units are shown, and the window by its start', () => {
  expect(textsOf('2026-11-19T00:00:00.000Z', null)).toEqual([
    '457,300 minor units of 500,000 in all',
    '57,300 minor units of 100,000 in the window from 2026-11-19 00:00:00 UTC',
    '9 of 10 uses',
  ]);
  expect(textsOf(null, null)[1]).toBe('57,300 minor units of 100,000 per period');
});

it('used up and low are judged by what is left now, and a window that may be past is unknown', () => {
  const remaining = { total: 0, per_period: 0, uses: 2 };
  const levelsOf = (start: string, authority: Capability | null) =>
    linesOf({ ...balance(start), remaining }, authority, NOW).map(({ level }) => level);
  expect(levelsOf('2026-11-20T00:00:00.000Z', AUTHORITY)).toEqual(['used up', 'used up', 'low']);
  expect(levelsOf('2026-11-19T00:00:00.000Z', AUTHORITY)).toEqual(['used up', 'ample', 'low']);
  expect(levelsOf('2026-11-19T00:00:00.000Z', null)).toEqual(['used up', 'unknown', 'low']);
});

it('a balance without limits has no lines', () => {
  const none = { total: null, per_period: null, uses: null };
  expect(linesOf({ ...balance(null), limits: none, remaining: none }, null, NOW)).toEqual([]);
});
