/** Storage of days that have left the database or are about to (docs/decisions/0068-how-a-day-goes-cold.md). */
import type { Sha256 } from '@svc/protocol';
import type { CheckpointRecord, Day } from './checkpoints.ts';

/** The signed manifest of a day as a compact JWS, and the SHA-256 of its bytes. */
export interface ColdManifest {
  readonly manifest: string;
  readonly manifestHash: Sha256;
}

/** A day's manifest without its text, which has some hundred thousand characters for a day of a million Receipts. */
export interface HashedManifest {
  readonly day: Day;
  readonly manifestHash: Sha256;
}

export interface NamedManifest extends ColdManifest {
  /** The day is read by this manifest. */
  readonly isCurrent: boolean;
  /** The manifest was replaced, and the objects that it alone named are deleted. */
  readonly isPurged: boolean;
}

export interface BrokenDay {
  readonly day: Day;
  /** What does not match the published checkpoint, or why the day could not be packed. */
  readonly problem: string;
}

/** Where the Receipts of a closed day are. */
export interface DayState {
  readonly day: Day;
  /** `hot`: nothing is recorded of the day. `recorded`: it is packed, and still in the ledger. */
  readonly state: 'hot' | 'recorded' | 'cold' | 'broken' | 'unpacked';
  readonly problem: string | null;
  readonly provenAtMs: number | null;
  /** Size of the day in the database, in the ledger or kept beside it; 0: it is not there. */
  readonly bytes: number;
  /** Since when the day is kept beside the ledger; null: it is not. */
  readonly detachedAtMs: number | null;
  /** The day is packed and seven years old, and the action fields in its objects are not cleared yet. */
  readonly isUncleared: boolean;
}

/** Where a day's rows are: in the ledger, kept beside it, or only in the objects. */
export type DayPlace = 'ledger' | 'kept' | 'objects';

/**
 * `nowMs` is the time of the process. Whether a day or manifest is old enough to be packed, cleared, removed or purged
 * is judged by the earlier of `nowMs` and the database's clock.
 */
export interface ColdDayRepository {
  /**
   * Days that may be packed, the oldest first: closed at least `hotDays` ago, found intact recently, and
   * already read by every job that reads all Receipts in order.
   */
  listDue(hotDays: number, nowMs: number, limit: number): Promise<CheckpointRecord[]>;
  /**
   * Records that the objects of a day exist and are proven. False, and nothing changed, where a manifest is recorded
   * already, or where the day was brought back and `why` is not `named`: such a day is packed again only by name.
   */
  record(day: Day, manifest: ColdManifest, why: 'due' | 'named'): Promise<boolean>;
  /** Records why a day is not packed, and makes it not due for `hours`. Does nothing where a manifest is recorded. */
  markBroken(day: BrokenDay, hours: number): Promise<void>;
  /**
   * Records that a packed day was read from its objects unchanged (null), or what differed. A day with a difference is
   * in none of the lists below for an hour. No difference is recorded for a day that was brought back, because nothing
   * depends on its objects.
   */
  noteProof(day: Day, problem: string | null): Promise<void>;
  /**
   * Records what a reader found missing or altered in a cold day, if it still has this manifest and no problem. The day
   * is proven next.
   */
  noteUnread(day: Day, manifestHash: Sha256, problem: string): Promise<void>;
  /**
   * Records why a day could not be detached, cleared or removed. It is tried again in an hour. Also for a day that was
   * brought back.
   */
  noteFailure(day: Day, problem: string): Promise<void>;
  /** Number of days that are read from their objects. */
  countCold(): Promise<number>;
  /** Days that could not be packed, and packed ones that were not proven when last read; ascending. */
  listBroken(): Promise<BrokenDay[]>;
  /**
   * The checkpoint of a day that can be packed at any age: closed, and not packed or brought back. Null: it cannot be.
   */
  findToPack(day: Day): Promise<CheckpointRecord | null>;
  /**
   * Two lists together, without days whose fields are to be cleared first. Up to `limit` cold days without a problem
   * that were last proven at least `days` ago, the longest ago first. And up to `limit` packed days that failed their
   * proof, wherever they are, once it is time to try again.
   */
  listToProve(days: number, limit: number, nowMs: number): Promise<Day[]>;
  /**
   * The earliest of the times when cold days were last proven, or detached if never since. Null: there is no cold day.
   */
  oldestProofMs(): Promise<number | null>;
  /** Every closed day, ascending. */
  listStates(): Promise<DayState[]>;
  /**
   * Recorded days that are still in the ledger, ascending; without those whose action fields are to be cleared first,
   * and those with idempotency keys or spent Proofs that may be kept still.
   */
  listToDetach(limit: number, nowMs: number): Promise<Day[]>;
  /**
   * Reads about `limit` more Receipts of a recorded day, and stores what the database keeps of them. True: all are
   * read.
   */
  keepVerifiers(day: Day, limit: number): Promise<boolean>;
  /**
   * Detaches the day from the ledger; from then on it is read from its objects. False, and nothing changed, where it is
   * not recorded, `keepVerifiers` has not read all of it, or a job reads it again. Rejects with `lock_timeout` where
   * lists and commits held their locks for too long.
   */
  detach(day: Day): Promise<boolean>;
  /** Where the day's Receipts are. */
  findPlace(day: Day): Promise<DayPlace>;
  /** The sessions whose locks keep a day in the ledger. One text for each: the session, its lock, and for how long. */
  listHolders(day: Day): Promise<string[]>;
  /**
   * Days that were detached at least `graceDays` ago and are still kept, ascending; without those whose
   * fields are to be cleared first.
   */
  listToDrop(graceDays: number, nowMs: number, limit: number): Promise<Day[]>;
  /** Whether this database role may remove kept tables: only the owner of the schema may. */
  mayDrop(): Promise<boolean>;
  /** Removes the kept table of a day. False, and nothing changed, where it is too early. */
  drop(day: Day, graceDays: number, nowMs: number): Promise<boolean>;
  /** Packed days that are seven years old and whose objects may contain action fields, ascending. */
  listToClear(nowMs: number, limit: number): Promise<Day[]>;
  /**
   * Clears the action fields of up to `limit` (2 or more) more Receipts in the table of such a day, in the ledger or
   * kept beside it. True: all are cleared, or it is not such a day.
   */
  clearTable(day: Day, limit: number, nowMs: number): Promise<boolean>;
  /**
   * Records that the objects of a day, as this manifest names them, have no action fields any more. The manifest
   * replaces the recorded one, or is the same. False, and nothing changed, where it is too early, the day's table is
   * not cleared, or another process recorded first.
   */
  recordCleared(day: Day, manifest: ColdManifest, nowMs: number): Promise<boolean>;
  /**
   * Manifests that were replaced at least `graceDays` ago and whose objects are not deleted yet, the oldest
   * first.
   */
  listToPurge(graceDays: number, nowMs: number, limit: number): Promise<HashedManifest[]>;
  /** All known manifests of a day: the current one and the replaced ones. */
  listManifests(day: Day): Promise<NamedManifest[]>;
  /**
   * Records that the objects that only a replaced manifest named are deleted. False, and nothing changed, if too early.
   */
  notePurged(manifestHash: Sha256, graceDays: number, nowMs: number): Promise<boolean>;
  /** The current manifest of a day; null: none is recorded. */
  findManifest(day: Day): Promise<ColdManifest | null>;
  /** Hashes of current manifests, those recorded last. */
  listLatestManifests(limit: number): Promise<HashedManifest[]>;
}
