import { sampled } from '@svc/testkit/sampled';
import { API_CALL, PURCHASE } from '@svc/vectors/src/scene.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAction } from './action.ts';

describe('parseAction', () => {
  it('copies the Action: a later change of the input does not change it', () => {
    const input = { ...PURCHASE };
    const action = parseAction(input);
    input.amount = 1;
    expect(action).toMatchObject({ ok: true, value: { amount: PURCHASE.amount } });
  });

  it('reads own members only', () => {
    expect(parseAction(Object.create(PURCHASE)).ok).toBe(false);
    expect(parseAction(Object.create(API_CALL)).ok).toBe(false);
  });

  it.each<[string, unknown]>([
    ['a lone high surrogate', { ...PURCHASE, resource: 'order/\ud800' }],
    ['a lone low surrogate', { ...PURCHASE, resource: '\udc00order' }],
    ['surrogates in the wrong order', { ...PURCHASE, resource: '\udc00\ud800' }],
    ['negative zero', { ...PURCHASE, amount: -0 }],
    ['infinity', { ...PURCHASE, amount: Number.POSITIVE_INFINITY }],
    ['NaN', { ...PURCHASE, amount: Number.NaN }],
    ['a boxed string', { ...PURCHASE, currency: Object('USD') }],
    ['a URL with a line end after it', { ...API_CALL, resource: 'https://api.shop.example/\n' }],
    ['a method with a line end after it', { ...API_CALL, method: 'GET\n' }],
    ['a currency with a line end after it', { ...PURCHASE, currency: 'USD\n' }],
  ])('refuses an Action with %s', (_, action) => {
    expect(parseAction(action).ok).toBe(false);
  });

  it('refuses any other value, or returns an equal one', () => {
    fc.assert(
      fc.property(
        fc.anything({ withNullPrototype: true, withBigInt: true, withSparseArray: true }),
        (value) => {
          const action = parseAction(value);
          if (action.ok) expect(action.value).toEqual(value);
        },
      ),
      { numRuns: sampled({ quick: 300, deep: 2_000 }) },
    );
  });

  it('accepts every amount up to 2^53-1, and resources of any characters except NUL', () => {
    const resource = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 100 })
      .filter((text) => !text.includes('\u0000'));
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER), resource, (amount, text) => {
        expect(parseAction({ ...PURCHASE, amount, resource: text }).ok).toBe(true);
      }),
    );
  });
});
