/**
 * Storage of closed days, their Merkle trees and their published checkpoints (interface §Transparency, protocol §12).
 */
import type { ReceiptId, Sha256 } from '@svc/protocol';

/** A UTC day, `YYYY-MM-DD`. */
export type Day = string;

export interface CheckpointRecord {
  readonly day: Day;
  readonly treeSize: number;
  readonly root: Sha256;
  /** Root of the day before; null only for the deployment's first day. */
  readonly previousRoot: Sha256 | null;
  readonly firstReceiptId: ReceiptId | null;
  readonly lastReceiptId: ReceiptId | null;
  readonly kid: string;
  /** The signed checkpoint as a compact JWS, and the SHA-256 of its bytes. */
  readonly jws: string;
  readonly hash: Sha256;
  /** Root over the SHA-256 of each receipt's bytes, in the order of the leaves. Never published. */
  readonly contentRoot: Sha256;
  readonly createdAtMs: number;
}

/** A tile of `@svc/merkle` above the leaves: up to 256 hashes of 32 bytes, concatenated. */
export interface TileRecord {
  readonly level: number;
  readonly index: number;
  readonly hashes: Uint8Array;
  /** At level 1: the first receipt below each hash. Null at other levels. */
  readonly firstReceiptIds: readonly ReceiptId[] | null;
}

/** A run of a day's receipts in tree order. */
export interface LeafRun {
  readonly receiptIds: readonly ReceiptId[];
  /** The content hash of each, 32 bytes. */
  readonly contentHashes: readonly Uint8Array[];
}

/** Where a run of 256 leaves begins: the number of such runs before it, and its first receipt. */
export interface LeafTilePlace {
  readonly index: number;
  readonly firstReceiptId: ReceiptId;
}

/** Where a run begins; null: with the day's first receipt. */
export type LeafStart = { readonly after: ReceiptId } | { readonly at: ReceiptId } | null;

export interface CheckpointRepository {
  /** The first day that the deployment closes. */
  firstDay(): Promise<Day>;
  /** The latest published checkpoint. */
  findLatest(): Promise<CheckpointRecord | null>;
  find(day: Day): Promise<CheckpointRecord | null>;
  count(): Promise<number>;
  /** Ascending days after `after` (exclusive), at most `limit`. */
  list(after: Day | null, limit: number): Promise<CheckpointRecord[]>;
  /**
   * Closes a day to receipts under its exclusive lock (2 s at most, else `lock_timeout`). When this answers true, every
   * receipt of the day that will ever exist is committed. False: the day has not ended by the database's clock.
   */
  closeDay(day: Day): Promise<boolean>;
  /**
   * Receipts of a day in tree order, at most `limit`, with content hashes. `listLeaves` answers the hashes that were
   * stored beside the receipts; `listLeavesAgain` computes them from the present bytes of the receipts.
   */
  listLeavesAgain(day: Day, start: LeafStart, limit: number): Promise<LeafRun>;
  listLeaves(day: Day, start: LeafStart, limit: number): Promise<LeafRun>;
  /**
   * Only the ids of the same receipts. A page may have fewer than `limit` although more follow; only an empty page
   * means the end.
   */
  listReceiptIds(day: Day, start: LeafStart, limit: number): Promise<readonly ReceiptId[]>;
  /**
   * Publishes a checkpoint with its tiles, all or nothing. False, and nothing changed, when the day has one already.
   * Rejects with `conflict` when `previousRoot` is not the root of the day before.
   */
  insert(checkpoint: Omit<CheckpointRecord, 'createdAtMs'>, tiles: readonly TileRecord[]): Promise<boolean>;
  findTile(day: Day, level: number, index: number): Promise<TileRecord | null>;
  /** The run of 256 leaves that contains this receipt; null in a day of 256 receipts or fewer. */
  findLeafTile(day: Day, receiptId: ReceiptId): Promise<LeafTilePlace | null>;
  /** Published days that were not read again within `hours`, the longest unread first, without those in `except`. */
  listDueForCheck(hours: number, limit: number, except: readonly Day[]): Promise<CheckpointRecord[]>;
  /**
   * The earliest time of a last check, among the days that `listDueForCheck` considers. A day that was never checked
   * counts from its publication. Null: there is no such day.
   */
  oldestCheckMs(): Promise<number | null>;
  /** Records whether a day's receipts, which were read again now, still hash to its roots. */
  recordCheck(day: Day, isIntact: boolean): Promise<void>;
  /** Days whose receipts did not hash to their roots when they were last read, ascending. */
  listBroken(): Promise<Day[]>;
}
