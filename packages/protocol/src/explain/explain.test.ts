import { readEvaluateVectors } from '@svc/vectors/src/published.ts';
import { describe, expect, it } from 'vitest';
import { REMEDY_IF } from '../checks/p06-grant-not-revoked.ts';
import { CHECKS, type CheckId } from '../checks/table.ts';
import { evaluate, parsePresented } from '../evaluate.ts';
import { parseEvaluateInput } from '../evaluate-json.ts';
import type { Capability } from '../model/capability.ts';
import { REASON_CODES } from '../model/reason-code.ts';
import { nativeCrypto } from '../native.ts';
import { PROFILES } from '../profiles/index.ts';
import { TRUST_CONFIG } from '../trust-config.ts';
import { closestCapability } from './capability-fit.ts';
import { explain, REMEDIES } from './index.ts';

const explained = readEvaluateVectors().map(({ id, input }) => {
  const { request, context, facts } = parseEvaluateInput(input, nativeCrypto);
  const presented = parsePresented(request);
  const decided = evaluate(presented, facts, context);
  if (decided.kind === 'undecided') throw new Error('a vector answers every look-up');
  return { id, presented, facts, context, decided, ...explain(decided, presented, facts, context) };
});

const ofVector = (wanted: string) => {
  const one = explained.find(({ id }) => id === wanted);
  if (one === undefined) throw new Error(`no vector ${wanted}`);
  return one;
};

describe('the explanation of every vector', () => {
  it('names each failed check with the compared values, a reason of this check and the remedy', () => {
    for (const { id, decided, failed } of explained) {
      const failing = CHECKS.filter((check) => decided.outcomes[check.id] === false);
      expect(
        failed.map(({ check }) => check),
        id,
      ).toEqual(failing.map((check) => check.id));
      for (const { check, reason, compared, remedy } of failed) {
        expect(CHECKS.find((one) => one.id === check)?.reasons, id).toContain(reason);
        expect(compared, `${id} ${check}`).not.toHaveLength(0);
        if (check === 'P6') expect(Object.values(REMEDY_IF), id).toContain(remedy);
        else expect(remedy, id).toBe(REMEDIES[reason]);
      }
      if (failed[0] !== undefined && decided.reason !== 'SERVICE_UNAVAILABLE')
        expect(failed[0].reason, id).toBe(decided.reason);
    }
  });

  it('shows as the first failed condition of the closest Capability the first failed check, if any', () => {
    let judged = 0;
    for (const { id, decided, closest } of explained) {
      if (closest === null) {
        expect(decided.outcomes.P16, id).not.toBe(true);
        continue;
      }
      const ofChecks = closest.conditions.find(({ check }) => decided.outcomes[check] === false);
      // If balances were unavailable, nothing is known of P19 and the checks after it.
      if (ofChecks === undefined && decided.outcomes.P19 === 'skipped') continue;
      expect(closest.conditions.find(({ holds }) => !holds)?.check, id).toBe(ofChecks?.check);
      judged += 1;
    }
    expect(judged).toBeGreaterThan(explained.length / 2);
  });
});

it('closestCapability analyses the resource of an Action once for all Capabilities', () => {
  const { presented, facts, context } = ofVector('p19-one-over-ceiling');
  const { profile, checkIds } = PROFILES[context.relyingParty.profile];
  const matchers: unknown[] = [];
  const capabilities = Array.from({ length: 16 }, (): Capability => {
    const resources = ['https://api.shop.example/v1/*'];
    resources.some = (matches) => {
      matchers.push(matches);
      return false;
    };
    return { action: 'api:call', resources, constraints: { methods: ['GET'] } };
  });
  const resource = 'https://api.shop.example/v1/orders';
  closestCapability(
    capabilities,
    { type: 'api:call', method: 'GET', resource },
    { ...context, trust: TRUST_CONFIG, profile, facts, presented },
    checkIds,
  );
  expect(matchers).toHaveLength(16);
  expect(new Set(matchers).size).toBe(1);
});

describe('an explanation', () => {
  const comparedBy = (check: CheckId) =>
    explained.flatMap(({ id, failed }) =>
      failed.flatMap((one) =>
        one.check === check ? one.compared.map((compared) => ({ id, compared })) : [],
      ),
    );

  it.each(['P1', 'P8', 'P15'] as const)(
    'by %s of malformed input states the broken rule as what was expected, and never as what was found',
    (check) => {
      const told = comparedBy(check);
      expect(told.filter(({ compared }) => compared.expected.includes(' must '))).not.toHaveLength(0);
      for (const { id, compared } of told) {
        expect(compared.found, id).not.toContain(' must ');
        expect(compared.found, id).not.toBe('');
      }
    },
  );

  it('of an Action without a member names this member and the required ones', () => {
    expect(ofVector('p15-purchase-no-amount').failed[0]?.compared).toEqual([
      {
        what: 'Action',
        found: 'amount is missing',
        expected: 'a commerce:purchase must have exactly type, resource, amount and currency',
      },
    ]);
  });

  it('of the age of a Proof states times as timestamps', () => {
    const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/.source;
    const told = comparedBy('P13');
    expect(told).not.toHaveLength(0);
    for (const { id, compared } of told) {
      expect(compared.expected, id).toMatch(new RegExp(`^${TIME} to ${TIME}$`));
      expect(compared.found, id).toMatch(new RegExp(`^(?:${TIME}|-?\\d+)$`));
    }
  });

  it('of exceeded limits names no limit that is kept', () => {
    for (const { id, compared } of comparedBy('P19')) {
      const most = /^at most (\d+) /.exec(compared.expected)?.[1];
      expect(Number(compared.found), `${id} ${compared.expected}`).toBeGreaterThan(Number(most));
    }
  });

  it('of an Action that no Capability allows suggests requestApproval', () => {
    const approvable = CHECKS.filter(({ id }) => ['P16', 'P17', 'P18', 'P19', 'P20'].includes(id));
    for (const reason of approvable.flatMap(({ reasons }) => [...reasons]))
      expect(REMEDIES[reason]).toContain('requestApproval');
  });

  it('of an amount above the ceiling names both amounts, and says that all other conditions hold', () => {
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

  it('of a budget with too little left names the amount that is left', () => {
    const { failed } = ofVector('v2-total-one-over');
    expect(failed[0]?.compared).toContainEqual({
      what: 'action.amount',
      found: expect.stringMatching(/^\d+$/),
      expected: expect.stringMatching(/^at most \d+ \(left of maxTotal\)$/),
    });
  });

  it('of a Grant id that was allocated to another party does not name this party', () => {
    const ofOthers = explained.filter(({ failed }) => failed.some(({ check }) => check === 'P6'));
    expect(ofOthers).not.toHaveLength(0);
    for (const { id, facts, failed } of ofOthers) {
      if (facts.allocation?.answer !== 'found') continue;
      const { issuer, agent } = facts.allocation.value;
      const told = failed.find(({ check }) => check === 'P6')?.compared ?? [];
      for (const { expected } of told) expect([issuer, agent], id).not.toContain(expected);
    }
  });

  it('has a remedy for each reason code', () => {
    for (const code of REASON_CODES) expect(REMEDIES[code]).toMatch(/^[A-Z].*\.$/);
  });
});
