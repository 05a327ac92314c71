/**
 * Capabilities as a Principal writes them (interface §Capability). Resources are patterns with `*` and `**`. Arguments
 * are checked here, because a text in place of a list would be split into patterns of one character each.
 */
import type { JsonObject, JsonValue } from '@svc/codec';
import {
  type Capability,
  isCurrency,
  isMethod,
  isPeriod,
  MAX_METHODS,
  MAX_RESOURCES,
  PERIODS,
  type Period,
} from '@svc/protocol';
import { SvcError } from '@svc/sdk-core';
import { absentAllows, anInteger, aTextList, type Rules, readArgument, rule } from '@svc/sdk-core/arguments';

/** What a `commerce:purchase` Capability allows. */
export interface PurchaseLimits {
  /** For one purchase, in minor units of `currency`: an integer. */
  maxAmountMinor: number;
  /** ISO 4217. */
  currency: string;
  /** 1–64 patterns. If absent: any resource. */
  resources?: readonly string[];
  /** For all purchases under this Capability during the Grant's life, in minor units. */
  maxTotalMinor?: number;
  /** For each window of `period`, in minor units. */
  maxPerPeriodMinor?: number;
  /** The calendar window of `maxPerPeriodMinor`, in UTC; a week begins on Monday. */
  period?: Period;
  /** The number of purchases. */
  maxUses?: number;
}

/** What an `api:call` Capability allows. */
export interface ApiCallLimits {
  /** 1–16 methods, in upper case. */
  methods: readonly string[];
  /** 1–64 patterns of whole URLs. If absent: any URL. */
  resources?: readonly string[];
  /** The number of calls. */
  maxUses?: number;
}

const resourcePatterns = aTextList('resource patterns', 1, MAX_RESOURCES);

const minorUnits = anInteger(0, Number.MAX_SAFE_INTEGER, 'minor units of the currency: 4.27 USD are 427');
const uses = anInteger(0, Number.MAX_SAFE_INTEGER, 'uses');

const purchaseRules: Rules<PurchaseLimits> = {
  maxAmountMinor: minorUnits,
  currency: rule('three upper-case letters (ISO 4217), such as "USD"', isCurrency),
  resources: absentAllows('any resource', resourcePatterns),
  maxTotalMinor: absentAllows('any sum', minorUnits),
  maxPerPeriodMinor: absentAllows('any sum', minorUnits),
  period: absentAllows('any sum', rule(PERIODS.map((one) => `"${one}"`).join(' or '), isPeriod)),
  maxUses: absentAllows('any number of purchases', uses),
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
  maxUses: absentAllows('any number of calls', uses),
};

/**
 * Allows purchases of at most `maxAmountMinor` each (minor units of `currency`). Without `resources`: any resource.
 * `maxTotalMinor`, `maxPerPeriodMinor` with `period`, and `maxUses` are budgets, which purchases use up. Relying
 * parties under `svc-base-v1` deny a Capability that has a budget.
 * @throws SvcError `invalid-argument`
 * @example
 * const capabilities = [purchase({ maxAmountMinor: 50_000, currency: 'USD', resources: ['order/*'] })]; // 500.00 USD each
 */
export function purchase(limits: PurchaseLimits): Capability {
  const given = readArgument('purchase', limits, purchaseRules);
  const { maxAmountMinor: maxAmount, currency, resources, maxTotalMinor: maxTotal, maxUses } = given;
  const { maxPerPeriodMinor: maxPerPeriod, period } = given;
  if ((maxPerPeriod === undefined) !== (period === undefined))
    throw new SvcError('invalid-argument', 'purchase: maxPerPeriodMinor and period must come together');
  const budget = { maxTotal, maxPerPeriod, period, maxUses };
  return {
    action: 'commerce:purchase',
    constraints: { maxAmount, currency, ...withoutUndefined(budget) },
    ...resourcesOf(resources),
  };
}

/**
 * Allows calls with these HTTP methods. `resources` are patterns of whole URLs; without them, any URL. `maxUses` is a
 * budget, see `purchase`.
 * @throws SvcError `invalid-argument`
 * @example
 * const capabilities = [apiCall({ methods: ['GET'], resources: ['https://api.example/invoices/*'] })];
 */
export function apiCall(limits: ApiCallLimits): Capability {
  const { methods, resources, maxUses } = readArgument('apiCall', limits, apiCallRules);
  return {
    action: 'api:call',
    constraints: { methods: [...methods], ...withoutUndefined({ maxUses }) },
    ...resourcesOf(resources),
  };
}

const resourcesOf = (resources: readonly string[] | undefined) =>
  resources === undefined ? {} : { resources: [...resources] };

const withoutUndefined = (members: Readonly<Record<string, JsonValue | undefined>>): JsonObject =>
  Object.fromEntries(
    Object.entries(members).filter((one): one is [string, JsonValue] => one[1] !== undefined),
  );
