/**
 * The balances that an ALLOW consumed from (protocol §11). They are not public evidence, since the holder of a Receipt
 * must not learn what else was spent; the Receipt contains only their hash. A caller who may read the Grant's
 * consumption log can replay it to any version. The hash in the Receipt authenticates the result.
 */

import { failure, plainObject } from '@svc/codec';
import {
  applyConsumption,
  type Balances,
  type CryptoPort,
  emptyBalances,
  type GrantId,
  isJsonObject,
  isSha256,
  type JsonObject,
  type JsonValue,
  type Limits,
  type Movement,
  parseInstant,
  parseLimits,
  parseSnapshot,
  parseStrictJson,
  type ReceiptBody,
  type Sha256,
  sha256Of,
  snapshotHashOf,
} from '@svc/protocol';
import type { Failure } from '../failure.ts';

export type BalanceFailure = Failure<'missing-evidence' | 'wrong-balances'>;

type Pinned = NonNullable<ReceiptBody['evidence']['consumption']>;

export interface BalanceSource {
  /** The evidence with this hash, if any. */
  readonly findText: (hash: Sha256) => string | undefined;
  /** Answers of `GET /grants/{id}/consumption`. */
  readonly consumption: readonly unknown[];
  readonly crypto: CryptoPort;
}

const PATH = '/evidence/consumption/snapshot_hash';

/** The balances that `pinned` names, given directly or replayed from the log; otherwise what is missing or wrong. */
export const readBalances = (
  { grant_id: grantId }: ReceiptBody,
  pinned: Pinned,
  { findText, consumption, crypto }: BalanceSource,
): Balances | BalanceFailure => {
  const { snapshot_hash: hash, version } = pinned;
  const text = findText(hash);
  if (text !== undefined && sha256Of(crypto, text) === hash) return readText(text, pinned, grantId);
  const given = grantId === undefined ? [] : listGiven(consumption, grantId, version);
  const right = given.find((balances) => snapshotHashOf(crypto, balances) === hash);
  if (right !== undefined) return right;
  const problem =
    given.length === 0
      ? 'are missing; GET /grants/{id}/consumption has the log back to its beginning'
      : 'were given as others';
  return failure('missing-evidence', `the balances ${hash} of version ${version} ${problem}`, PATH);
};

/** The service pinned the snapshot, so an invalid one is the service's fault. */
const readText = (
  text: string,
  { version }: Pinned,
  grantId: GrantId | undefined,
): Balances | BalanceFailure => {
  const json = parseStrictJson(text);
  const balances = json.ok ? parseSnapshot(json.value) : null;
  if (balances !== null && balances.grantId === grantId && balances.version === version) return balances;
  const message = `the balances pinned must be those of ${grantId} as published at version ${version}`;
  return failure('wrong-balances', message, PATH);
};

/** All candidates for the balances of this version: those given, and those replayed from the log. */
const listGiven = (
  consumption: readonly unknown[],
  grantId: GrantId,
  version: number,
): readonly Balances[] => {
  const pages = consumption
    .map(plainObject)
    .filter((page): page is JsonObject => page !== null && page.grant_id === grantId);
  const stated = pages
    .filter((page) => page.version === version)
    .map(({ capabilities }) =>
      parseSnapshot({ grant_id: grantId, version, capabilities: capabilities ?? null }),
    );
  return [...stated, replay(pages, grantId, version)].filter((balances) => balances !== null);
};

/** Null if the log has gaps or is inconsistent. */
const replay = (pages: readonly JsonObject[], grantId: GrantId, version: number): Balances | null => {
  const limits = new Map(pages.flatMap(({ capabilities }) => listOf(capabilities).flatMap(limitsOf)));
  const events = new Map(
    pages.flatMap(({ events }) => listOf(events).map((event) => [event.version, event])),
  );
  let balances = emptyBalances(grantId);
  try {
    while (balances.version < version) {
      const movement = parseEvent(events.get(balances.version + 1), limits);
      if (movement === null) return null;
      balances = applyConsumption(balances, movement);
    }
    return balances;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
};

const listOf = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

const limitsOf = (balance: JsonObject): (readonly [JsonValue, Limits])[] => {
  const limits = parseLimits(balance.limits);
  return limits === null || balance.key === undefined ? [] : [[balance.key, limits]];
};

const parseEvent = (event: JsonObject | undefined, known: ReadonlyMap<unknown, Limits>): Movement | null => {
  if (event === undefined) return null;
  const { key, delta_total: deltaTotal, delta_period: deltaPeriod, delta_uses: deltaUses } = event;
  const limits = known.get(key);
  const periodStartMs = typeof event.period_start === 'string' ? parseInstant(event.period_start) : null;
  const recordedAtMs = typeof event.recorded_at === 'string' ? parseInstant(event.recorded_at) : null;
  if (!isSha256(key) || limits === undefined || recordedAtMs === null) return null;
  if (!isInteger(deltaTotal) || !isInteger(deltaPeriod) || !isInteger(deltaUses)) return null;
  return { key, deltaTotal, deltaPeriod, deltaUses, periodStartMs, limits, recordedAtMs };
};

const isInteger = (value: JsonValue | undefined): value is number => Number.isSafeInteger(value);
