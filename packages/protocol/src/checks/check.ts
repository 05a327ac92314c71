/**
 * What a check is. Each reads only the evidence of the checks that it requires, so reading what is not proven
 * does not compile, and "skipped" follows from the table.
 */

import type { CryptoPort, DidWeb, Sha256 } from '@svc/codec';
import type { Balances } from '../budgets/balances.ts';
import type { Consumption } from '../budgets/consumption.ts';
import type { DocumentFact, Facts, Lookup } from '../facts.ts';
import type { Action } from '../model/action.ts';
import type { Capability } from '../model/capability.ts';
import type { Grant, ParsedGrant } from '../model/grant.ts';
import type { GrantId } from '../model/ids.ts';
import type { Parsed } from '../model/parsed.ts';
import type { Proof } from '../model/proof.ts';
import type { ReasonCode } from '../model/reason-code.ts';
import type { Profile } from '../profiles/profile.ts';
import type { TrustConfig } from '../trust-config.ts';

/** What each check proves, by id. */
export interface Evidence {
  /** Well formed, unauthenticated. */
  P1: { readonly grant: Grant };
  T1: {
    readonly key: { readonly state: 'active' | 'retired' | 'compromised'; readonly sinceMs: number } | null;
    readonly verification: 'verified' | 'unverified';
  };
  T2: null;
  T3: null;
  /** The Grant is still unauthenticated. */
  P2: { readonly grant: Grant; readonly publicKey: Uint8Array };
  /** Authenticated: the Principal signed exactly this. */
  P3: { readonly grant: Grant };
  P4: null;
  P5: null;
  P6: null;
  P7: null;
  /** Well formed, unauthenticated. */
  P8: { readonly proof: Proof };
  /** Authenticated: the Agent signed exactly this. */
  P9: { readonly proof: Proof };
  P10: null;
  P11: null;
  P12: null;
  P13: null;
  /** Well formed; what the relying party says. */
  P15: { readonly action: Action };
  P14: null;
  P16: Survivors;
  P17: Survivors;
  P18: Survivors;
  P19: Survivors & { readonly consumptions: Consumptions };
  P20: Survivors & {
    readonly authority: Capability;
    /** What an ALLOW on this authority consumes; null where nothing of it is used up. */
    readonly consumption: Consumption | null;
  };
  T5: null;
}

/** The Action, and the Capabilities of the Grant that every narrowing check so far holds for. */
export interface Survivors {
  readonly grantId: GrantId;
  readonly action: Action;
  readonly survivors: readonly Capability[];
}

/** What each survivor that has a budget would consume of it. */
export type Consumptions = ReadonlyMap<Capability, Consumption>;

export type CheckId = keyof Evidence;
export type ProtocolCheckId = Extract<CheckId, `P${string}`>;
export type TrustCheckId = Extract<CheckId, `T${string}`>;

/** The request as presented and parsed; only P1, P8 and P15 read it. */
export interface Presented {
  readonly grant: ParsedGrant;
  readonly proof: Parsed<Proof, 'PROOF_MALFORMED'>;
  readonly action: Parsed<Action>;
}

export interface RelyingParty {
  readonly did: DidWeb;
  readonly proofWindowSeconds: number;
}

export interface CheckContext {
  readonly presented: Presented;
  readonly facts: Facts;
  readonly relyingParty: RelyingParty;
  readonly profile: Profile;
  readonly trust: TrustConfig;
  readonly nowMs: number;
  readonly crypto: CryptoPort;
}

/** What a check looked at, whatever came of it. Artifacts go into the Receipt's `evidence`. */
export interface Consulted {
  readonly issuerResolution?: { readonly did: DidWeb } & Pick<DocumentFact, 'hash' | 'resolvedAtMs'>;
  readonly status?: {
    readonly credentialUrl: string;
    readonly credentialHash: Sha256;
    readonly validFrom: string | null;
    readonly checkedAtMs: number;
    readonly index: string;
  };
  /** The decision rests on these being the present ones, a DENY no less than an ALLOW. */
  readonly balances?: Balances;
}

export type CheckResult<E> = (
  | { readonly kind: 'pass'; readonly evidence: E }
  | { readonly kind: 'deny'; readonly reason: ReasonCode }
  | { readonly kind: 'need'; readonly lookup: Lookup }
  | { readonly kind: 'unavailable' }
) & { readonly consulted?: Consulted };

export const pass = <E>(evidence: E, consulted?: Consulted): CheckResult<E> =>
  consulted === undefined ? { kind: 'pass', evidence } : { kind: 'pass', evidence, consulted };

export const deny = (reason: ReasonCode, consulted?: Consulted): CheckResult<never> =>
  consulted === undefined ? { kind: 'deny', reason } : { kind: 'deny', reason, consulted };

export const need = (lookup: Lookup): CheckResult<never> => ({ kind: 'need', lookup });

export const unavailableNow = (consulted?: Consulted): CheckResult<never> =>
  consulted === undefined ? { kind: 'unavailable' } : { kind: 'unavailable', consulted };

/** `holds` ? true : the reason. For checks that prove a relation and hand nothing on. */
export const demand = (holds: boolean, reason: ReasonCode): CheckResult<null> =>
  holds ? pass(null) : deny(reason);

/** Keeps the Capabilities for which `keep` holds; true while one is left. */
export const narrow = (
  { grantId, action, survivors: capabilities }: Survivors,
  keep: (capability: Capability) => boolean,
  reason: ReasonCode,
): CheckResult<Survivors> => {
  const survivors = capabilities.filter(keep);
  return survivors.length > 0 ? pass({ grantId, action, survivors }) : deny(reason);
};

export interface Check<Id extends CheckId, Requires extends CheckId = never> {
  readonly id: Id;
  /** One sentence that reads as the condition for true. */
  readonly title: string;
  readonly requires: readonly Requires[];
  /** Every reason that this check can deny with. */
  readonly reasons: readonly ReasonCode[];
  run(evidence: Pick<Evidence, Requires>, context: CheckContext): CheckResult<Evidence[Id]>;
}

/** Declares a check; its type parameters are read off `id` and `requires`. Marked pure, so that bundlers drop what nobody uses. */
export const defineCheck = <Id extends CheckId, Requires extends CheckId = never>(
  check: Check<Id, Requires>,
): Check<Id, Requires> => check;
