/** P18: some survivor has the currency of the purchase. An API call has no currency, so the check is true. */
import type { Action } from '../model/action.ts';
import type { Capability } from '../model/capability.ts';
import { defineCheck, narrow } from './check.ts';
import { type ExplainedPerCapability, one } from './explained.ts';
import { p17ConstraintsKnown } from './p17-constraints-known.ts';

export const p18CurrencyAuthorized = /* @__PURE__ */ defineCheck({
  id: 'P18',
  title: "some survivor has the Action's currency (api:call: always)",
  cites: ['interface §Capability', 'protocol §7'],
  requires: [p17ConstraintsKnown],
  reasons: ['CURRENCY_NOT_AUTHORIZED'],
  run: ({ P17 }) =>
    narrow(P17, (capability) => allowsCurrency(capability, P17.action), 'CURRENCY_NOT_AUTHORIZED'),
});

export const p18Explained: ExplainedPerCapability = {
  judge: (action) => (capability) => ({
    holds: capability.action === action.type && allowsCurrency(capability, action),
    compared:
      action.type === 'api:call'
        ? []
        : one('action.currency', action.currency, capability.constraints.currency),
  }),
};

/** Always true for an API call, which has no currency. */
export const allowsCurrency = ({ constraints }: Capability, action: Action): boolean =>
  action.type === 'api:call' || constraints.currency === action.currency;
