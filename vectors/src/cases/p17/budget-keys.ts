/** P17: svc-base-v2 supports budget keys, and no other profile does (protocol §11). */
import { underV2 } from '../../balances.ts';
import { apiCapability, type Members, purchaseCapability, type Scene } from '../../scene.ts';
import { allow, type Covers, deny, type VectorCase } from '../../vector-case.ts';

const MALFORMED: Covers = { P1: false };

const UNKNOWN: Covers = { P1: true, P16: true, P17: false, P18: 'skipped' };

const under =
  (profile: string, ...capabilities: readonly Members[]) =>
  (s: Scene) => {
    s.rp.profile = profile;
    s.grant.subject.capabilities = capabilities;
  };

export const cases: readonly VectorCase[] = [
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
