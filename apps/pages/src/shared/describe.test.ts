import { expect, it } from 'vitest';
import { describeLimits, formatAmount, formatInstant } from './describe.ts';

it('a limit on uses is described in words, and an unknown constraint as JSON', () => {
  const purchase = { action: 'commerce:purchase' as const, resources: ['order/7'] };
  const say = (constraints: object) => describeLimits({ ...purchase, constraints: constraints as never });
  const limit = { maxAmount: 90_000, currency: 'USD' };
  expect(say({ ...limit, maxUses: 1 })).toBe('commerce:purchase up to USD\u00a0900.00 (once)');
  expect(say({ ...limit, maxUses: 3 })).toBe('commerce:purchase up to USD\u00a0900.00 (3 times in all)');
  expect(say({ ...limit, other: 1 })).toBe('commerce:purchase up to USD\u00a0900.00 with {"other":1}');
});

it('an instant is shown with its time zone', () => {
  expect(formatInstant('2026-11-20T08:00:00.123Z')).toBe('2026-11-20 08:00:00 UTC');
});

it.each([
  ['USD', '900.00'],
  ['JPY', '90,000'],
  ['KWD', '90.000'],
  ['CLF', '9.0000'],
  // These amounts are usually written without decimals, and some JavaScript engines do so. ISO 4217 has hundredths and
  // thousandths.
  ['HUF', '900.00'],
  ['COP', '900.00'],
  ['IDR', '900.00'],
  ['IQD', '90.000'],
])('90,000 minor units of %s are %s by ISO 4217, not by common rounding', (currency, amount) =>
  expect(formatAmount(90_000, currency)).toBe(`${currency}\u00a0${amount}`),
);
