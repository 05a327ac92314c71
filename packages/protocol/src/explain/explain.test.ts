import { readEvaluateVectors } from '@svc/vectors/src/published.ts';
import { describe, expect, it } from 'vitest';
import { CHECKS } from '../checks/table.ts';
import { evaluate, parsePresented } from '../evaluate.ts';
import { parseEvaluateInput } from '../evaluate-json.ts';
import { REASON_CODES } from '../model/reason-code.ts';
import { nativeCrypto } from '../native.ts';
import { explain, REMEDIES } from './index.ts';

const explained = readEvaluateVectors().map(({ id, input }) => {
  const { request, context, facts } = parseEvaluateInput(input, nativeCrypto);
  const presented = parsePresented(request);
  const decided = evaluate(presented, facts, context);
  if (decided.kind === 'undecided') throw new Error('a vector answers every look-up');
  return { id, facts, decided, ...explain(decided, presented, facts, context) };
});

const ofVector = (wanted: string) => {
  const one = explained.find(({ id }) => id === wanted);
  if (one === undefined) throw new Error(`no vector ${wanted}`);
  return one;
};

describe('of every vector', () => {
  it('each check that failed is told, with what it compared and a reason of its own', () => {
    for (const { id, decided, failed } of explained) {
      const failing = CHECKS.filter((check) => decided.outcomes[check.id] === false);
      expect(
        failed.map(({ check }) => check),
        id,
      ).toEqual(failing.map((check) => check.id));
      for (const { check, reason, compared, remedy } of failed) {
        expect(CHECKS.find((one) => one.id === check)?.reasons, id).toContain(reason);
        expect(compared, `${id} ${check}`).not.toHaveLength(0);
        expect(remedy, id).toBe(REMEDIES[reason]);
      }
      if (failed[0] !== undefined && decided.reason !== 'SERVICE_UNAVAILABLE')
        expect(failed[0].reason, id).toBe(decided.reason);
    }
  });

  it('the closest Capability fails first where the checks did, and nowhere where they did not', () => {
    let judged = 0;
    for (const { id, decided, closest } of explained) {
      if (closest === null) {
        expect(decided.outcomes.P16, id).not.toBe(true);
        continue;
      }
      const ofChecks = closest.conditions.find(({ check }) => decided.outcomes[check] === false);
      // Where balances could not be had nothing is known of P19 and what follows it.
      if (ofChecks === undefined && decided.outcomes.P19 === 'skipped') continue;
      expect(closest.conditions.find(({ holds }) => !holds)?.check, id).toBe(ofChecks?.check);
      judged += 1;
    }
    expect(judged).toBeGreaterThan(explained.length / 2);
  });
});

describe('what is told', () => {
  it('of an amount above the ceiling: both numbers, and that everything else holds', () => {
    const { failed, closest } = ofVector('p19-one-over-ceiling');
    expect(failed).toMatchObject([
      {
        check: 'P19',
        reason: 'AMOUNT_EXCEEDS_AUTHORITY',
        compared: [{ what: 'action.amount', found: '50001', expected: 'at most 50000 (maxAmount)' }],
      },
    ]);
    expect(closest?.conditions.map(({ holds }) => holds)).toEqual([true, true, true, false, true]);
  });

  it('of a budget with too little left: what is left', () => {
    const { failed } = ofVector('v2-total-one-over');
    expect(failed[0]?.compared).toContainEqual({
      what: 'action.amount',
      found: expect.stringMatching(/^\d+$/),
      expected: expect.stringMatching(/^at most \d+ \(left of maxTotal\)$/),
    });
  });

  it('of an id that was allocated to another: not to whom', () => {
    const ofOthers = explained.filter(({ failed }) => failed.some(({ check }) => check === 'P6'));
    expect(ofOthers).not.toHaveLength(0);
    for (const { id, facts, failed } of ofOthers) {
      if (facts.allocation?.answer !== 'found') continue;
      const { issuer, agent } = facts.allocation.value;
      const told = failed.find(({ check }) => check === 'P6')?.compared ?? [];
      for (const { expected } of told) expect([issuer, agent], id).not.toContain(expected);
    }
  });

  it('a remedy for each reason there is', () => {
    for (const code of REASON_CODES) expect(REMEDIES[code]).toMatch(/^[A-Z].*\.$/);
  });
});
