/** Closed days, their Merkle trees and their published checkpoints (interface §Transparency, protocol §12). */
import type { ReceiptId, Sha256 } from '@svc/protocol';

/** A UTC day, `YYYY-MM-DD`. */
export type Day = string;

export interface CheckpointRecord {
  readonly day: Day;
  readonly treeSize: number;
  readonly root: Sha256;
  /** Root of the day before; null for the deployment's first day alone. */
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

/** A tile of `@svc/merkle` above the leaves: up to 256 hashes of 32 bytes, one behind the other. */
export interface TileRecord {
  readonly level: number;
  readonly index: number;
  readonly hashes: Uint8Array;
  /** Level 1: the first receipt below each hash. */
  readonly firstReceiptIds: readonly ReceiptId[] | null;
}

/** A run of a day's receipts in tree order. */
export interface LeafRun {
  readonly receiptIds: readonly ReceiptId[];
  /** The content hash of each, 32 bytes. */
  readonly contentHashes: readonly Uint8Array[];
}

/** Where 256 neighbouring leaves begin: how many such runs stand before them, and their first receipt. */
export interface LeafTilePlace {
  readonly index: number;
  readonly firstReceiptId: ReceiptId;
}

/** Where a run begins; null: with the day's first receipt. */
export type LeafStart = { readonly after: ReceiptId } | { readonly at: ReceiptId } | null;

export interface CheckpointRepository {
  /** The first day that is ever closed. */
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
   * Receipts of a day in tree order, at most `limit`, with the content hashes that were stored beside them; `listLeavesAgain`
   * takes the hashes from the bytes of the receipts as they are now.
   */
  listLeavesAgain(day: Day, start: LeafStart, limit: number): Promise<LeafRun>;
  listLeaves(day: Day, start: LeafStart, limit: number): Promise<LeafRun>;
  /**
   * Their ids alone. Behind a Receipt there may be fewer than `limit` and more to follow: whoever is answered with none
   * has them all.
   */
  listReceiptIds(day: Day, start: LeafStart, limit: number): Promise<readonly ReceiptId[]>;
  /**
   * Publishes a checkpoint with its tiles, all or nothing. False, and nothing changed, when the day has one already.
   * `conflict` when `previousRoot` is not the root of the day before.
   */
  insert(checkpoint: Omit<CheckpointRecord, 'createdAtMs'>, tiles: readonly TileRecord[]): Promise<boolean>;
  findTile(day: Day, level: number, index: number): Promise<TileRecord | null>;
  /** The run of 256 leaves in which this receipt stands, in a day of more than 256; else null. */
  findLeafTile(day: Day, receiptId: ReceiptId): Promise<LeafTilePlace | null>;
  /** Published days not read again within `hours`, the longest unread first; those of `except` are left out. */
  listDueForCheck(hours: number, limit: number, except: readonly Day[]): Promise<CheckpointRecord[]>;
  /** When the day was read, or if never closed, that `listDueForCheck` has waiting the longest; null: there is none. */
  oldestCheckMs(): Promise<number | null>;
  /** Whether a day's receipts, read again now, still led to its roots. */
  recordCheck(day: Day, isIntact: boolean): Promise<void>;
  /** Days whose receipts did not lead to their roots when they were last read, ascending. */
  listBroken(): Promise<Day[]>;
}
