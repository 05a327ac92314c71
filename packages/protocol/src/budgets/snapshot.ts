/**
 * Balances in their published form (interface §ConsumptionBalance), and the hash of that form. Members are written in
 * RFC 8785 order, so `JSON.stringify` of a snapshot is its canonical form. A snapshot depends on the log alone:
 * `remaining` is what is left of the window in `period_start`, regardless of the current time.
 */
import {
  type CryptoPort,
  formatTimestamp,
  isJsonObject,
  isSha256,
  type JsonObject,
  parseInstant,
  type Sha256,
  sha256Of,
} from '@svc/codec';
import { type GrantId, isGrantId } from '../model/ids.ts';
import { hasExactly, isNonNegativeInteger, member } from '../model/members.ts';
import { type Balance, type Balances, remainingOf } from './balances.ts';
import type { Limits } from './budget.ts';

/** `Limits` as published: minor units and uses, null where not limited. */
export interface LimitsJson {
  readonly per_period: number | null;
  readonly total: number | null;
  readonly uses: number | null;
}

/**
 * One budget as published (interface §Consumable Grants). Amounts are in minor units, times RFC 3339 UTC with
 * milliseconds.
 */
export interface ConsumptionBalance {
  readonly key: Sha256;
  readonly limits: LimitsJson;
  readonly period_start: string | null;
  readonly remaining: LimitsJson;
  readonly spent_in_period: number;
  readonly spent_total: number;
  readonly updated_at: string;
  readonly uses_spent: number;
}

/** Every balance of a Grant as published: what a Receipt pins by its hash. */
export interface ConsumptionSnapshot {
  /** By ascending key. */
  readonly capabilities: readonly ConsumptionBalance[];
  readonly grant_id: GrantId;
  readonly version: number;
}

/** Balances in their published form. `JSON.stringify` of the result is its RFC 8785 form. */
export const snapshotOf = ({ grantId, version, capabilities }: Balances): ConsumptionSnapshot => ({
  capabilities: capabilities.map(publish),
  grant_id: grantId,
  version,
});

const publish = (balance: Balance): ConsumptionBalance => ({
  key: balance.key,
  limits: limitsJson(balance.limits),
  period_start: balance.periodStartMs === null ? null : formatTimestamp(balance.periodStartMs),
  remaining: limitsJson(remainingOf(balance.limits, balance)),
  spent_in_period: balance.spentInPeriod,
  spent_total: balance.spentTotal,
  updated_at: formatTimestamp(balance.updatedAtMs),
  uses_spent: balance.usesSpent,
});

const limitsJson = ({ perPeriod, total, uses }: Limits): LimitsJson => ({
  per_period: perPeriod,
  total,
  uses,
});

/** `snapshot_hash`: SHA-256 of the RFC 8785 form of the snapshot. */
export const snapshotHashOf = (crypto: CryptoPort, balances: Balances): Sha256 =>
  sha256Of(crypto, JSON.stringify(snapshotOf(balances)));

const SNAPSHOT = new Set(['capabilities', 'grant_id', 'version']);
const BALANCE = new Set([
  'key',
  'limits',
  'period_start',
  'remaining',
  'spent_in_period',
  'spent_total',
  'updated_at',
  'uses_spent',
]);
const LIMITS = new Set(['per_period', 'total', 'uses']);

/** The balances that a snapshot publishes; null unless it is exactly what `snapshotOf` gives, member order aside. */
export const parseSnapshot = (value: unknown): Balances | null => {
  if (!isJsonObject(value) || !hasExactly(value, SNAPSHOT)) return null;
  const { grant_id: grantId, version, capabilities: list } = value;
  if (!isGrantId(grantId) || !isNonNegativeInteger(version) || !Array.isArray(list)) return null;
  const capabilities: Balance[] = [];
  for (const item of list) {
    const balance = parseBalance(item);
    const last = capabilities.at(-1);
    if (balance === null || (last !== undefined && last.key >= balance.key)) return null;
    capabilities.push(balance);
  }
  return { grantId, version, capabilities };
};

const parseBalance = (value: unknown): Balance | null => {
  if (!isJsonObject(value) || !hasExactly(value, BALANCE)) return null;
  const { key, spent_total: spentTotal, spent_in_period: spentInPeriod, uses_spent: usesSpent } = value;
  const limits = parseLimits(member(value, 'limits'));
  const remaining = parseLimits(member(value, 'remaining'));
  const { period_start: periodStart, updated_at: updatedAt } = value;
  const periodStartMs = typeof periodStart === 'string' ? parseInstant(periodStart) : null;
  const updatedAtMs = typeof updatedAt === 'string' ? parseInstant(updatedAt) : null;
  if (!isSha256(key) || limits === null || remaining === null || updatedAtMs === null) return null;
  if (periodStart !== null && periodStartMs === null) return null;
  if (
    !isNonNegativeInteger(spentTotal) ||
    !isNonNegativeInteger(spentInPeriod) ||
    !isNonNegativeInteger(usesSpent)
  )
    return null;
  const balance = { key, spentTotal, spentInPeriod, periodStartMs, usesSpent, limits, updatedAtMs };
  const right = remainingOf(limits, balance);
  const agrees =
    right.total === remaining.total &&
    right.perPeriod === remaining.perPeriod &&
    right.uses === remaining.uses;
  return agrees ? balance : null;
};

/** `limits` or `remaining` as published, or null. */
export const parseLimits = (value: unknown): Limits | null => {
  if (!isJsonObject(value) || !hasExactly(value, LIMITS)) return null;
  const { total, per_period: perPeriod, uses } = value as JsonObject;
  return isLimit(total) && isLimit(perPeriod) && isLimit(uses) ? { total, perPeriod, uses } : null;
};

const isLimit = (value: unknown): value is number | null => value === null || isNonNegativeInteger(value);
