/** P16: some Capability allows this type of action and, for an API call, this method. Narrowing begins here. */
import type { Action } from '../model/action.ts';
import type { Capability } from '../model/capability.ts';
import { isStringArray } from '../model/members.ts';
import { defineCheck, narrow } from './check.ts';
import { type ExplainedPerCapability, one } from './explained.ts';
import { p03GrantSignature } from './p03-grant-signature.ts';
import { p15ActionWellFormed } from './p15-action-well-formed.ts';

export const p16ActionAuthorized = /* @__PURE__ */ defineCheck({
  id: 'P16',
  title: 'some Capability has this action type and, for an api:call, this method',
  cites: ['interface §Capability', 'protocol §7'],
  requires: [p03GrantSignature, p15ActionWellFormed],
  reasons: ['ACTION_NOT_AUTHORIZED'],
  run: ({ P3: { grant }, P15: { action } }) =>
    narrow(
      { grantId: grant.id, action, survivors: grant.capabilities },
      (capability) => allowsAction(capability, action),
      'ACTION_NOT_AUTHORIZED',
    ),
});

export const p16Explained: ExplainedPerCapability = {
  judge: (action) => (capability) => ({
    holds: allowsAction(capability, action),
    compared:
      action.type === 'api:call' && capability.action === action.type
        ? one('action.method', action.method, capability.constraints.methods)
        : one('action.type', action.type, capability.action),
  }),
};

/** Whether the Capability is of this Action's type and, for an API call, has its method. */
const allowsAction = (capability: Capability, action: Action): boolean => {
  if (capability.action !== action.type) return false;
  if (action.type !== 'api:call') return true;
  const { methods } = capability.constraints;
  return isStringArray(methods) && methods.includes(action.method);
};
