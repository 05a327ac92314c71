/**
 * Claims of DIDs by orgs that contest an existing claim (protocol §13). The first claim of a DID is stored with its
 * Principal or relying party.
 */
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
   * The token of an org that asks for a DID while another org's claim is open. Repeated calls answer the first token.
   * Null where this would be a new claim and the org has `maxOpen` open claims already.
   */
  contest(claim: ContestingClaim, maxOpen: number): Promise<string | null>;
  /** The token that `contest` gave the org; null where it gave none, or the token has expired. */
  findContesting(claim: Pick<ContestingClaim, 'did' | 'kind' | 'orgId'>): Promise<string | null>;
  /** Deletes the contesting claims of a DID: all, or those of one org. */
  forgetContesting(claim: Pick<ContestingClaim, 'did' | 'kind'> & { readonly orgId?: OrgId }): Promise<void>;
  /** Number of open claims of the org, including contesting claims. */
  countOpen(orgId: OrgId): Promise<number>;
  /** Deletes expired contesting claims; answers how many. */
  forgetExpired(): Promise<number>;
}
