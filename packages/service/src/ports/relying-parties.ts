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
  readonly createdAtMs: number;
  readonly version: number;
}

export type NewRelyingParty = Omit<RelyingPartyRecord, 'createdAtMs' | 'version'>;

export type RelyingPartyChange = Partial<
  Pick<RelyingPartyRecord, 'name' | 'proofWindowSeconds' | 'verifyRateLimitPerMinute' | 'profile'>
>;

export interface RelyingPartyRepository {
  insert(relyingParty: NewRelyingParty): Promise<RelyingPartyRecord>;
  find(did: string): Promise<RelyingPartyRecord | null>;
  /** Ascending DIDs. */
  listOfOrg(orgId: OrgId): Promise<RelyingPartyRecord[]>;
  /** Puts a relying party without an org into one. False when it is absent or in an org already. */
  setOrg(did: DidWeb, orgId: OrgId): Promise<boolean>;
  /** Bumps the version. Null when absent. */
  update(did: DidWeb, change: RelyingPartyChange): Promise<RelyingPartyRecord | null>;
}
