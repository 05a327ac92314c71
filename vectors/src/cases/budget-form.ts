/** P1 and P17 where budgets are known, and where they are not (protocol §11). */
import { underV2 } from '../balances.ts';
import { apiCapability, type Members, purchaseCapability, type Scene } from '../scene.ts';
import { allow, type Covers, deny, type VectorCase } from '../vector-case.ts';

const MALFORMED: Covers = { P1: false };
const UNKNOWN: Covers = { P1: true, P16: true, P17: false, P18: 'skipped' };

const malformed = (id: string, description: string, ...capabilities: readonly Members[]): VectorCase =>
  deny('GRANT_MALFORMED', `v2-malformed-${id}`, description, MALFORMED, underV2(capabilities));

const FORM: readonly VectorCase[] = [
  malformed('total-negative', 'maxTotal is not negative', purchaseCapability({ maxTotal: -1 })),
  malformed('total-string', 'maxTotal is a number', purchaseCapability({ maxTotal: '100000' })),
  malformed('total-null', 'null is not "no limit"', purchaseCapability({ maxTotal: null })),
  malformed('uses-string', 'maxUses is a number', purchaseCapability({ maxUses: '3' })),
  malformed('uses-negative', 'maxUses is not negative', purchaseCapability({ maxUses: -1 })),
  malformed(
    'per-period-array',
    'maxPerPeriod is a number',
    purchaseCapability({ maxPerPeriod: [1], period: 'day' }),
  ),
  malformed('per-period-alone', 'maxPerPeriod needs a period', purchaseCapability({ maxPerPeriod: 100_000 })),
  malformed('period-alone', 'a period needs maxPerPeriod', purchaseCapability({ period: 'day' })),
  malformed(
    'period-year',
    'there is no such period',
    purchaseCapability({ maxPerPeriod: 1, period: 'year' }),
  ),
  malformed('period-case', 'periods have case', purchaseCapability({ maxPerPeriod: 1, period: 'Day' })),
  malformed('period-null', 'null is not "no period"', purchaseCapability({ maxTotal: 1, period: null })),
  malformed(
    'api-uses-boolean',
    'maxUses of an API call is a number',
    purchaseCapability(),
    apiCapability({ maxUses: true }),
  ),
  malformed(
    'beside-another',
    'a malformed budget spoils the Grant, not only its Capability',
    purchaseCapability(),
    purchaseCapability({ maxUses: 'many' }),
  ),
  deny(
    'GRANT_MALFORMED',
    'v2-malformed-wins',
    'a malformed budget wins over what is unsupported',
    MALFORMED,
    (s) => {
      underV2([purchaseCapability({ maxUses: -1 })])(s);
      s.grant.payload.exp = 1;
    },
  ),
  deny(
    'UNSUPPORTED_FEATURE',
    'v2-unsupported',
    'a budget in form does not hide what is unsupported',
    MALFORMED,
    (s) => {
      underV2([purchaseCapability({ maxUses: 1 })])(s);
      s.grant.payload.exp = 1;
    },
  ),
];

const under =
  (profile: string, ...capabilities: readonly Members[]) =>
  (s: Scene) => {
    s.rp.profile = profile;
    s.grant.subject.capabilities = capabilities;
  };

const KNOWN: readonly VectorCase[] = [
  ...(
    [
      ['total-null', 'an ill-typed budget', { maxTotal: null }],
      ['period-alone', 'half a period', { period: 'day' }],
      ['per-period-alone', 'the other half', { maxPerPeriod: 1 }],
      ['uses-string', 'a number of uses that is none', { maxUses: '3' }],
    ] as const
  ).map(([id, what, constraints]) =>
    deny(
      'UNKNOWN_CONSTRAINT',
      `v1-budget-${id}`,
      `${what} is an unknown key to svc-base-v1, whatever it holds`,
      UNKNOWN,
      under('svc-base-v1', purchaseCapability(constraints)),
    ),
  ),
  deny(
    'UNSUPPORTED_FEATURE',
    'v1-budget-malformed-and-unsupported',
    'svc-base-v1 does not see a malformed budget beside what is unsupported',
    MALFORMED,
    (s) => {
      under('svc-base-v1', purchaseCapability({ maxUses: -1 }))(s);
      s.grant.payload.exp = 1;
    },
  ),
  deny(
    'UNKNOWN_CONSTRAINT',
    'v2-unknown-key',
    'a constraint that svc-base-v2 does not know either',
    UNKNOWN,
    under('svc-base-v2', purchaseCapability({ maxUses: 3, merchantCategory: '5411' })),
  ),
  deny(
    'UNKNOWN_CONSTRAINT',
    'v2-api-total',
    'an API call has no amount, so no total: the key is unknown there, whatever it holds',
    UNKNOWN,
    (s) => {
      under('svc-base-v2', apiCapability({ maxTotal: 'x' }))(s);
      s.action = { type: 'api:call', method: 'POST', resource: 'https://api.shop.example/v1/orders' };
    },
  ),
  deny('UNKNOWN_CONSTRAINT', 'v2-api-period', 'a period is not known for API calls', UNKNOWN, (s) => {
    under('svc-base-v2', apiCapability({ maxPerPeriod: 3, period: 'day' }))(s);
    s.action = { type: 'api:call', method: 'POST', resource: 'https://api.shop.example/v1/orders' };
  }),
  allow(
    'v2-unknown-beside-known',
    'a Capability with an unknown key does not spoil the next, nor is its budget consumed',
    { P17: true, P19: true },
    underV2([
      purchaseCapability({ maxUses: 3, merchantCategory: '5411' }),
      purchaseCapability({ maxUses: 3 }),
    ]),
  ),
];

export const budgetFormCases: readonly VectorCase[] = [...FORM, ...KNOWN];
