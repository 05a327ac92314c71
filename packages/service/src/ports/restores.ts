/** Restores of the database to an earlier state, and what `svc-admin restore` needs for one (protocol §10). */
import type { DidWeb, GrantId, OrgId } from '@svc/protocol';
import type { CheckpointRecord, Day } from './checkpoints.ts';
import type { FenceHead, FenceRecordKind } from './fence.ts';

export interface RestoreRecord {
  readonly epoch: number;
  /** What was promised between these two may be missing. */
  readonly lostFromMs: number;
  readonly lostUntilMs: number;
  /** No decision is stored that is dated before. */
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
  /** The last moment of which the database knows by itself. */
  knownUntilMs(): Promise<number>;
  /** Whether this head is a beat of the lineage. */
  isKnownHead(head: Pick<FenceHead, 'seq' | 'nonce'>): Promise<boolean>;
  /** How many restores there were, the numbers of the earliest and the latest beat (0 for none), and the age of the latest (null for none). */
  findLast(): Promise<{
    readonly epoch: number;
    readonly firstSeq: number;
    readonly seq: number;
    readonly ageMs: number | null;
  }>;
  insert(restore: Omit<RestoreRecord, 'restoredAtMs'>): Promise<void>;
  /**
   * Makes the head the latest beat of the lineage, under its number or, where the database has that or a later one, the next that
   * is free, and answers which. Only in a transaction: no beat is made between that and its end.
   */
  adopt(head: FenceHead): Promise<number>;
  /** Refuses every decision that is dated earlier, from now on. */
  sealUntil(ms: number): Promise<void>;
  /** Processes hold decisions until then. */
  quarantineUntil(ms: number): Promise<void>;
  /** The database has no fence any more. Answers how many beats it had. */
  forgetLineage(): Promise<number>;
  /** No further entry is taken from any list there is. */
  closeLists(): Promise<void>;
  highestListNumber(): Promise<number>;
  /** Grants of a list that are not revoked here. */
  listUnrevoked(url: string): Promise<readonly UnrevokedGrant[]>;
  /** Grants that were revoked under this request id since then. */
  countRevoked(requestId: string, sinceMs: number): Promise<number>;
  /** What this list says from now on counts as later than what was kept under that version. */
  raiseListVersion(url: string, version: number): Promise<void>;
  /** The versions, by name, under which what waits to be copied beside the fence would be kept. */
  listWaitingVersions(kind: FenceRecordKind): Promise<ReadonlyMap<string, number>>;
  /** Those of these names that nobody has here. */
  listUnknownNames(names: readonly string[]): Promise<readonly string[]>;
  reserveNames(names: readonly string[], epoch: number): Promise<void>;
  /** Whether a Principal has a key of this name. */
  isKnownKey(kid: string): Promise<boolean>;
  /** Gives the Principal a key, active since now, unless one of this name is known. */
  rememberKey(principal: DidWeb, kid: string, publicKeyMultibase: string): Promise<void>;
  /** Revokes an API key whose subject does not matter. False: there is none, or it is revoked. */
  revokeApiKey(keyId: string): Promise<boolean>;
  /** Whether a repair of the clock has taken the checkpoint of this hash back. */
  isRetracted(checkpointHash: string): Promise<boolean>;
  /** Puts a published checkpoint back, closes its day, and leaves its tiles out. */
  reinstate(checkpoint: Omit<CheckpointRecord, 'createdAtMs'>): Promise<void>;
  /** No hosted Principal is verified, and no document of one in use, until its domain is asked again. */
  forgetDomains(): Promise<void>;
  /** No claim expires before that: which of them were proven in the lost span is not known. */
  extendClaims(untilMs: number): Promise<void>;
}
