/**
 * Budgets through the whole engine (protocol §11): what is consumed, from which Capability, and what a Receipt pins.
 */

import { type CryptoPort, type JsonObject, jcs } from '@svc/codec';
import { sampled } from '@svc/testkit/sampled';
import { consumed, keyOf, underV2 } from '@svc/vectors/src/balances.ts';
import { getVector, readEvaluateVectors } from '@svc/vectors/src/published.ts';
import {
  apiCapability,
  GRANT_ID,
  honestScene,
  inputOf,
  type Members,
  purchaseCapability,
  type Scene,
} from '@svc/vectors/src/scene.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextOf, factsOf } from '../test/facts-of.ts';
import { applyConsumption, type Balances, emptyBalances } from './budgets/balances.ts';
import { BUDGET_KEYS } from './budgets/budget.ts';
import { type Decided, evaluate, parsePresented } from './evaluate.ts';
import { type EvaluateInput, evaluateJson } from './evaluate-json.ts';
import { found } from './facts.ts';
import type { GrantId } from './model/ids.ts';
import { nativeCrypto } from './native.ts';

/** These laws are about budgets only, so nothing is signed or verified. */
const crypto: CryptoPort = { ...nativeCrypto, verify: () => true };
const unsigned = (scene: Scene): Scene => {
  const sign = () => new Uint8Array(64);
  scene.grant.key = { ...scene.grant.key, sign };
  scene.proof.key = { ...scene.proof.key, sign };
  return scene;
};

const decide = (input: EvaluateInput, balances?: Balances): Decided => {
  const facts = factsOf(input, crypto);
  const known = balances === undefined ? facts : { ...facts, balances: found(balances) };
  const result = evaluate(parsePresented(input), known, contextOf(input, crypto));
  if (result.kind === 'undecided') throw new Error('a look-up was left unanswered');
  return result;
};

const capabilitiesOf = ({ grant }: EvaluateInput): readonly { constraints: JsonObject }[] => {
  const parsed = parsePresented({ grant, proof: '', action: null }).grant;
  return parsed.ok ? parsed.value.capabilities : [];
};
const names = new Set(Object.values(BUDGET_KEYS).flat());
const hasBudget = (input: EvaluateInput): boolean =>
  capabilitiesOf(input).some(({ constraints }) => Object.keys(constraints).some((key) => names.has(key)));

it('an API call consumes one use and no amount', () => {
  const { consumption } = decide(getVector('v2-api-first').input);
  expect(consumption).toMatchObject({ deltaTotal: 0, deltaPeriod: 0, deltaUses: 1 });
});

describe('svc-base-v2', () => {
  const without = readEvaluateVectors().filter(
    ({ input }) => input.relying_party.profile === 'svc-base-v1' && !hasBudget(input),
  );
  const malformed = ({ id }: { readonly id: string }) => id.startsWith('v1-budget');

  it('decides on a Grant without budgets as svc-base-v1 does, except for the name of the profile', () => {
    expect(without.length).toBeGreaterThan(350);
    for (const { input, expected } of without.filter((vector) => !malformed(vector))) {
      const relyingParty = { ...input.relying_party, profile: 'svc-base-v2' };
      const { protocol, ...body } = evaluateJson({ ...input, relying_party: relyingParty }, nativeCrypto);
      const { profile, profile_hash } = expected.body.protocol;
      expect({ ...body, protocol: { ...protocol, profile, profile_hash } }).toEqual(expected.body);
      expect(protocol.profile).toBe('svc-base-v2');
    }
  });
});

describe('an ALLOW', () => {
  const small = purchaseCapability({ maxTotal: 60_000 });
  const large = purchaseCapability({ maxTotal: 500_000 });

  it.each([
    ['v2-first-serves', small],
    ['v2-second-serves', large],
    ['v2-budget-before-unlimited', small],
    ['v2-matching-resource-serves', large],
    ['v2-api-last', apiCapability({ maxUses: 3 })],
    ['v2-key-by-canonical-form', purchaseCapability({ maxTotal: 100_000, maxUses: 2 })],
  ])('consumes the budget of its authority: %s', (id, capability) => {
    const { expected, input } = getVector(id);
    expect(expected.body.authority).toEqual(capability);
    expect(expected.body.evidence.consumption?.key).toBe(keyOf(capability));
    expect(decide(input).consumption?.key).toBe(keyOf(capability));
  });

  it.each(['v2-unlimited-serves', 'v2-no-budget', 'v2-no-budget-api-call', 'v2-unavailable-not-needed'])(
    'consumes nothing if its authority has no budget: %s',
    (id) => {
      const { expected, input } = getVector(id);
      expect(expected.decision).toBe('ALLOW');
      expect(expected.body.evidence.consumption).toBeUndefined();
      expect(decide(input).consumption).toBeNull();
    },
  );

  it('pins the version and the hash of the published balances before it', () => {
    const pinned = readEvaluateVectors().filter(({ expected }) => expected.body.evidence.consumption);
    expect(pinned.length).toBeGreaterThan(30);
    for (const { input, expected } of pinned) {
      const { balances } = input.facts;
      if (typeof balances !== 'object') throw new Error('consumed from unknown balances');
      const { version, snapshot_hash: hash } = expected.body.evidence.consumption ?? {};
      expect(version).toBe(balances.found.version);
      expect(hash).toBe(`sha256:${nativeCrypto.sha256Hex(jcs(balances.found as unknown as JsonObject))}`);
    }
  });

  it('states every change that the commit makes to the balances', () => {
    const { input } = getVector('v2-every-limit');
    const { consumption } = decide(input);
    expect(consumption).toMatchObject({
      ...{ deltaTotal: 42_700, deltaPeriod: 42_700, deltaUses: 1 },
      periodStartMs: Date.parse('2026-11-16T00:00:00Z'),
      limits: { total: 142_700, perPeriod: 50_000, uses: 5 },
      recordedAtMs: Date.parse(input.now),
      balances: { grantId: GRANT_ID, version: 7 },
    });
  });
});

describe('a DENY', () => {
  const denied = readEvaluateVectors().filter(
    ({ expected, input }) => expected.decision === 'DENY' && input.relying_party.profile === 'svc-base-v2',
  );

  it('consumes nothing', () => {
    expect(denied.length).toBeGreaterThan(40);
    for (const { expected } of denied) expect(expected.body.evidence.consumption).toBeUndefined();
    expect(decide(getVector('v2-replayed').input).consumption).toBeNull();
  });

  it('names the balances that it depends on, and none if it depends on none', () => {
    for (const id of ['v2-total-one-over', 'v2-budget-elsewhere', 'v2-replayed'])
      expect(decide(getVector(id).input).consulted.balances?.grantId).toBe(GRANT_ID);
    for (const id of ['v2-ceiling-before-budget', 'v2-no-budget'])
      expect(decide(getVector(id).input).consulted.balances).toBeUndefined();
  });
});

interface Allowance {
  readonly maxAmount: number;
  readonly maxTotal: number | null;
  readonly maxPerDay: number | null;
  readonly maxUses: number | null;
  readonly shelf: string;
}

const limit = fc.option(fc.nat(200));
const allowances = fc.array(
  fc.record({
    ...{ maxAmount: fc.nat(100), maxTotal: limit, maxPerDay: limit, maxUses: fc.option(fc.nat(4)) },
    shelf: fc.constantFrom('**', 'a/*', 'b/*'),
  }),
  { minLength: 1, maxLength: 4 },
);
const purchases = fc.array(
  fc.record({ amount: fc.nat(100), resource: fc.constantFrom('a/1', 'b/1'), hours: fc.nat(20) }),
  { maxLength: 12 },
);

const toCapability = ({ maxAmount, maxTotal, maxPerDay, maxUses, shelf }: Allowance): Members => ({
  action: 'commerce:purchase',
  constraints: {
    ...{ maxAmount, currency: 'USD' },
    ...(maxTotal === null ? {} : { maxTotal }),
    ...(maxPerDay === null ? {} : { maxPerPeriod: maxPerDay, period: 'day' }),
    ...(maxUses === null ? {} : { maxUses }),
  },
  resources: [shelf],
});

/** Evaluates purchases one after another, each on the balances that the previous ones left. */
const buy = (
  of: readonly Allowance[],
  list: readonly { amount: number; resource: string; hours: number }[],
) => {
  let balances = emptyBalances(GRANT_ID as GrantId);
  let nowMs = Date.parse('2028-02-27T20:00:00.000Z');
  return list.map(({ amount, resource, hours }) => {
    nowMs += hours * 3_600_000;
    const scene = unsigned(honestScene());
    underV2(of.map(toCapability))(scene);
    scene.now = new Date(nowMs).toISOString();
    scene.resolvedAt = scene.now;
    scene.status.checked_at = scene.now;
    scene.grant.payload = { validFrom: '2028-02-27T00:00:00Z', validUntil: '2028-05-01T00:00:00Z' };
    scene.action = { type: 'commerce:purchase', resource, amount, currency: 'USD' };
    const decided = decide(inputOf('budgets', scene), balances);
    const { consumption, evidence } = decided;
    if (consumption !== null) balances = applyConsumption(balances, consumption);
    const authority = decided.decision === 'ALLOW' ? evidence.P20?.authority : undefined;
    return { day: scene.now.slice(0, 10), amount, authority, reason: decided.reason, balances };
  });
};

describe('a sequence of purchases', () => {
  const distinct = (list: readonly Allowance[]) => [
    ...new Map(list.map((one) => [JSON.stringify(one), one])).values(),
  ];

  it('is allowed as simple bookkeeping allows it, each purchase by the first Capability that suffices', () => {
    fc.assert(
      fc.property(allowances.map(distinct), purchases, (of, list) => {
        const books: { by: Allowance; day: string; amount: number }[] = [];
        for (const [i, { day, amount, authority, reason }] of buy(of, list).entries()) {
          const sumOf = (by: Allowance, on?: string) =>
            books.reduce((sum, b) => (b.by === by && (on ?? b.day) === b.day ? sum + b.amount : sum), 0);
          const serves = (by: Allowance) =>
            amount <= by.maxAmount &&
            sumOf(by) + amount <= (by.maxTotal ?? 1e9) &&
            sumOf(by, day) + amount <= (by.maxPerDay ?? 1e9) &&
            books.filter((b) => b.by === by).length < (by.maxUses ?? 1e9);
          const inBudget = of.filter(serves);
          const first = inBudget.find(
            ({ shelf }) => shelf === '**' || shelf.charAt(0) === list[i]?.resource.charAt(0),
          );
          expect(authority).toEqual(first && toCapability(first));
          if (first !== undefined) books.push({ by: first, day, amount });
          else
            expect(reason).toBe(inBudget.length > 0 ? 'RESOURCE_NOT_AUTHORIZED' : 'AMOUNT_EXCEEDS_AUTHORITY');
        }
      }),
      { numRuns: sampled({ quick: 60, deep: 300 }) },
    );
  });

  it('never exceeds a limit of a budget', () => {
    fc.assert(
      fc.property(allowances, purchases, (of, list) => {
        for (const { balances } of buy(of, list))
          for (const { limits, spentTotal, spentInPeriod, usesSpent } of balances.capabilities) {
            expect(spentTotal).toBeLessThanOrEqual(limits.total ?? 1e9);
            expect(spentInPeriod).toBeLessThanOrEqual(limits.perPeriod ?? 1e9);
            expect(usesSpent).toBeLessThanOrEqual(limits.uses ?? 1e9);
          }
      }),
      { numRuns: sampled({ quick: 40, deep: 200 }) },
    );
  });

  it('is allowed under a larger budget at least until the first DENY under a smaller one', () => {
    const one = allowances.map(([first]) => first).filter((first) => first !== undefined);
    fc.assert(
      fc.property(one, fc.nat(100), purchases, (allowance, more, list) => {
        const raised = (value: number | null) => (value === null ? null : value + more);
        const { maxTotal, maxPerDay, maxUses } = allowance;
        const bigger = {
          ...allowance,
          ...{ maxTotal: raised(maxTotal), maxPerDay: raised(maxPerDay), maxUses: raised(maxUses) },
        };
        // Up to the first DENY: after it, the one under the smaller budget has spent less.
        for (const [i, { reason }] of buy([allowance], list).entries()) {
          if (reason !== null) return;
          expect(buy([bigger], list)[i]?.reason).toBeNull();
        }
      }),
      { numRuns: sampled({ quick: 33, deep: 100 }) },
    );
  });
});

describe('balances of the Grant', () => {
  it('that lack a Capability mean that nothing of it was consumed', () => {
    const capability = purchaseCapability({ maxTotal: 42_700 });
    const other = purchaseCapability({ maxTotal: 42_701 });
    const scene = unsigned(honestScene());
    underV2([capability], consumed([other, { total: 42_701 }]))(scene);
    expect(decide(inputOf('budgets', scene)).decision).toBe('ALLOW');
  });
});
