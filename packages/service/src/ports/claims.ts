/** Claims of DIDs by orgs (protocol §13): what is kept beside the Principals and relying parties themselves. */
import type { DidWeb, OrgId } from '@svc/protocol';

export type ClaimKind = 'principal' | 'relying_party';

export interface ContestingClaim {
  readonly did: DidWeb;
  readonly kind: ClaimKind;
  readonly orgId: OrgId;
  readonly token: string;
  readonly expiresAtMs: number;
}

export interface ClaimRepository {
  /**
   * The token of an org that asks for a DID while the claim of another stands: the one it was given first. Null where it
   * has `maxOpen` claims open already, and this is one more.
   */
  contest(claim: ContestingClaim, maxOpen: number): Promise<string | null>;
  /** The token that `contest` gave the org; null where it gave none, or its time is over. */
  findContesting(claim: Pick<ContestingClaim, 'did' | 'kind' | 'orgId'>): Promise<string | null>;
  /** Forgets what contests a DID: all of it, or that of one org. */
  forgetContesting(claim: Pick<ContestingClaim, 'did' | 'kind'> & { readonly orgId?: OrgId }): Promise<void>;
  /** How many claims of the org are open, contesting ones included. */
  countOpen(orgId: OrgId): Promise<number>;
  /** Forgets contesting claims whose time is over; answers how many. */
  forgetExpired(): Promise<number>;
}
