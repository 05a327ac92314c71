/** Storage of restores of the database to an earlier state, and what `svc-admin restore` needs (protocol §10). */
import type { DidWeb, GrantId, OrgId } from '@svc/protocol';
import type { CheckpointRecord, Day } from './checkpoints.ts';
import type { FenceHead, FenceRecordKind } from './fence.ts';

export interface RestoreRecord {
  readonly epoch: number;
  /** The lost span: commitments between these two times may be missing. */
  readonly lostFromMs: number;
  readonly lostUntilMs: number;
  /** No decision with an earlier date is stored. */
  readonly quarantinedUntilMs: number;
  readonly reinstatedDays: readonly Day[];
  readonly leastListNumber: number;
  /** The signed statement, a compact JWS. */
  readonly statement: string;
  readonly restoredAtMs: number;
}

/** A Grant with its entry in its list, and the org of its Principal. */
export interface UnrevokedGrant {
  readonly id: GrantId;
  readonly index: number;
  readonly orgId: OrgId | null;
}

export interface RestoreRepository {
  /** Ascending epochs. */
  list(): Promise<readonly RestoreRecord[]>;
  /**
   * The time up to which the database has everything: its latest beat, or the ledger's seal if it never had a fence.
   */
  knownUntilMs(): Promise<number>;
  /** Whether this head is a beat of the database's lineage. */
  isKnownHead(head: Pick<FenceHead, 'seq' | 'nonce'>): Promise<boolean>;
  /**
   * The number of restores, the numbers of the earliest and the latest beat (0: no beat), and the age of the latest
   * (null: no beat).
   */
  findLast(): Promise<{
    readonly epoch: number;
    readonly firstSeq: number;
    readonly seq: number;
    readonly ageMs: number | null;
  }>;
  insert(restore: Omit<RestoreRecord, 'restoredAtMs'>): Promise<void>;
  /**
   * Makes the head the latest beat of the lineage. Its number is used unless the database has that or a later one; then
   * the next free number is. Answers the number. Only in a transaction: until its end no other beat is made.
   */
  adopt(head: FenceHead): Promise<number>;
  /** Makes the database refuse all decisions dated earlier than `ms`. */
  sealUntil(ms: number): Promise<void>;
  /** Makes processes hold decisions until then. */
  quarantineUntil(ms: number): Promise<void>;
  /** Deletes the lineage, so that the database has no fence any more. Answers how many beats it had. */
  forgetLineage(): Promise<number>;
  /** Closes all existing status lists: no further entry is allocated from them. */
  closeLists(): Promise<void>;
  highestListNumber(): Promise<number>;
  /** Grants of a list that are not revoked in this database. */
  listUnrevoked(url: string): Promise<readonly UnrevokedGrant[]>;
  /** Number of Grants that were revoked under this request id since then. */
  countRevoked(requestId: string, sinceMs: number): Promise<number>;
  /**
   * Raises a list's version to at least this one, so that its later states replace copies kept with a lower version.
   */
  raiseListVersion(url: string, version: number): Promise<void>;
  /** For the records that wait to be copied beside the fence: their versions, by name. */
  listWaitingVersions(kind: FenceRecordKind): Promise<ReadonlyMap<string, number>>;
  /** Those of these names that are not in this database. */
  listUnknownNames(names: readonly string[]): Promise<readonly string[]>;
  reserveNames(names: readonly string[], epoch: number): Promise<void>;
  /** Whether any Principal has a key with this kid. */
  isKnownKey(kid: string): Promise<boolean>;
  /** Stores a key of the Principal, active since now, unless a key with this kid is stored. */
  rememberKey(principal: DidWeb, kid: string, publicKeyMultibase: string): Promise<void>;
  /** Revokes an API key of any subject. False: there is no such key, or it is revoked. */
  revokeApiKey(keyId: string): Promise<boolean>;
  /** Whether a repair of the clock has retracted the checkpoint with this hash. */
  isRetracted(checkpointHash: string): Promise<boolean>;
  /** Stores a published checkpoint again, without its tiles, and closes its day. */
  reinstate(checkpoint: Omit<CheckpointRecord, 'createdAtMs'>): Promise<void>;
  /** Marks every hosted Principal unverified, and its document too old to use, until its domain is checked again. */
  forgetDomains(): Promise<void>;
  /** Extends all claims to at least this time, because it is not known which of them were proven in the lost span. */
  extendClaims(untilMs: number): Promise<void>;
}
