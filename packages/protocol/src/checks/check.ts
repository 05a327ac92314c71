/**
 * Defines what a check is. A check can read only the evidence of the checks that it requires: reading anything unproven
 * does not compile, and the outcome "skipped" follows from the requirements.
 */

import type { CryptoPort, DidWeb, Sha256 } from '@svc/codec';
import type { Balances } from '../budgets/balances.ts';
import type { DocumentFact, Facts, Lookup } from '../facts.ts';
import type { Action } from '../model/action.ts';
import type { Capability } from '../model/capability.ts';
import type { ParsedGrant } from '../model/grant.ts';
import type { GrantId } from '../model/ids.ts';
import type { Parsed } from '../model/parsed.ts';
import type { Proof } from '../model/proof.ts';
import type { ReasonCode } from '../model/reason-code.ts';
import type { Profile, ProfileId } from '../profiles/profile.ts';
import type { TrustConfig } from '../trust-config.ts';

/** The Action, and the Capabilities of the Grant for which every narrowing check so far holds. */
export interface Survivors {
  readonly grantId: GrantId;
  readonly action: Action;
  readonly survivors: readonly Capability[];
}

/** The request as presented and parsed; only P1, P8 and P15 decide by it. */
export interface Presented {
  readonly grant: ParsedGrant;
  readonly proof: Parsed<Proof, 'PROOF_MALFORMED'>;
  readonly action: Parsed<Action>;
}

/** The relying party that the decision is for, and how old its Proofs may be. */
export interface RelyingParty {
  readonly did: DidWeb;
  readonly proofWindowSeconds: number;
}

/** Everything that a check may read. `nowMs` is milliseconds since the epoch, the same instant for all checks. */
export interface CheckContext {
  readonly presented: Presented;
  readonly facts: Facts;
  readonly relyingParty: RelyingParty;
  readonly profile: Profile;
  readonly trust: TrustConfig;
  readonly nowMs: number;
  readonly crypto: CryptoPort;
}

/** What a check read, whatever its outcome. Artifacts go into the Receipt's `evidence`. */
export interface Consulted {
  readonly issuerResolution?: { readonly did: DidWeb } & Pick<DocumentFact, 'hash' | 'resolvedAtMs'>;
  readonly status?: {
    readonly credentialUrl: string;
    readonly credentialHash: Sha256;
    readonly validFrom: string | null;
    readonly checkedAtMs: number;
    readonly index: string;
  };
  /** The decision, DENY or ALLOW, is valid only while these balances are current. */
  readonly balances?: Balances;
}

/**
 * The result of a check: passed with evidence, a reason to deny, a look-up that it needs first, or a fact that is not
 * available now.
 */
export type CheckResult<E> = (
  | { readonly kind: 'pass'; readonly evidence: E }
  | { readonly kind: 'deny'; readonly reason: ReasonCode }
  | { readonly kind: 'need'; readonly lookup: Lookup }
  | { readonly kind: 'unavailable' }
) & { readonly consulted?: Consulted };

/** The check passed, and `evidence` is what later checks may rest on. */
export const pass = <E>(evidence: E, consulted?: Consulted): CheckResult<E> =>
  consulted === undefined ? { kind: 'pass', evidence } : { kind: 'pass', evidence, consulted };

/** The check did not pass, for this reason. */
export const deny = (reason: ReasonCode, consulted?: Consulted): CheckResult<never> =>
  consulted === undefined ? { kind: 'deny', reason } : { kind: 'deny', reason, consulted };

/** The check cannot decide before this look-up is made. */
export const need = (lookup: Lookup): CheckResult<never> => ({ kind: 'need', lookup });

/** A fact that the check needs is not available now: SERVICE_UNAVAILABLE, never an ALLOW. */
export const unavailableNow = (consulted?: Consulted): CheckResult<never> =>
  consulted === undefined ? { kind: 'unavailable' } : { kind: 'unavailable', consulted };

/** Passes if `holds`, else denies with `reason`. For checks that prove a relation and pass on no evidence. */
export const demand = (holds: boolean, reason: ReasonCode): CheckResult<null> =>
  holds ? pass(null) : deny(reason);

/** Keeps the Capabilities for which `keep` holds. Passes while at least one is left. */
export const narrow = (
  { grantId, action, survivors: capabilities }: Survivors,
  keep: (capability: Capability) => boolean,
  reason: ReasonCode,
): CheckResult<Survivors> => {
  const survivors = capabilities.filter(keep);
  return survivors.length > 0 ? pass({ grantId, action, survivors }) : deny(reason);
};

/** Where a rule is written down: the interface, docs/protocol.md or an RFC, each with its section. */
export type Citation = `interface §${string}` | `protocol §${number}` | `RFC ${number} §${string}`;

/** A check as declared. `Reads`: what its `run` can read. */
export interface Check<Id extends string, Proves, Reads extends object = object> {
  readonly id: Id;
  /** One sentence that states the condition under which the check is true. */
  readonly title: string;
  readonly cites: readonly Citation[];
  /** Ids of the checks that must be true before this one runs. */
  readonly requires: readonly string[];
  /** The profiles that run this check; null: every profile, published or to come. */
  readonly profiles: readonly ProfileId[] | null;
  /** Every reason that this check can deny with. */
  readonly reasons: readonly ReasonCode[];
  /** Pure: the same context and evidence give the same result. */
  run(evidence: Reads, context: CheckContext): CheckResult<Proves>;
}

/** What these checks prove, by id. */
export type EvidenceOf<Checks extends Check<string, unknown>> = {
  readonly [One in Checks as One['id']]: One extends Check<string, infer Proves> ? Proves : never;
};

/**
 * Declares a check. It can read the evidence of the checks that it requires; reading any other does not compile. Marked
 * pure, so that bundlers drop unused checks.
 *
 * `profiles`: the profiles that run the check. A profile that was published before the check is not among them. Absent:
 * every profile.
 */
export const defineCheck = <
  const Id extends string,
  Proves,
  const Requires extends readonly Check<string, unknown>[],
>(
  declaration: Omit<Check<Id, Proves>, 'requires' | 'profiles' | 'run'> & {
    readonly requires: Requires;
    readonly profiles?: readonly ProfileId[];
    run(evidence: EvidenceOf<Requires[number]>, context: CheckContext): CheckResult<Proves>;
  },
): Check<Id, Proves, EvidenceOf<Requires[number]>> => ({
  ...declaration,
  requires: declaration.requires.map(({ id }) => id),
  profiles: declaration.profiles ?? null,
});
