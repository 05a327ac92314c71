/**
 * Capabilities as a Principal writes them (interface §Capability). Resources are patterns of `*` and `**`. Checked
 * here already: text where a list belongs would otherwise be taken apart into patterns of one character each.
 */
import { type Capability, isCurrency, isMethod, MAX_METHODS, MAX_RESOURCES } from '@svc/protocol';
import { absentAllows, anInteger, aTextList, type Rules, readArgument, rule } from '@svc/sdk-core/arguments';

export interface PurchaseLimits {
  /** At a time, in minor units of `currency`: an integer. */
  maxAmountMinor: number;
  /** ISO 4217. */
  currency: string;
  /** 1–64 patterns; absent: any resource. */
  resources?: readonly string[];
}

export interface ApiCallLimits {
  /** 1–16, upper case. */
  methods: readonly string[];
  /** 1–64 patterns of whole URLs; absent: any URL. */
  resources?: readonly string[];
}

const resourcePatterns = aTextList('resource patterns', 1, MAX_RESOURCES);

const purchaseRules: Rules<PurchaseLimits> = {
  maxAmountMinor: anInteger(0, Number.MAX_SAFE_INTEGER, 'minor units of the currency: 4.27 USD are 427'),
  currency: rule('three upper-case letters (ISO 4217), such as "USD"', isCurrency),
  resources: absentAllows('any resource', resourcePatterns),
};

const apiCallRules: Rules<ApiCallLimits> = {
  methods: rule(
    `an array of 1 to ${MAX_METHODS} distinct HTTP methods in upper-case letters, such as ["GET"]`,
    (value): value is readonly string[] =>
      Array.isArray(value) &&
      value.length >= 1 &&
      value.length <= MAX_METHODS &&
      Array.from(value).every(isMethod) &&
      new Set(value).size === value.length,
  ),
  resources: absentAllows('any URL', resourcePatterns),
};

/**
 * May buy for at most `maxAmountMinor` (minor units of `currency`) at a time. No `resources`: any.
 * @throws SvcError `invalid-argument`
 */
export function purchase(limits: PurchaseLimits): Capability {
  const { maxAmountMinor: maxAmount, currency, resources } = readArgument('purchase', limits, purchaseRules);
  return { action: 'commerce:purchase', constraints: { maxAmount, currency }, ...resourcesOf(resources) };
}

/**
 * May call with these HTTP methods. `resources` are patterns of whole URLs; without them, any URL.
 * @throws SvcError `invalid-argument`
 */
export function apiCall(limits: ApiCallLimits): Capability {
  const { methods, resources } = readArgument('apiCall', limits, apiCallRules);
  return { action: 'api:call', constraints: { methods: [...methods] }, ...resourcesOf(resources) };
}

const resourcesOf = (resources: readonly string[] | undefined) =>
  resources === undefined ? {} : { resources: [...resources] };
