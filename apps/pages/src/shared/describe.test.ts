import { expect, it } from 'vitest';
import { describeAuthority, formatInstant } from './describe.ts';

it('a limit on uses is said in words, and what has none as it stands', () => {
  const purchase = { action: 'commerce:purchase' as const, resources: ['order/7'] };
  const say = (constraints: object) => describeAuthority({ ...purchase, constraints: constraints as never });
  const limit = { maxAmount: 90_000, currency: 'USD' };
  expect(say({ ...limit, maxUses: 1 })).toBe('commerce:purchase up to USD\u00a0900.00 on order/7, once');
  expect(say({ ...limit, maxUses: 3 })).toBe(
    'commerce:purchase up to USD\u00a0900.00 on order/7, 3 times in all',
  );
  expect(say({ ...limit, other: 1 })).toBe(
    'commerce:purchase up to USD\u00a0900.00 with {"other":1} on order/7',
  );
});

it('an instant says in which zone it is', () => {
  expect(formatInstant('2026-11-20T08:00:00.123Z')).toBe('2026-11-20 08:00:00 UTC');
});
