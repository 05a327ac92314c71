/** P19 under svc-base-v2: totals, uses, and which Capability's budget is consumed (protocol §11). */
import { consumed, neverConsumed, underV2 } from '../../balances.ts';
import { API_CALL, apiCapability, type Members, purchaseCapability, type Scene } from '../../scene.ts';
import { allow, type Covers, deny, type VectorCase } from '../../vector-case.ts';

const MAX = Number.MAX_SAFE_INTEGER;
const LEFT: Covers = { P17: true, P19: true, P20: true };
const SPENT: Covers = { P18: true, P19: false, P20: 'skipped', T5: 'skipped' };

type Edit = (s: Scene) => void;

const buying =
  (amount: number, edit: Edit): Edit =>
  (s) => {
    edit(s);
    s.action = { ...s.action, amount };
  };

const calling =
  (edit: Edit): Edit =>
  (s) => {
    edit(s);
    s.action = { ...API_CALL };
  };

const exceeds = (id: string, description: string, edit: Edit, covers: Covers = SPENT): VectorCase =>
  deny('AMOUNT_EXCEEDS_AUTHORITY', id, description, covers, edit);

/** A purchase of `amount`, under `maxTotal` 100,000 of which `spent` is spent. */
const total = (amount: number, spent: number): Edit => {
  const capability = purchaseCapability({ maxTotal: 100_000 });
  return buying(amount, underV2([capability], consumed([capability, { total: spent }])));
};

const TOTALS: readonly VectorCase[] = [
  allow('v2-total-first', 'nothing was consumed before: version 0', LEFT, (s) => {
    underV2([purchaseCapability({ maxTotal: 100_000 })])(s);
  }),
  allow('v2-total-exactly', 'what is left is spent to the last minor unit', LEFT, total(42_700, 57_300)),
  exceeds('v2-total-one-over', 'one minor unit is missing', total(42_700, 57_301)),
  exceeds('v2-total-spent', 'nothing is left', total(1, 100_000)),
  allow('v2-total-spent-amount-zero', 'an amount of 0 takes nothing', LEFT, total(0, 100_000)),
  exceeds('v2-total-overspent', 'after a reversal more is spent than the limit', total(1, 150_000)),
  allow('v2-total-overspent-amount-zero', 'what is left is then 0, not less', LEFT, total(0, 150_000)),
  exceeds('v2-total-zero', 'a limit of 0 is a limit', (s) => {
    underV2([purchaseCapability({ maxTotal: 0 })])(s);
  }),
  allow('v2-total-largest', '2^53-1 in one go', LEFT, (s) => {
    buying(MAX, underV2([purchaseCapability({ maxAmount: MAX, maxTotal: MAX })]))(s);
  }),
  exceeds('v2-total-largest-one-over', 'sums beyond 2^53-1 are compared rightly', (s) => {
    const capability = purchaseCapability({ maxAmount: MAX, maxTotal: MAX });
    buying(MAX, underV2([capability], consumed([capability, { total: 1 }])))(s);
  }),
  exceeds(
    'v2-ceiling-before-budget',
    'a budget does not lift maxAmount, and the balances are not asked for',
    (s) => {
      buying(50_001, underV2([purchaseCapability({ maxTotal: 100_000 })]))(s);
      s.balances = undefined;
    },
  ),
  allow('v2-one-capability-twice', 'two equal Capabilities are one budget', LEFT, (s) => {
    const capability = purchaseCapability({ maxTotal: 100_000 });
    underV2([capability, capability], consumed([capability, { total: 57_300 }]))(s);
  }),
  exceeds('v2-one-capability-twice-spent', 'and not two', (s) => {
    const capability = purchaseCapability({ maxTotal: 100_000 });
    underV2([capability, capability], consumed([capability, { total: 57_301 }]))(s);
  }),
  allow(
    'v2-key-by-canonical-form',
    'a budget goes by the canonical form, however the Grant writes it',
    LEFT,
    (s) => {
      const capability = purchaseCapability({ maxUses: 2, maxTotal: 100_000 });
      underV2([capability], consumed([capability, { total: 57_300 }]))(s);
      s.grant.editPayload = (json) =>
        json.replace(
          /"constraints":\{[^}]*\}/,
          '"constraints":{"maxUses":2,"maxTotal":100000,"maxAmount":50000,"currency":"USD"}',
        );
    },
  ),
];

/** One use, under `maxUses` 3 with `had` uses spent. */
const uses = (had: number): Edit => {
  const capability = purchaseCapability({ maxUses: 3 });
  return underV2([capability], consumed([capability, { total: had * 100, uses: had }]));
};
const calls = (had: number): Edit => {
  const capability = apiCapability({ maxUses: 3 });
  return calling(underV2([capability], consumed([capability, { uses: had }])));
};

const USES: readonly VectorCase[] = [
  allow('v2-uses-last', 'the last of three uses', LEFT, uses(2)),
  exceeds('v2-uses-spent', 'a fourth of three uses', uses(3)),
  exceeds('v2-uses-overspent', 'a reversal can leave more uses spent than there were', uses(4)),
  exceeds('v2-uses-amount-zero', 'a use is a use whatever its amount', buying(0, uses(3))),
  exceeds('v2-uses-zero', 'no uses at all', underV2([purchaseCapability({ maxUses: 0 })])),
  allow('v2-api-first', 'the first of three calls', LEFT, calling(underV2([apiCapability({ maxUses: 3 })]))),
  allow('v2-api-last', 'the last of three calls', LEFT, calls(2)),
  exceeds('v2-api-spent', 'a fourth of three calls', calls(3)),
  exceeds('v2-api-zero', 'no calls at all', calling(underV2([apiCapability({ maxUses: 0 })]))),
  exceeds('v2-uses-spent-total-left', 'every limit must hold: the uses are spent', (s) => {
    const capability = purchaseCapability({ maxTotal: 500_000, maxUses: 3 });
    underV2([capability], consumed([capability, { total: 300, uses: 3 }]))(s);
  }),
  exceeds('v2-total-spent-uses-left', 'every limit must hold: the total is spent', (s) => {
    const capability = purchaseCapability({ maxTotal: 100_000, maxUses: 3 });
    underV2([capability], consumed([capability, { total: 100_000, uses: 2 }]))(s);
  }),
];

const small = purchaseCapability({ maxTotal: 60_000 });
const large = purchaseCapability({ maxTotal: 500_000 });
const elsewhere: Members = purchaseCapability({ maxTotal: 400_000 }, { resources: ['cart/**'] });
const unlimited = purchaseCapability();

const SURVIVORS: readonly VectorCase[] = [
  allow(
    'v2-first-serves',
    'the first Capability with enough left is the authority, not the one with most',
    LEFT,
    underV2([small, large], consumed([small, { total: 10_000 }], [large, { total: 0 }])),
  ),
  allow(
    'v2-second-serves',
    'the first is exhausted, so the second serves and is consumed',
    LEFT,
    underV2([small, large], consumed([small, { total: 60_000 }])),
  ),
  exceeds(
    'v2-all-spent',
    'budgets are not added up: two halves do not make one whole',
    underV2([small, large], consumed([small, { total: 30_000 }], [large, { total: 470_000 }])),
  ),
  allow(
    'v2-unlimited-serves',
    'a Capability without a budget serves, and nothing is consumed',
    LEFT,
    underV2([small, unlimited], consumed([small, { total: 60_000 }])),
  ),
  allow(
    'v2-budget-before-unlimited',
    'the first survivor is the authority although another would cost nothing',
    LEFT,
    underV2([small, unlimited]),
  ),
  allow(
    'v2-matching-resource-serves',
    'the budget of a Capability for another resource is left alone',
    LEFT,
    underV2([elsewhere, large], consumed([large, { total: 100 }])),
  ),
  deny(
    'RESOURCE_NOT_AUTHORIZED',
    'v2-budget-elsewhere',
    'one Capability has the budget and another the resource: together they grant nothing',
    { P19: true, P20: false, T5: 'skipped' },
    underV2([elsewhere, small], consumed([small, { total: 60_000 }])),
  ),
  allow('v2-balances-of-others', 'balances of other Capabilities of the Grant change nothing', LEFT, (s) => {
    const call = apiCapability({ maxUses: 1 });
    underV2([small, call], consumed([call, { uses: 1 }]))(s);
  }),
  allow(
    'v2-no-budget',
    'a Grant without budgets is as under svc-base-v1: no balances are asked for',
    LEFT,
    (s) => {
      underV2([purchaseCapability()])(s);
      s.balances = undefined;
    },
  ),
  allow('v2-no-budget-api-call', 'an API call without a budget', LEFT, (s) => {
    calling(underV2([apiCapability()]))(s);
    s.balances = undefined;
  }),
];

const UNAVAILABLE: readonly VectorCase[] = [
  deny(
    'SERVICE_UNAVAILABLE',
    'v2-unavailable-balances',
    'what was consumed is not known',
    { P18: true, P19: 'skipped', P20: 'skipped', T5: 'skipped' },
    (s) => {
      underV2([large])(s);
      s.answers.balances = 'unavailable';
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'v2-absent-balances',
    'no answer about consumption is not the answer nothing',
    { P19: 'skipped' },
    (s) => {
      underV2([large])(s);
      s.answers.balances = 'absent';
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'v2-balances-of-another-grant',
    "the balances of another Grant are not this Grant's",
    { P19: 'skipped' },
    underV2([large], { ...neverConsumed(), grant_id: 'urn:svc:grant:01KBFZW0000000000000000000' }),
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'v2-unavailable-beside-unlimited',
    'whether an earlier Capability is the authority depends on what is left of it',
    { P19: 'skipped' },
    (s) => {
      underV2([large, unlimited])(s);
      s.answers.balances = 'unavailable';
    },
  ),
  allow('v2-unavailable-not-needed', 'balances that nothing depends on are not missed', LEFT, (s) => {
    underV2([unlimited, apiCapability({ maxUses: 1 })])(s);
    s.answers.balances = 'unavailable';
  }),
  deny(
    'PROOF_REPLAYED',
    'v2-replayed',
    'a Proof is spent once: nothing is consumed',
    { P19: true, P20: true, T5: false },
    (s) => {
      underV2([large])(s);
      s.spent = true;
    },
  ),
];

export const cases: readonly VectorCase[] = [...TOTALS, ...USES, ...SURVIVORS, ...UNAVAILABLE];
