/** Days that have left the database, or are about to (docs/decisions/0068-how-a-day-goes-cold.md). */
import type { Sha256 } from '@svc/protocol';
import type { CheckpointRecord, Day } from './checkpoints.ts';

/** The signed manifest of a day as a compact JWS, and the SHA-256 of its bytes. */
export interface ColdManifest {
  readonly manifest: string;
  readonly manifestHash: Sha256;
}

/** A manifest of that day, without its text: of a day of a million Receipts that is some hundred thousand characters. */
export interface HashedManifest {
  readonly day: Day;
  readonly manifestHash: Sha256;
}

export interface NamedManifest extends ColdManifest {
  /** The day is read by this one. */
  readonly isCurrent: boolean;
  /** It was replaced, and what it alone had named is deleted. */
  readonly isPurged: boolean;
}

export interface BrokenDay {
  readonly day: Day;
  /** What did not lead to what was published. */
  readonly problem: string;
}

/** Where the Receipts of a closed day are. */
export interface DayState {
  readonly day: Day;
  /** `hot`: nothing is recorded of it. `recorded`: packed, and in the ledger until it has left. */
  readonly state: 'hot' | 'recorded' | 'cold' | 'broken' | 'unpacked';
  readonly problem: string | null;
  readonly provenAtMs: number | null;
  /** What it takes in the database, in the ledger or kept beside it; 0: it is not there. */
  readonly bytes: number;
  /** Since when it is kept beside the ledger; null: it is not. */
  readonly detachedAtMs: number | null;
  /** It is packed, seven years old, and its action fields have not been cleared in its objects yet. */
  readonly isUncleared: boolean;
}

/** In the ledger, kept beside it, or in the objects alone. */
export type DayPlace = 'ledger' | 'kept' | 'objects';

export interface ColdDayRepository {
  /**
   * Days that may be packed, the oldest first: closed `hotDays` ago by no later time than `nowMs`, found intact lately, and read
   * by everything that reads all Receipts one after another.
   */
  listDue(hotDays: number, nowMs: number, limit: number): Promise<CheckpointRecord[]>;
  /**
   * Records that the objects of a day are there and proven. False, and nothing changed, where one is recorded already,
   * or the day was brought back and not `named` by whoever has it packed again.
   */
  record(day: Day, manifest: ColdManifest, why: 'due' | 'named'): Promise<boolean>;
  /** Records why a day is not packed, and that it is not due for so long; unless a manifest of it is recorded. */
  markBroken(day: BrokenDay, hours: number): Promise<void>;
  /**
   * Notes that a packed day was read from its objects as it was packed (null), or what differed: then no list below has
   * it for an hour. Of a day that was brought back nothing rests on these, and no difference is noted.
   */
  noteProof(day: Day, problem: string | null): Promise<void>;
  /** Notes what a reader found missing or altered of a cold day with this manifest and without a problem: it is proven next. */
  noteUnread(day: Day, manifestHash: Sha256, problem: string): Promise<void>;
  /** Notes why a day could not leave, be cleared or be removed, also of one that was brought back: it is tried again in an hour. */
  noteFailure(day: Day, problem: string): Promise<void>;
  /** How many days are read from their objects. */
  countCold(): Promise<number>;
  /** Days that could not be packed, and packed ones that were not proven when last read; ascending. */
  listBroken(): Promise<BrokenDay[]>;
  /** A closed day that is not packed, or was brought back, and that can be packed whatever its age; null: this one is none. */
  findToPack(day: Day): Promise<CheckpointRecord | null>;
  /**
   * Up to `limit` cold days without a problem that were last proven `days` ago or more, the longest ago first; and up to `limit` packed ones that were not proven, wherever they are, once it is time to try them again;
   * of these none whose fields are to be cleared first.
   */
  listToProve(days: number, limit: number, nowMs: number): Promise<Day[]>;
  /** When the cold day was proven, or has left, that was proven the longest ago; null: there is no such day. */
  oldestProofMs(): Promise<number | null>;
  /** Every closed day, ascending. */
  listStates(): Promise<DayState[]>;
  /** Days that are recorded and still in the database, ascending; none whose action fields are to be cleared first. */
  listToDetach(limit: number, nowMs: number): Promise<Day[]>;
  /** Reads about `limit` further Receipts of a recorded day for what stays in the database of them. True: all are read. */
  keepVerifiers(day: Day, limit: number): Promise<boolean>;
  /**
   * Makes the day be read from its objects from then on. False, and nothing changed, where it is not recorded, is not
   * kept, or something reads it again. `lock_timeout` where lists and commits did not let it in for a moment.
   */
  detach(day: Day): Promise<boolean>;
  /** Where its Receipts are. */
  findPlace(day: Day): Promise<DayPlace>;
  /** The sessions that hold locks of the ledger and so keep a day in it, one text each: what it is, which lock, for how long. */
  listHolders(day: Day): Promise<string[]>;
  /**
   * Days that were detached `graceDays` ago by no later time than `nowMs`, and are still kept, ascending; none whose
   * fields are to be cleared first.
   */
  listToDrop(graceDays: number, nowMs: number, limit: number): Promise<Day[]>;
  /** Whether this role removes what was kept; the role of a service that does not own the schema does not. */
  mayDrop(): Promise<boolean>;
  /** Removes what was kept. False, and nothing changed, where it is not time. */
  drop(day: Day, graceDays: number, nowMs: number): Promise<boolean>;
  /** Packed days that are seven years old by no later time than `nowMs`, and whose objects may have action fields; ascending. */
  listToClear(nowMs: number, limit: number): Promise<Day[]>;
  /**
   * Clears up to `limit` (2 or more) further Receipts of such a day in its table, in the ledger or beside it. True: all
   * are, or it is none of these days.
   */
  clearTable(day: Day, limit: number, nowMs: number): Promise<boolean>;
  /**
   * Records that the objects of a day have no action fields any more: those of this manifest, which replaces the one
   * that is recorded, or is that one. False, and nothing changed, where it is not time, its table is not cleared, or
   * another was faster.
   */
  recordCleared(day: Day, manifest: ColdManifest, nowMs: number): Promise<boolean>;
  /**
   * Manifests that were replaced `graceDays` ago by no later time than `nowMs`, and whose objects have not been
   * deleted; the oldest first.
   */
  listToPurge(graceDays: number, nowMs: number, limit: number): Promise<HashedManifest[]>;
  /** All that are known of a day: its manifest, and those that were replaced. */
  listManifests(day: Day): Promise<NamedManifest[]>;
  /** Notes that what a replaced manifest alone had named is deleted. False, and nothing changed, before its time. */
  notePurged(manifestHash: Sha256, graceDays: number, nowMs: number): Promise<boolean>;
  /** Null: none is recorded. */
  findManifest(day: Day): Promise<ColdManifest | null>;
  /** Hashes of manifests by which days are read, of those recorded last. */
  listLatestManifests(limit: number): Promise<HashedManifest[]>;
}
