import { jcs } from '@svc/codec';
import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalAction, parseAction } from './action.ts';

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
