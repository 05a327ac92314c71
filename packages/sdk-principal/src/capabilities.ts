/** Capabilities as a Principal writes them (interface §Capability). Resources are patterns of `*` and `**`. */
import type { Capability } from '@svc/protocol';

/** May buy for at most `maxAmountMinor` (minor units of `currency`) at a time. No `resources`: any. */
export function purchase(limits: {
  maxAmountMinor: number;
  currency: string;
  resources?: readonly string[];
}): Capability {
  const constraints = { maxAmount: limits.maxAmountMinor, currency: limits.currency };
  return { action: 'commerce:purchase', constraints, ...resourcesOf(limits) };
}

/** May call with these HTTP methods. `resources` are patterns of whole URLs; without them, any URL. */
export function apiCall(limits: { methods: readonly string[]; resources?: readonly string[] }): Capability {
  return { action: 'api:call', constraints: { methods: [...limits.methods] }, ...resourcesOf(limits) };
}

const resourcesOf = ({ resources }: { resources?: readonly string[] }) =>
  resources === undefined ? {} : { resources: [...resources] };
