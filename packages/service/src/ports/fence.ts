/**
 * The fence (protocol §10): what is kept outside the database, so that a database that was set back, or was replaced and
 * woke up, is told from the one that made the last promises.
 */

/** What the fence names: the latest beat of the one database that may decide. */
export interface FenceHead {
  /** How many restores the lineage has behind it. */
  readonly epoch: number;
  readonly seq: number;
  /** 32 hex characters, drawn anew for each beat. */
  readonly nonce: string;
  /** When the beat was made, by the database's clock. */
  readonly atMs: number;
  /** What was lost, as a person told a restore, until that is over: a restore that is begun anew goes by the same. */
  readonly named?: NamedLoss;
}

export interface NamedLoss {
  readonly lostFromMs: number;
  /** Whether names were copied beside the fence after the moment that the database was set back to. */
  readonly followsNames: boolean;
}

/** One object, and the tag (as an ETag) of this state of it. */
export interface FenceObject {
  readonly text: string;
  readonly tag: string;
}

/**
 * Objects outside the database, by keys of `[a-z0-9-]` segments with `/` between. What `put` has answered is durable and
 * seen by every later `find`. Methods reject when that cannot be told; a `put` that rejects may have taken place.
 */
export interface FenceStore {
  /** Number of calls that it takes at once; further ones wait for these. */
  readonly atOnce: number;
  find(key: string): Promise<FenceObject | null>;
  /** Compare and set. `tag` null: there must be none yet. False: there is another state, and nothing has changed. */
  put(key: string, text: string, tag: string | null): Promise<boolean>;
  /** The keys below a folder, in any order. */
  list(folder: string): Promise<readonly string[]>;
}

/**
 * `known`: the head is a beat of this database, `ageMs` old. `next`: so it is, and the beat in hand is to be published in
 * its place. The others: this database must not decide, because the head is later than all that it has (`behind`), is
 * another than the one it had (`diverged`), is older than it remembers (`forgotten`), or is missing (`gone`).
 */
export type HeadVerdict = 'known' | 'next' | 'behind' | 'diverged' | 'forgotten' | 'gone';

export interface Beat {
  readonly verdict: HeadVerdict;
  /** Sequence number of the head if `known`, of the new beat if `next`, else null. */
  readonly seq: number | null;
  readonly atMs: number | null;
  readonly ageMs: number | null;
  readonly epoch: number;
  /** The server's process that answered, by a name that no other has, nor the same one after a restart. */
  readonly server: string;
  /** How long a restore forbids decisions yet; 0: not at all. */
  readonly quarantineMs: number;
}

/** What is copied beside the fence, apart from its head. */
export type FenceRecordKind = 'status-list' | 'checkpoint' | 'name' | 'revoked';

/** A row of the table `fence_notes`: a record that has changed and is to be copied beside the fence. */
export interface FenceNote {
  readonly kind: FenceRecordKind;
  readonly name: string;
  readonly version: number;
  /** Its place in the order of notes: the one that waits longest has the lowest. */
  readonly seq: number;
  /** By the database's clock. */
  readonly listedAtMs: number;
  /** A JSON object as text; null where the name says all. */
  readonly text: string | null;
}

/** On connections of its own: whatever else is asked of the database is not in its way. */
export interface LineageStore {
  /** Holds the head against the lineage, and continues that with a beat of this nonce where it is time. */
  beat(head: Pick<FenceHead, 'seq' | 'nonce'> | null, nextNonce: string): Promise<Beat>;
  /** Stops using sessions with other servers from now on; what they answer counts no more. */
  trust(server: string): void;
  /** The same for sessions with this one, until it is trusted again; where there are several, the next beat asks another. */
  doubt(server: string): void;
  /**
   * `ask` is called when a session was opened with a server that is neither; it waits for what the next beat finds. One
   * listener.
   */
  onUnknown(ask: () => void): void;
  /** What waits to be copied. */
  describeNotes(): Promise<WaitingNotes>;
  /** Notes behind `passed`: those of kind `revoked` first, then the others up to `upTo`; each by ascending `seq`. */
  listNotes(passed: PassedNotes, upTo: number, limit: number): Promise<readonly FenceNote[]>;
  /** Those that have not changed since they were listed; of the others only the later change waits from then on. */
  forgetNotes(notes: readonly FenceNote[]): Promise<void>;
}

export interface WaitingNotes {
  /** Age of the note that waits longest; 0 without any. */
  readonly oldestAgeMs: number;
  /** The highest `seq` so far; 0 without any. */
  readonly lastSeq: number;
}

/** How far a walk over the notes has come, by `seq`. */
export interface PassedNotes {
  readonly revoked: number;
  readonly others: number;
}
