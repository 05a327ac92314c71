/**
 * What an ALLOW pins of the budget that it consumes from (protocol §11): the balances before it, by version and hash,
 * the limits, and the instant of the movement. The Receipt states it, and it can be computed from the log.
 */
import {
  budgetOf,
  type GrantId,
  type Limits,
  type ReceiptBody,
  type Sha256,
  snapshotHashOf,
} from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import type { Replayed } from './replay.ts';

export interface Pin {
  readonly receiptId: string;
  readonly grantId: GrantId;
  readonly key: Sha256;
  readonly version: number;
  readonly snapshotHash: Sha256;
  /** Null if the authority of the Receipt has no budget. */
  readonly limits: Limits | null;
  readonly atMs: number;
}

/** The pin that the log requires for a consume event. */
export const pinOfEvent = ({ event, before, limits }: Replayed): Pin => ({
  ...{ receiptId: event.receiptId, grantId: before.grantId, key: event.key, version: before.version },
  ...{ snapshotHash: snapshotHashOf(nativeCrypto, before), limits, atMs: event.recordedAtMs },
});

type Consuming = Pick<
  ReceiptBody,
  'receipt_id' | 'decision' | 'grant_id' | 'authority' | 'evaluated_at' | 'evidence'
>;

/** The pin of a Receipt; null if it consumes from no budget. */
export const pinOfReceipt = (receipt: Consuming): Pin | null => {
  const { receipt_id: receiptId, decision, grant_id: grantId, authority, evaluated_at: at } = receipt;
  if (decision !== 'ALLOW' || grantId === undefined) return null;
  const { consumption } = receipt.evidence;
  if (consumption === undefined) return null;
  const { key, version, snapshot_hash: snapshotHash } = consumption;
  const limits = authority ? (budgetOf(authority)?.limits ?? null) : null;
  return { receiptId, grantId, key, version, snapshotHash, limits, atMs: Date.parse(at) };
};

/** Pins are equal if and only if their texts are. */
export const textOfPin = ({ receiptId, grantId, key, version, snapshotHash, limits, atMs }: Pin): string =>
  JSON.stringify([
    receiptId,
    grantId,
    key,
    version,
    snapshotHash,
    limits && LIMITS.map((name) => limits[name]),
    atMs,
  ]);

/** The differences between what a Receipt pins and what the log of its budget requires. */
export function* differencesOf(said: Pin, logged: Pin): Generator<string> {
  const { receiptId } = logged;
  if (said.atMs !== logged.atMs) yield `${receiptId} was evaluated at another time`;
  if (LIMITS.some((name) => said.limits?.[name] !== logged.limits?.[name]))
    yield `${receiptId} was given other limits`;
  if (PINNED.some((name) => said[name] !== logged[name]))
    yield `${receiptId} pins other balances than those before it`;
}

const LIMITS = ['total', 'perPeriod', 'uses'] as const;
const PINNED = ['key', 'version', 'snapshotHash'] as const;
