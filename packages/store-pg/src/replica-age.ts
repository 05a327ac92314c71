/** Tracks which positions of the primary a replica has reached, and so how old its data may be. */

/**
 * End of the primary's committed log when it was asked, and the newest mark of its present run, or null if that has
 * none yet.
 */
export interface Position {
  readonly lsn: number;
  readonly mark: string | null;
}

/** What a session of the replica answers before it reads a report. */
export interface ReplicaPosition {
  readonly isStandby: boolean;
  /** Null: it has replayed nothing. */
  readonly lsn: number | null;
  readonly marks: readonly string[];
}

/**
 * Whether the replica shows everything that was committed at the position. A log position alone does not rule out
 * another cluster, an abandoned timeline, or a promoted standby. Only a replica that followed this server can show its
 * mark.
 */
export const covers = ({ isStandby, lsn, marks }: ReplicaPosition, position: Position): boolean =>
  isStandby && lsn !== null && lsn >= position.lsn && position.mark !== null && marks.includes(position.mark);

/** Number of positions kept, one for each second. */
const KEPT = 120;

export class ReplicaAge {
  readonly #asked: { readonly atMs: number; readonly position: Position }[] = [];
  #coveredMs = Number.NEGATIVE_INFINITY;

  /** `atMs`: a time before the primary was asked. */
  ask(position: Position, atMs: number): void {
    this.#asked.push({ atMs, position });
    if (this.#asked.length > KEPT) this.#asked.shift();
  }

  meet(found: ReplicaPosition): void {
    const reached = this.#asked.findLast(({ position }) => covers(found, position));
    if (reached !== undefined) this.#coveredMs = Math.max(this.#coveredMs, reached.atMs);
  }

  /** Upper bound of the age of the replica's data; infinite until it was found in step. */
  behindMs(nowMs: number): number {
    return nowMs - this.#coveredMs;
  }
}
