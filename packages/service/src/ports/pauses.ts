/** What is paused (protocol §9). */
import type { DidWeb } from '@svc/protocol';
import type { AuditRecord } from './audit.ts';

export type PauseScope = 'grant' | 'agent' | 'principal' | 'relying_party' | 'org' | 'service';

/** What a pause is of. */
export interface PauseTarget {
  readonly scope: PauseScope;
  /** Whose it is: the Principal of a Grant or an Agent, else the subject itself. */
  readonly owner: string;
  /** A Grant's id, an Agent's did:key, a DID, an org's id, or `service`. */
  readonly subject: string;
}

export interface PauseRecord extends PauseTarget {
  readonly isPaused: boolean;
  /** The actor that paused or resumed last. */
  readonly actor: AuditRecord['actor'];
  readonly reason: string | null;
  readonly changedAtMs: number;
  /** The first instant by which no ALLOW was under way that had not seen the pause; null: not known yet. */
  readonly visibleAtMs: number | null;
  /** Its place in lists: what was paused first has the lowest. */
  readonly seq: number;
}

export interface PauseChange extends PauseTarget, Pick<PauseRecord, 'isPaused' | 'actor' | 'reason'> {}

/** Owners, by what they own. Pauses of the whole service concern everybody. */
export interface PauseOwners {
  readonly principals: readonly string[];
  readonly relyingParties: readonly string[];
  readonly orgs: readonly string[];
}

export interface PauseFilter {
  /** Null: any. */
  readonly owners: PauseOwners | null;
  readonly scope?: PauseScope | undefined;
  /** Those below this one (exclusive). */
  readonly beforeSeq?: number | undefined;
  readonly limit: number;
}

export interface PauseRepository {
  /**
   * The first phase of a pause or of its end: from its commit on no decision is stored that was evaluated before it.
   * False: it was so already, and who paused first stands. Null: there is no such owner. The owner stays locked until
   * the end of the transaction.
   */
  set(change: PauseChange): Promise<boolean | null>;
  find(target: PauseTarget): Promise<PauseRecord | null>;
  /**
   * Notes when no decision was under way any more that had not seen it, and answers the first such instant that was
   * noted. Null: it has changed since `changedAtMs`.
   */
  setVisible(
    pause: Pick<PauseRecord, keyof PauseTarget | 'changedAtMs'>,
    visibleAtMs: number,
  ): Promise<number | null>;
  /** Recorded so long ago, and not known to be visible, whether it paused or resumed; the oldest first, at most `limit` rows. */
  listUnstamped(afterSeconds: number, limit: number): Promise<PauseRecord[]>;
  /** What is paused now; descending `seq`, at most `limit` rows. */
  list(filter: PauseFilter): Promise<PauseRecord[]>;
  /** A relying party, its org or the whole service is paused, as it is read with a caller's key. False: there is no such one. */
  isAskerPaused(relyingParty: DidWeb): Promise<boolean>;
  /** Since when the owner is registered, which tells one holder of a DID from the next; null: there is none. */
  findOwnerSince(target: Pick<PauseTarget, 'scope' | 'owner'>): Promise<number | null>;
}
