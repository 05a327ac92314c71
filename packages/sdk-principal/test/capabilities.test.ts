import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apiCall, purchase } from '../src/index.ts';

const spending = { maxAmountMinor: 427, currency: 'USD' };
const buy = purchase as (limits?: unknown) => unknown;
const call = apiCall as (limits?: unknown) => unknown;

const refusal = (message: RegExp) =>
  expect.objectContaining({ kind: 'invalid-argument', message: expect.stringMatching(message) });

describe('a Capability', () => {
  it('has exactly the given limits and resources, as a copy', () => {
    const resources = ['order/*'];
    const bought = purchase({ ...spending, resources });
    resources.push('**');
    expect(bought).toEqual({
      action: 'commerce:purchase',
      constraints: { maxAmount: 427, currency: 'USD' },
      resources: ['order/*'],
    });
    expect(purchase(spending)).not.toHaveProperty('resources');
    expect(apiCall({ methods: ['GET'], resources: ['https://a.example/**'] })).toEqual({
      action: 'api:call',
      constraints: { methods: ['GET'] },
      resources: ['https://a.example/**'],
    });
  });

  it('has only the budgets that were given', () => {
    const limits = { maxTotalMinor: 9, maxPerPeriodMinor: 5, period: 'week', maxUses: 0 } as const;
    expect(purchase({ ...spending, ...limits }).constraints).toEqual({
      ...{ maxAmount: 427, currency: 'USD' },
      ...{ maxTotal: 9, maxPerPeriod: 5, period: 'week', maxUses: 0 },
    });
    expect(apiCall({ methods: ['GET'], maxUses: 3 }).constraints).toEqual({ methods: ['GET'], maxUses: 3 });
    for (const budget of [{ maxTotalMinor: 9 }, { maxUses: 1 }]) {
      const { constraints } = purchase({ ...spending, ...budget });
      expect(Object.keys(constraints)).toHaveLength(3);
    }
  });

  it.each<[string, unknown, RegExp]>([
    ['a negative total', { ...spending, maxTotalMinor: -1 }, /maxTotalMinor must be .* given -1/],
    ['a fractional number of uses', { ...spending, maxUses: 1.5 }, /maxUses must be .* given 1.5/],
    ['an unknown period', { ...spending, maxPerPeriodMinor: 1, period: 'year' }, /period must be "hour" or/],
    ['a period alone', { ...spending, period: 'day' }, /must come together/],
    ['a limit per period alone', { ...spending, maxPerPeriodMinor: 1 }, /must come together/],
    ['an undefined total', { ...spending, maxTotalMinor: undefined }, /maxTotalMinor .*any sum/],
    ['resources as text', { ...spending, resources: 'order/*' }, /resources must be an array .* a string$/],
    ['resources that are no text', { ...spending, resources: ['a', 1] }, /array of 2 \(string, number\)$/],
    ['resources with a hole', { ...spending, resources: Array(2) }, /resources must be an array/],
    ['no resource', { ...spending, resources: [] }, /resources must be .* an empty array$/],
    ['a Set of resources', { ...spending, resources: new Set(['a']) }, /resources must be/],
    ['undefined resources', { ...spending, resources: undefined }, /resources .*any resource/],
    ['null resources', { ...spending, resources: null }, /resources must be .* given null/],
    ['resources under another name', { ...spending, resource: ['order/*'] }, /"resource".*resources/],
    ['a fractional amount', { ...spending, maxAmountMinor: 4.27 }, /maxAmountMinor must be .* given 4.27/],
    ['an amount as text', { ...spending, maxAmountMinor: '427' }, /maxAmountMinor must be .* a string/],
    ['a negative amount', { ...spending, maxAmountMinor: -1 }, /maxAmountMinor must be .* given -1/],
    ['an infinite amount', { ...spending, maxAmountMinor: Number.POSITIVE_INFINITY }, /given Infinity/],
    ['an amount under another name', { ...spending, maxAmount: 5 }, /"maxAmount".*maxAmountMinor/],
    ['no amount', { currency: 'USD' }, /maxAmountMinor must be .* given nothing/],
    ['a currency in lower case', { ...spending, currency: 'usd' }, /currency must be .*upper-case/],
    ['nothing', undefined, /takes an object/],
    ['a list', [spending], /takes an object/],
  ])('purchase refuses %s', (_, limits, message) => {
    expect(() => buy(limits)).toThrow(refusal(message));
  });

  it.each<[string, unknown, RegExp]>([
    ['uses as text', { methods: ['GET'], maxUses: '3' }, /maxUses must be .* a string/],
    ['methods as text', { methods: 'GET' }, /methods must be an array .* given a string/],
    ['a method in lower case', { methods: ['get'] }, /methods must be .*upper-case/],
    ['a method twice', { methods: ['GET', 'GET'] }, /distinct/],
    ['no method', { methods: [] }, /methods must be/],
    [
      'resources as text',
      { methods: ['GET'], resources: 'https://a.example/' },
      /resources must be an array/,
    ],
    ['undefined resources', { methods: ['GET'], resources: undefined }, /any URL/],
    ['an unknown option', { methods: ['GET'], urls: [] }, /"urls".*resources/],
    ['nothing', undefined, /takes an object/],
  ])('apiCall refuses %s', (_, limits, message) => {
    expect(() => call(limits)).toThrow(refusal(message));
  });

  it('has exactly the given resources, or is refused', () => {
    const anything = fc.anything({ withSparseArray: true, withSet: true, withNullPrototype: true });
    fc.assert(
      fc.property(fc.oneof(anything, fc.array(fc.string()), fc.string()), (resources) => {
        let made: unknown;
        try {
          made = buy({ ...spending, resources });
        } catch (error) {
          expect(error).toMatchObject({ name: 'SvcError', kind: 'invalid-argument' });
          return;
        }
        expect(Array.isArray(resources)).toBe(true);
        expect(made).toMatchObject({ resources });
      }),
    );
  });

  it('is refused without showing a wrong value in the error', () => {
    for (const resources of ['hunter2', ['hunter2', 5], { hunter2: 1 }]) {
      expect(() => buy({ ...spending, resources })).toThrow(refusal(/^(?!.*hunter2)/));
    }
  });
});
