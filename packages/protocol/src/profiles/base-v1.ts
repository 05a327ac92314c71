/** `svc-base-v1`: limits per action, no budgets (interface §Versioning). */
import type { Profile } from './profile.ts';

export const BASE_V1: Profile = {
  id: 'svc-base-v1',
  constraintKeys: {
    'commerce:purchase': ['maxAmount', 'currency'],
    'api:call': ['methods'],
  },
  budgets: false,
};
