/**
 * P20: some survivor matches the resource (protocol §6). The first one left is the authority for the Action, and an
 * ALLOW consumes its budget.
 */
import { normalizeHtu } from '@svc/codec';
import type { Action } from '../model/action.ts';
import type { Capability } from '../model/capability.ts';
import { resourceMatcher, urlMatcher } from '../resources/resource-pattern.ts';
import { defineCheck, deny, pass } from './check.ts';
import { type ExplainedPerCapability, one } from './explained.ts';
import { p19AmountAuthorized } from './p19-amount-authorized.ts';

export const p20ResourceAuthorized = /* @__PURE__ */ defineCheck({
  id: 'P20',
  title: 'some survivor matches the resource',
  cites: ['interface §Capability', 'protocol §6', 'RFC 3986 §6.2.2'],
  requires: [p19AmountAuthorized],
  reasons: ['RESOURCE_NOT_AUTHORIZED'],
  run: ({ P19: { grantId, action, survivors: capabilities, consumptions } }) => {
    const survivors = capabilities.filter(resourceTestOf(action));
    const [authority] = survivors;
    if (authority === undefined) return deny('RESOURCE_NOT_AUTHORIZED');
    const consumption = consumptions.get(authority) ?? null;
    return pass({ grantId, action, survivors, authority, consumption });
  },
});

export const p20Explained: ExplainedPerCapability = {
  judge: (action) => {
    const isMatch = resourceTestOf(action);
    return (capability) => ({
      holds: capability.action === action.type && isMatch(capability),
      compared: one('action.resource', action.resource, capability.resources ?? 'any'),
    });
  },
};

/** Returns the test whether a Capability names the resource of this Action, or all resources. */
export const resourceTestOf = (action: Action): ((capability: Capability) => boolean) => {
  const matches = matcherOf(action);
  return ({ resources }) => resources === undefined || resources.some(matches);
};

const matcherOf = (action: Action): ((pattern: string) => boolean) => {
  if (action.type === 'commerce:purchase') return resourceMatcher(action.resource);
  const url = normalizeHtu(action.resource);
  return url === null ? () => false : urlMatcher(url);
};
