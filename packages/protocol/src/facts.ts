/**
 * The facts that an evaluation needs beyond the request itself. The caller answers each look-up. `unavailable` is one
 * of the answers, so the types enforce that a check fails closed. A slot that is undefined has not been looked up yet.
 */

import type { DidKey, DidWeb, Sha256 } from '@svc/codec';
import type { Balances } from './budgets/balances.ts';
import type { DidDocument } from './model/did-document.ts';
import type { GrantId } from './model/ids.ts';

/** The answer to a look-up. `absent`: there is none. `unavailable`: this cannot be determined now. */
export type Answer<T> =
  | { readonly answer: 'found'; readonly value: T }
  | { readonly answer: 'absent' }
  | { readonly answer: 'unavailable' };

/** The look-up found this. */
export const found = <T>(value: T): Answer<T> => ({ answer: 'found', value });
/** The look-up found that there is none. */
export const absent: Answer<never> = { answer: 'absent' };
/** The look-up could not be made. Where a check needs it, the decision is SERVICE_UNAVAILABLE. */
export const unavailable: Answer<never> = { answer: 'unavailable' };

/**
 * The registered Principal that `issuer` names, and the state of the key that `kid` names, if the service has ever seen
 * that key.
 */
export interface PrincipalFact {
  readonly verification: 'verified' | 'unverified';
  readonly key: { readonly state: 'active' | 'retired' | 'compromised'; readonly sinceMs: number } | null;
}

/** The DID document in force for `issuer`, pinned by the hash of its exact bytes. */
export interface DocumentFact {
  readonly document: DidDocument;
  readonly hash: Sha256;
  readonly resolvedAtMs: number;
}

/** What the service allocated under this Grant id. */
export interface AllocationFact {
  readonly issuer: DidWeb;
  readonly agent: DidKey;
  /** Empty while the Grant is paused (protocol §9): P6 is false, and no list is consulted. */
  readonly statusListCredential: string;
  /** Empty while the Grant is paused, or while it is revoked but not yet in its status list (protocol §9). */
  readonly statusListIndex: string;
  readonly allocatedAtMs: number;
  /** SHA-256 of the Grant of the first ALLOW under this id; null before that. */
  readonly grantHash: Sha256 | null;
}

/** The Grant's bit in its current status list. */
export interface StatusFact {
  readonly revoked: boolean;
  readonly credentialHash: Sha256;
  readonly validFrom: string | null;
  readonly checkedAtMs: number;
}

/** The facts looked up for an evaluation. An absent member has not been looked up yet. */
export interface Facts {
  readonly principal?: Answer<PrincipalFact>;
  readonly document?: Answer<DocumentFact>;
  readonly allocation?: Answer<AllocationFact>;
  readonly status?: Answer<StatusFact>;
  /**
   * What has been consumed of the Grant's budgets. A Grant that was never consumed from has version 0, not `absent`.
   */
  readonly balances?: Answer<Balances>;
  /** Whether the Proof has been spent. */
  readonly spent?: Answer<boolean>;
}

/** One fact to look up, with what identifies it. Its members come from the request and are unauthenticated. */
export type Lookup =
  | { readonly fact: 'principal'; readonly did: DidWeb; readonly kid: string }
  | { readonly fact: 'document'; readonly did: DidWeb }
  | { readonly fact: 'allocation'; readonly grantId: GrantId }
  | { readonly fact: 'status'; readonly credentialUrl: string; readonly index: string }
  | { readonly fact: 'balances'; readonly grantId: GrantId }
  | { readonly fact: 'spent'; readonly grantId: GrantId; readonly jti: string };
