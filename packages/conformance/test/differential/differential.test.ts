import { PROTOCOL_REASONS, TRUST_REASONS } from '@svc/protocol';
import { sampled } from '@svc/testkit/sampled';
import { expect, it } from 'vitest';
import { compareEngines } from './compare-engines.ts';
import { loadIndependentEngine } from './independent-engine.ts';

const DECISIONS = sampled({ quick: 300, deep: 10_000 });
/** The few decisions of a sample have every reason with this seed. */
const SEED = sampled({ quick: 5, deep: 20_261_120 });
/** The comparison is meaningful only if every one of them occurs. */
const REASONS = [...PROTOCOL_REASONS, ...TRUST_REASONS].sort();

const independent = await loadIndependentEngine();

it(`our engine and the independent engine agree on ${DECISIONS} random decisions`, () => {
  const tally = compareEngines(independent, { decisions: DECISIONS, seed: SEED });
  expect(tally.compared).toBe(DECISIONS);
  expect([...tally.reasons.keys()].sort()).toEqual(REASONS);
  expect(tally.allowed).toBeGreaterThan(DECISIONS / 10);
  expect(tally.refused).toBeLessThan(DECISIONS / 20);
}, 180_000);

it('compareEngines throws an error with the input if one decision differs', () => {
  const broken = (input: unknown): unknown => {
    const body = independent(input) as { readonly reason: string | null };
    return body.reason === 'GRANT_EXPIRED' ? { ...body, reason: 'GRANT_NOT_YET_VALID' } : body;
  };
  const compare = () => compareEngines(broken, { decisions: 1000, seed: 1 });
  expect(compare).toThrow(
    /the engines differ: \{"difference":\{"pointer":"\/reason".*"input":\{"receipt_id"/,
  );
});
