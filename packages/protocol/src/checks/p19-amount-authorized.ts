/** P19: some survivor allows the amount, its ceiling included; an API call has none. */
import { isNonNegativeInteger } from '../model/members.ts';
import { defineCheck, narrow } from './check.ts';

export const p19AmountAuthorized = /* @__PURE__ */ defineCheck({
  id: 'P19',
  title: 'some survivor allows the amount (api:call: always)',
  requires: ['P18'],
  reasons: ['AMOUNT_EXCEEDS_AUTHORITY'],
  run: ({ P18 }) =>
    narrow(
      P18,
      ({ constraints: { maxAmount } }) =>
        P18.action.type === 'api:call' || (isNonNegativeInteger(maxAmount) && P18.action.amount <= maxAmount),
      'AMOUNT_EXCEEDS_AUTHORITY',
    ),
});
