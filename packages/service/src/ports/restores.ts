/** Restores of the database to an earlier state, and what `svc-admin restore` needs for one (protocol §10). */
import type { DidWeb, GrantId } from '@svc/protocol';
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

/** A Grant of which a restore may have lost what it was allowed with or had drawn. */
export interface WithheldGrant {
  readonly id: GrantId;
  readonly principal: string;
  /** No ALLOW of it is known. */
  readonly isUnbound: boolean;
  /** Keys of those that are known to have been drawn on. Others may have been first drawn on in the lost span. */
  readonly budgets: readonly string[];
}

export interface RestoreRepository {
  /** Ascending epochs. */
  list(): Promise<readonly RestoreRecord[]>;
  /** The last moment of which the database knows by itself. */
  knownUntilMs(): Promise<number>;
  /** Whether this head is a beat of the lineage. */
  isKnownHead(head: Pick<FenceHead, 'seq' | 'nonce'>): Promise<boolean>;
  /** How many restores there were, and the numbers of the earliest and the latest beat; 0 for none. */
  findLast(): Promise<{ readonly epoch: number; readonly firstSeq: number; readonly seq: number }>;
  insert(restore: Omit<RestoreRecord, 'restoredAtMs'>): Promise<void>;
  /** Makes the head a beat of the lineage, in the place of what the database has there and after. */
  adopt(head: FenceHead): Promise<void>;
  /** Refuses every decision that is dated earlier, from now on. */
  sealUntil(ms: number): Promise<void>;
  /** Processes hold decisions until then. */
  quarantineUntil(ms: number): Promise<void>;
  /** The database has no fence any more. Answers how many beats it had. */
  forgetLineage(): Promise<number>;
  /** No further entry is taken from any list there is. */
  closeLists(): Promise<void>;
  highestListNumber(): Promise<number>;
  /** Grants of a list that are not revoked here, with their entries. */
  listUnrevoked(url: string): Promise<readonly { readonly id: GrantId; readonly index: number }[]>;
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
  /**
   * Looks at `limit` Grants behind `afterId` ('' for the first). Nothing is allowed by those in force that would bind
   * their id or draw on a budget, until they are released. The restore of this number need not be stored yet.
   */
  withholdGrants(epoch: number, afterId: string, limit: number): Promise<GrantPage>;
  /** The same of every Grant that is not withheld by this restore: quick where that are few. */
  withholdRest(epoch: number): Promise<void>;
  /** Ascending ids, those behind `afterId` ('' for all). */
  listWithheld(afterId: string, limit: number): Promise<readonly WithheldGrant[]>;
  /** Looks at `limit` of these Grants behind `afterId`, and answers the ids of those that were withheld until now. */
  releaseGrants(
    which: ReleasedGrants,
    afterId: string,
    limit: number,
  ): Promise<GrantPage & { readonly released: readonly string[] }>;
}

/** A page of Grants, which are gone through by ascending ids. */
export interface GrantPage {
  /** How many were looked at; fewer than were asked for: there are no more. */
  readonly looked: number;
  /** Id of the last one. */
  readonly lastId: string | null;
}

/** Which Grants: these, those of a Principal, or all. */
export type ReleasedGrants =
  | { readonly grantIds: readonly string[] }
  | { readonly principal: string }
  | { readonly all: true };
