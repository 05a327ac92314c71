/** P1: the form of budgets, which is checked only under a profile that has them (protocol §11). */
import { underV2 } from '../../balances.ts';
import { apiCapability, type Members, purchaseCapability } from '../../scene.ts';
import { type Covers, deny, type VectorCase } from '../../vector-case.ts';

const MALFORMED: Covers = { P1: false };

const malformed = (id: string, description: string, ...capabilities: readonly Members[]): VectorCase =>
  deny('GRANT_MALFORMED', `v2-malformed-${id}`, description, MALFORMED, underV2(capabilities));

export const cases: readonly VectorCase[] = [
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
