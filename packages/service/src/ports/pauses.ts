/** Storage of pauses (protocol §9). */
import type { DidWeb } from '@svc/protocol';
import type { AuditRecord } from './audit.ts';

export type PauseScope = 'grant' | 'agent' | 'principal' | 'relying_party' | 'org' | 'service';

/** The subject that is paused. */
export interface PauseTarget {
  readonly scope: PauseScope;
  /** The Principal of a Grant or an Agent; else the subject itself. */
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
  /**
   * The first instant at which no decision was under way any more that was evaluated before the change. Null: not known
   * yet.
   */
  readonly visibleAtMs: number | null;
  /** Place in lists: the subject that was paused first has the lowest. */
  readonly seq: number;
}

export interface PauseChange extends PauseTarget, Pick<PauseRecord, 'isPaused' | 'actor' | 'reason'> {}

/** Owners of paused subjects, by their kind. Pauses of the whole service concern every owner. */
export interface PauseOwners {
  readonly principals: readonly string[];
  readonly relyingParties: readonly string[];
  readonly orgs: readonly string[];
}

export interface PauseFilter {
  /** Null: any. */
  readonly owners: PauseOwners | null;
  readonly scope?: PauseScope | undefined;
  /** Only pauses with `seq` below this one (exclusive). */
  readonly beforeSeq?: number | undefined;
  readonly limit: number;
}

export interface PauseRepository {
  /**
   * The first phase of a pause or a resumption: after its commit, no decision is stored that was evaluated before it.
   * False: the subject had this state already, and the first actor stays recorded. Null: there is no such owner. The
   * owner is locked until the end of the transaction.
   */
  set(change: PauseChange): Promise<boolean | null>;
  find(target: PauseTarget): Promise<PauseRecord | null>;
  /**
   * The second phase: records the instant at which no decision was under way any more that was evaluated before the
   * change. Answers the first instant that was recorded. Null: the pause has changed since `changedAtMs`.
   */
  setVisible(
    pause: Pick<PauseRecord, keyof PauseTarget | 'changedAtMs'>,
    visibleAtMs: number,
  ): Promise<number | null>;
  /**
   * Pauses and resumptions recorded at least `afterSeconds` ago whose `visibleAtMs` is null; the oldest first, at most
   * `limit` rows.
   */
  listUnstamped(afterSeconds: number, limit: number): Promise<PauseRecord[]>;
  /** Pauses in force, by descending `seq`, at most `limit` rows. */
  list(filter: PauseFilter): Promise<PauseRecord[]>;
  /**
   * Whether a relying party, its org or the whole service is paused, as read with a caller's key. False where there is
   * no such relying party.
   */
  isAskerPaused(relyingParty: DidWeb): Promise<boolean>;
  /** When the owner was registered, which distinguishes successive holders of a DID; null: there is no such owner. */
  findOwnerSince(target: Pick<PauseTarget, 'scope' | 'owner'>): Promise<number | null>;
}
