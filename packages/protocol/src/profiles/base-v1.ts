/** `svc-base-v1`: per-action limits, nothing that is used up (interface §Versioning). */
import type { Profile } from './profile.ts';

export const BASE_V1: Profile = {
  id: 'svc-base-v1',
  constraintKeys: {
    'commerce:purchase': ['maxAmount', 'currency'],
    'api:call': ['methods'],
  },
  budgets: false,
};
