/** Which positions of the primary a replica has reached, and so how old what it has may be. */

/** The end of what the primary had committed when it was asked, and the newest mark of its present run, if that has one yet. */
export interface Position {
  readonly lsn: number;
  readonly mark: string | null;
}

/** What a session of the replica answers before a report is read in it. */
export interface ReplicaPosition {
  readonly isStandby: boolean;
  /** Null: it has replayed nothing. */
  readonly lsn: number | null;
  readonly marks: readonly string[];
}

/**
 * Whether all that was committed at the position is seen there. A position of the log alone says nothing about another
 * cluster, a timeline that was left, or a standby that was promoted; only who has followed this server can show its
 * mark.
 */
export const covers = ({ isStandby, lsn, marks }: ReplicaPosition, position: Position): boolean =>
  isStandby && lsn !== null && lsn >= position.lsn && position.mark !== null && marks.includes(position.mark);

/** Positions, one a second, that are remembered. */
const KEPT = 120;

export class ReplicaAge {
  readonly #asked: { readonly atMs: number; readonly position: Position }[] = [];
  #coveredMs = Number.NEGATIVE_INFINITY;

  /** `atMs`: before the primary was asked. */
  ask(position: Position, atMs: number): void {
    this.#asked.push({ atMs, position });
    if (this.#asked.length > KEPT) this.#asked.shift();
  }

  meet(found: ReplicaPosition): void {
    const reached = this.#asked.findLast(({ position }) => covers(found, position));
    if (reached !== undefined) this.#coveredMs = Math.max(this.#coveredMs, reached.atMs);
  }

  /** At most so old is what the replica has, as far as is known; infinite until it was met in step. */
  behindMs(nowMs: number): number {
    return nowMs - this.#coveredMs;
  }
}
