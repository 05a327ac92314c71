/**
 * The evaluation: runs the checks of a profile over one request and its facts (protocol §7). Pure: one instant, no
 * I/O, the same answer for the same input.
 */

import type { CryptoPort } from '@svc/codec';
import { hasBudget } from './budgets/budget.ts';
import type { Consumption } from './budgets/consumption.ts';
import type { CheckContext, CheckResult, Consulted, Presented, RelyingParty } from './checks/check.ts';
import type { CheckId, Evidence } from './checks/table.ts';
import type { Facts, Lookup } from './facts.ts';
import { parseAction } from './model/action.ts';
import { parseGrant } from './model/grant.ts';
import { parseProof } from './model/proof.ts';
import type { ReasonCode } from './model/reason-code.ts';
import { type CheckOutcome, PROFILES, type ProfileId, type PublishedProfile } from './profiles/index.ts';
import { TRUST_CONFIG, type TrustConfig } from './trust-config.ts';

/** The three parts of a verification as received. */
export interface VerifyRequest {
  readonly grant: string;
  readonly proof: string;
  readonly action: unknown;
}

/** The relying party of an evaluation, its instant and its rules; `trust` is `TRUST_CONFIG` unless given. */
export interface EvaluationContext {
  readonly relyingParty: RelyingParty & { readonly profile: ProfileId };
  /** The one instant of this evaluation, milliseconds since the epoch. */
  readonly nowMs: number;
  readonly crypto: CryptoPort;
  readonly trust?: TrustConfig;
}

/** A decision with everything that it is based on; `buildReceiptBody` makes a Receipt's body from it. */
export interface Decided {
  readonly kind: 'decided';
  readonly decision: 'ALLOW' | 'DENY';
  readonly reason: ReasonCode | null;
  /** The profile under which it was made. */
  readonly under: PublishedProfile;
  /** An outcome of each check that the profile runs, and of no other. */
  readonly outcomes: Readonly<Partial<Record<CheckId, CheckOutcome>>>;
  /** Evidence of the checks that passed. Nothing else has been proven. */
  readonly evidence: Partial<Evidence>;
  readonly consulted: Consulted;
  /** The movement that the commit of this ALLOW makes; null on DENY and where no budget is consumed. */
  readonly consumption: Consumption | null;
}

/** Some fact has not been looked up yet; nothing is decided. */
export interface Undecided {
  readonly kind: 'undecided';
  readonly lookups: readonly Lookup[];
}

/**
 * Parses the request. Every refusal here becomes a DENY, never an error. `grant`: the request's Grant, if it is already
 * parsed.
 */
export const parsePresented = (request: VerifyRequest, grant = parseGrant(request.grant)): Presented => ({
  grant,
  proof: parseProof(request.proof),
  action: parseAction(request.action),
});

/**
 * Every look-up that the evaluation may need, derived from the parsed tokens alone, so that the caller can load all
 * facts at once.
 */
export const planLookups = ({ grant, proof }: Presented): readonly Lookup[] => {
  if (!grant.ok) return [];
  const { issuer, kid, id, status, capabilities } = grant.value;
  const lookups: Lookup[] = [
    { fact: 'principal', did: issuer, kid },
    { fact: 'document', did: issuer },
    { fact: 'allocation', grantId: id },
    { fact: 'status', credentialUrl: status.statusListCredential, index: status.statusListIndex },
  ];
  if (capabilities.some(hasBudget)) lookups.push({ fact: 'balances', grantId: id });
  if (proof.ok) lookups.push({ fact: 'spent', grantId: id, jti: proof.value.jti });
  return lookups;
};

/** Runs the checks of the relying party's profile. */
export const evaluate = (
  presented: Presented,
  facts: Facts,
  context: EvaluationContext,
): Decided | Undecided => evaluateUnder(PROFILES[context.relyingParty.profile], presented, facts, context);

/** Runs the checks of this profile, whichever the relying party has. */
export const evaluateUnder = (
  published: PublishedProfile,
  presented: Presented,
  facts: Facts,
  context: EvaluationContext,
): Decided | Undecided => {
  const run = new Run(published, {
    presented,
    facts,
    relyingParty: context.relyingParty,
    profile: published.profile,
    trust: context.trust ?? TRUST_CONFIG,
    nowMs: context.nowMs,
    crypto: context.crypto,
  });
  for (const check of published.checks)
    if (run.holds(check.requires)) run.record(check.id, check.run(run.evidence, run.context));
  return run.result();
};

class Run {
  readonly outcomes: Partial<Record<CheckId, CheckOutcome>>;
  readonly evidence: Partial<Record<CheckId, unknown>> = {};
  private readonly lookups: Lookup[] = [];
  private consulted: Consulted | null = null;
  private reason: ReasonCode | null = null;

  constructor(
    readonly under: PublishedProfile,
    readonly context: CheckContext,
  ) {
    this.outcomes = { ...under.skipped };
  }

  /** Whether all of these checks have passed. */
  holds(ids: readonly CheckId[]): boolean {
    for (const id of ids) if (this.outcomes[id] !== true) return false;
    return true;
  }

  record(id: CheckId, result: CheckResult<unknown>): void {
    const { consulted } = result;
    if (consulted !== undefined)
      this.consulted = this.consulted === null ? consulted : { ...this.consulted, ...consulted };
    switch (result.kind) {
      case 'pass':
        this.outcomes[id] = true;
        this.evidence[id] = result.evidence;
        return;
      case 'deny':
        this.outcomes[id] = false;
        this.reason ??= result.reason;
        return;
      case 'unavailable':
        this.reason ??= 'SERVICE_UNAVAILABLE';
        return;
      case 'need':
        this.lookups.push(result.lookup);
        return;
    }
  }

  /** ALLOW requires `true` from every check of the profile; an empty list of reasons is not enough. */
  result(): Decided | Undecided {
    if (this.lookups.length > 0) return { kind: 'undecided', lookups: this.lookups };
    const { under, outcomes } = this;
    const evidence = this.evidence as Partial<Evidence>;
    const allowed = this.reason === null && this.holds(under.checkIds);
    return {
      kind: 'decided',
      decision: allowed ? 'ALLOW' : 'DENY',
      reason: allowed ? null : (this.reason ?? 'SERVICE_UNAVAILABLE'),
      under,
      outcomes,
      evidence,
      consulted: this.consulted ?? {},
      consumption: allowed ? (evidence.P20?.consumption ?? null) : null,
    };
  }
}
