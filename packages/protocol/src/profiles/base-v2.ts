/** `svc-base-v2`: the limits of `svc-base-v1`, and budgets (interface §Versioning, protocol §11). */
import { BUDGET_KEYS } from '../budgets/budget.ts';
import { BASE_V1 } from './base-v1.ts';
import type { Profile } from './profile.ts';

export const BASE_V2: Profile = {
  id: 'svc-base-v2',
  constraintKeys: {
    'commerce:purchase': [
      ...BASE_V1.constraintKeys['commerce:purchase'],
      ...BUDGET_KEYS['commerce:purchase'],
    ],
    'api:call': [...BASE_V1.constraintKeys['api:call'], ...BUDGET_KEYS['api:call']],
  },
  budgets: true,
  titles: { P19: 'some survivor allows the amount (api:call: always) and has enough left of its budget' },
};
