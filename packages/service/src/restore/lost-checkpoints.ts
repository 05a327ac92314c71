/**
 * Days that were closed in a lost span keep their published checkpoint, because a second one would be a fork. The
 * checkpoint is stored again as it was signed, without tiles. The database no longer shows which Receipts the
 * checkpoint covers, and the statement says so.
 */
import { kidOfJws } from '@svc/codec';
import type { JsonObject, Sha256 } from '@svc/protocol';
import { RECEIPT_JWS_MAX_CHARS } from '@svc/receipts';
import { verifyCheckpoint } from '@svc/transparency';
import type { ServiceDeps } from '../deps.ts';
import type { CheckpointRecord, Day } from '../ports/checkpoints.ts';
import { ALWAYS } from '../service-keys/key-set.ts';
import {
  buildServiceDidDocument,
  identityOfKey,
  type PublishedIdentity,
} from '../service-keys/service-identity.ts';
import type { FenceRecord } from './fence-records.ts';
import { PUT_KEYS_BACK } from './put-keys-back.ts';

type Deps = Pick<ServiceDeps, 'store' | 'identity' | 'crypto' | 'clock'>;

export type LostCheckpoint = Omit<CheckpointRecord, 'createdAtMs'>;

/** By ascending days. `ahead`: checkpoints dated later than the database's clock. */
export interface LostCheckpoints {
  readonly lost: readonly LostCheckpoint[];
  readonly ahead: readonly { readonly day: Day; readonly atMs: number }[];
}

/**
 * Kept checkpoints that are not in this database, without those that a repair of the clock has retracted. A checkpoint
 * that is dated ahead has one of two causes. Either the clock that signed it ran ahead: then its day continues, and is
 * closed when it is over. Or the database's clock is behind: then the day would be published twice without the
 * checkpoint.
 */
export const listLostCheckpoints = async (
  deps: Deps,
  kept: readonly FenceRecord[],
): Promise<LostCheckpoints> => {
  const lost: LostCheckpoint[] = [];
  const ahead: { day: Day; atMs: number }[] = [];
  for (const { name: day, kept: row } of [...kept].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    // Only the day was kept: its checkpoint was retracted before the copy.
    if (row.jws === undefined || (await deps.store.checkpoints.find(day)) !== null) continue;
    const { iat, ...checkpoint } = readCheckpoint(deps, day, row);
    if (await deps.store.restores.isRetracted(checkpoint.hash)) continue;
    if (iat * 1_000 > deps.clock.nowMs()) ahead.push({ day, atMs: iat * 1_000 });
    else lost.push(checkpoint);
  }
  return { lost, ahead };
};

/**
 * The service's DID document with keys that are valid at all times. The checkpoint was published, whatever happened to
 * its key since, and this database may have a key of the lost span only from now on.
 */
const documentOfAnyTime = ({ statusKeys, ...identity }: PublishedIdentity): string =>
  buildServiceDidDocument({
    ...identity,
    statusKeys: { ...statusKeys, published: statusKeys.published.map((key) => ({ ...key, time: ALWAYS })) },
  });

/**
 * Parses a kept checkpoint. Throws unless the service signed it. The content root is not signed: it is never published.
 */
const readCheckpoint = (
  { identity, crypto }: Deps,
  day: Day,
  { jws, content_root: contentRoot }: JsonObject,
): LostCheckpoint & { readonly iat: number } => {
  const text = String(jws);
  const verified = verifyCheckpoint({
    checkpoint: text,
    serviceDidDocument: documentOfAnyTime(
      identityOfKey(identity, kidOfJws(text, RECEIPT_JWS_MAX_CHARS) ?? ''),
    ),
    crypto,
  });
  if (!verified.ok || verified.checkpoint.day !== day)
    throw new Error(`the checkpoint of ${day} beside the fence is not the service's. ${PUT_KEYS_BACK}`);
  const { checkpoint, kid } = verified;
  return {
    iat: checkpoint.iat,
    day,
    treeSize: checkpoint.tree_size,
    root: checkpoint.root as Sha256,
    previousRoot: checkpoint.previous_root as Sha256 | null,
    firstReceiptId: checkpoint.first_receipt_id as CheckpointRecord['firstReceiptId'],
    lastReceiptId: checkpoint.last_receipt_id as CheckpointRecord['lastReceiptId'],
    kid,
    jws: text,
    hash: `sha256:${crypto.sha256Hex(text)}` as Sha256,
    contentRoot: String(contentRoot) as Sha256,
  };
};
