/** Relying parties and their settings. */
import type { DidWeb, OrgId, ProfileId } from '@svc/protocol';
import type { PrincipalKind } from './principals.ts';

export interface RelyingPartyRecord {
  readonly did: DidWeb;
  readonly kind: PrincipalKind;
  readonly slug: string | null;
  readonly name: string;
  readonly proofWindowSeconds: number;
  readonly verifyRateLimitPerMinute: number;
  readonly profile: ProfileId;
  readonly orgId: OrgId | null;
  /** Until when an org has to prove the domain of a DID that it claims; it decides nothing before. Null: no claim. */
  readonly claimExpiresAtMs: number | null;
  /** What the domain has to say for a claim. Null: nobody asks it. */
  readonly verificationToken: string | null;
  readonly createdAtMs: number;
  readonly version: number;
}

export type NewRelyingParty = Omit<
  RelyingPartyRecord,
  'createdAtMs' | 'version' | 'claimExpiresAtMs' | 'verificationToken'
> & {
  /** Unless given: null, both. */
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
  /** As it is now; nobody changes it before the end of the transaction. */
  findForShare(did: string): Promise<RelyingPartyRecord | null>;
  /** The claim is proven: it may decide from now on. Bumps the version. */
  endClaim(did: DidWeb): Promise<void>;
  /** Forgets a claimed relying party and its keys. Refused for any other. */
  release(did: DidWeb): Promise<void>;
  /** Gives it to another org, or none; a claim ends with that. Bumps the version. */
  transfer(did: DidWeb, orgId: OrgId | null): Promise<void>;
  /** Claims whose time is over. */
  listExpiredClaims(limit: number): Promise<DidWeb[]>;
  /** Ascending DIDs. */
  listOfOrg(orgId: OrgId): Promise<RelyingPartyRecord[]>;
  /** Puts a relying party without an org into one. False when it is absent or in an org already. */
  setOrg(did: DidWeb, orgId: OrgId): Promise<boolean>;
  /** Bumps the version. Null when absent. */
  update(did: DidWeb, change: RelyingPartyChange): Promise<RelyingPartyRecord | null>;
}
