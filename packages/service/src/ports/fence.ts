/**
 * Ports of the fence (protocol §10): objects outside the database. They distinguish the database that made the latest
 * commitments from one that was set back, or was replaced and answers again.
 */

/** The content of the fence: the latest beat of the one database that may decide. */
export interface FenceHead {
  /** Number of restores in the lineage. */
  readonly epoch: number;
  readonly seq: number;
  /** 32 random hex characters, new for each beat. */
  readonly nonce: string;
  /** When the beat was made, by the database's clock. */
  readonly atMs: number;
  /**
   * The loss that an operator named to a restore. Kept until the restore ends, so that a repeated one uses the same.
   */
  readonly named?: NamedLoss;
}

export interface NamedLoss {
  readonly lostFromMs: number;
  /** Whether names were copied beside the fence after the moment to which the database was set back. */
  readonly followsNames: boolean;
}

/** One object, and the tag (as an ETag) of this state of it. */
export interface FenceObject {
  readonly text: string;
  readonly tag: string;
}

/**
 * Objects outside the database. Keys are `[a-z0-9-]` segments with `/` between. When `put` has resolved, the object is
 * durable and every later `find` reads it. Methods reject when they cannot ensure that; a `put` that rejects may have
 * taken place.
 */
export interface FenceStore {
  /** Number of concurrent calls; further calls wait. */
  readonly atOnce: number;
  find(key: string): Promise<FenceObject | null>;
  /**
   * Compare and set. `tag` null: the object must not exist yet. False: the object has another state; nothing was
   * changed.
   */
  put(key: string, text: string, tag: string | null): Promise<boolean>;
  /** The keys below a folder, in any order. */
  list(folder: string): Promise<readonly string[]>;
}

/**
 * What the database's lineage says of the head. The database may decide only with the first two.
 *
 * - `known`: the head is a beat of this database, `ageMs` old.
 * - `next`: the beat in the answer is to be published. The head is a beat of this database, or there was never a head.
 * - `behind`: the head is later than all beats of the database.
 * - `diverged`: the head's number is within those of the database's beats, but the head is not one of these beats.
 * - `forgotten`: the head is older than all beats that the database still has.
 * - `gone`: the database had a fence, and there is no head.
 */
export type HeadVerdict = 'known' | 'next' | 'behind' | 'diverged' | 'forgotten' | 'gone';

export interface Beat {
  readonly verdict: HeadVerdict;
  /** Sequence number of the head if `known`, of the new beat if `next`, else null. */
  readonly seq: number | null;
  readonly atMs: number | null;
  readonly ageMs: number | null;
  readonly epoch: number;
  /** Unique name of the server process that answered; after a restart it has another name. */
  readonly server: string;
  /** Remaining milliseconds of the quarantine after a restore, without decisions; 0: there is none. */
  readonly quarantineMs: number;
}

/** Kinds of records that are copied beside the fence's head. */
export type FenceRecordKind = 'status-list' | 'checkpoint' | 'name' | 'revoked';

/** A row of the table `fence_notes`: a record that has changed and is to be copied beside the fence. */
export interface FenceNote {
  readonly kind: FenceRecordKind;
  readonly name: string;
  readonly version: number;
  /** Place in the order of notes: the note that has waited longest has the lowest. */
  readonly seq: number;
  /** By the database's clock. */
  readonly listedAtMs: number;
  /** A JSON object as text; null where the name is the whole record. */
  readonly text: string | null;
}

/** Storage of the lineage, on its own connections, so that other work on the database does not delay it. */
export interface LineageStore {
  /** Compares the head with the lineage, and adds a beat with this nonce to the lineage when it is time. */
  beat(head: Pick<FenceHead, 'seq' | 'nonce'> | null, nextNonce: string): Promise<Beat>;
  /** Stops using sessions with all other servers from now on; their answers are ignored. */
  trust(server: string): void;
  /**
   * Stops using sessions with this server until it is trusted again. Where there are several servers, the next beat
   * asks another.
   */
  doubt(server: string): void;
  /**
   * Calls `ask` when a session was opened with a server that is neither trusted nor doubted; the session waits for the
   * result of the next beat. There is one listener.
   */
  onUnknown(ask: () => void): void;
  /** The age of the oldest waiting note, and the highest `seq`. */
  describeNotes(): Promise<WaitingNotes>;
  /** Notes after `passed`: those of kind `revoked` first, then the others up to `upTo`; each by ascending `seq`. */
  listNotes(passed: PassedNotes, upTo: number, limit: number): Promise<readonly FenceNote[]>;
  /**
   * Deletes the notes that have not changed since they were listed. For the others only the later change still waits.
   */
  forgetNotes(notes: readonly FenceNote[]): Promise<void>;
}

export interface WaitingNotes {
  /** Age of the note that has waited longest; 0 without notes. */
  readonly oldestAgeMs: number;
  /** The highest `seq` so far; 0 without notes. */
  readonly lastSeq: number;
}

/** Progress of a walk over the notes, by `seq`. */
export interface PassedNotes {
  readonly revoked: number;
  readonly others: number;
}
