import { jcs } from '@svc/codec';
import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalAction, isSameAction, parseAction } from './action.ts';

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
const actions = fc.oneof(
  fc.record({
    type: fc.constant('commerce:purchase'),
    resource: text,
    amount: fc.nat(),
    currency: fc.constantFrom('USD', 'EUR'),
  }),
  fc.record({
    type: fc.constant('api:call'),
    method: fc.constantFrom('GET', 'POST'),
    resource: fc.webUrl({ withQueryParameters: true }),
  }),
);

it('the canonical form of every well-formed Action is its RFC 8785 form', () => {
  fc.assert(
    fc.property(actions, (action) => {
      const parsed = parseAction(action);
      fc.pre(parsed.ok);
      if (parsed.ok) expect(canonicalAction(parsed.value)).toBe(jcs(action));
    }),
    { numRuns: sampled({ quick: 500, deep: 5_000 }) },
  );
});

it('isSameAction is true exactly if the canonical forms of the two Actions are equal', () => {
  const few = fc.oneof(
    fc.record({
      type: fc.constant('commerce:purchase'),
      resource: fc.constantFrom('a', 'https://a.example/', 'é'),
      amount: fc.nat(1),
      currency: fc.constantFrom('USD', 'EUR'),
    }),
    fc.record({
      type: fc.constant('api:call'),
      method: fc.constantFrom('GET', 'POST'),
      resource: fc.constantFrom('https://a.example/', 'https://b.example/'),
    }),
  );
  let same = 0;
  fc.assert(
    fc.property(few, few, (one, other) => {
      const [a, b] = [parseAction(one), parseAction(other)];
      if (!a.ok || !b.ok) throw new Error('both are well formed');
      const isSame = canonicalAction(a.value) === canonicalAction(b.value);
      if (isSame) same++;
      expect(isSameAction(a.value, b.value)).toBe(isSame);
    }),
    { numRuns: 1_000 },
  );
  expect(same).toBeGreaterThan(0);
});
