/** Storage of relying parties and their settings. */
import type { DidWeb, OrgId } from '@svc/protocol';
import type { PrincipalKind } from './principals.ts';

export interface RelyingPartyRecord {
  readonly did: DidWeb;
  readonly kind: PrincipalKind;
  readonly slug: string | null;
  readonly name: string;
  readonly proofWindowSeconds: number;
  readonly verifyRateLimitPerMinute: number;
  /** As stored. A later version may have set one that this version does not know. */
  readonly profile: string;
  readonly orgId: OrgId | null;
  /**
   * Time by which an org must prove the domain of a DID that it claims. Until it is proven, the relying party gets no
   * decisions. Null: there is no claim.
   */
  readonly claimExpiresAtMs: number | null;
  /** Token that the domain must publish to prove a claim. Null: there is nothing to prove. */
  readonly verificationToken: string | null;
  readonly createdAtMs: number;
  readonly version: number;
}

export type NewRelyingParty = Omit<
  RelyingPartyRecord,
  'createdAtMs' | 'version' | 'claimExpiresAtMs' | 'verificationToken'
> & {
  /** Default of both: null. */
  readonly claimExpiresAtMs?: number | null;
  readonly verificationToken?: string | null;
};

export type RelyingPartyChange = Partial<
  Pick<RelyingPartyRecord, 'name' | 'proofWindowSeconds' | 'verifyRateLimitPerMinute' | 'profile'>
>;

export interface RelyingPartyRepository {
  insert(relyingParty: NewRelyingParty): Promise<RelyingPartyRecord>;
  find(did: string): Promise<RelyingPartyRecord | null>;
  /** Locks the row until the end of the transaction. */
  findForUpdate(did: string): Promise<RelyingPartyRecord | null>;
  /** Reads the row as it is now, and locks it against changes until the end of the transaction. */
  findForShare(did: string): Promise<RelyingPartyRecord | null>;
  /** Ends a claim as proven: the relying party may get decisions from now on. Increments the version. */
  endClaim(did: DidWeb): Promise<void>;
  /** Deletes a relying party whose DID is claimed, and its keys. Rejects for any other. */
  release(did: DidWeb): Promise<void>;
  /** Transfers it to another org, or to none; this ends a claim. Increments the version. */
  transfer(did: DidWeb, orgId: OrgId | null): Promise<void>;
  /** DIDs of expired claims. */
  listExpiredClaims(limit: number): Promise<DidWeb[]>;
  /** Ascending DIDs. */
  listOfOrg(orgId: OrgId): Promise<RelyingPartyRecord[]>;
  /** Puts a relying party without an org into one. False when there is none, or it is in an org already. */
  setOrg(did: DidWeb, orgId: OrgId): Promise<boolean>;
  /** Changes settings and increments the version. Null when there is no such relying party. */
  update(did: DidWeb, change: RelyingPartyChange): Promise<RelyingPartyRecord | null>;
}
