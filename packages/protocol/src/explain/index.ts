/**
 * Explains an evaluation: every check that failed, what it compared, and what can be done (interface §Receipt, protocol
 * §7). For people and for dry runs; a decision never depends on it.
 */
import type { CheckContext } from '../checks/check.ts';
import { CHECKS, type CheckId, type Evidence } from '../checks/table.ts';
import type { Decided, EvaluationContext } from '../evaluate.ts';
import type { Facts } from '../facts.ts';
import type { ReasonCode } from '../model/reason-code.ts';
import { PROFILES } from '../profiles/index.ts';
import { TRUST_CONFIG } from '../trust-config.ts';
import {
  type CapabilityFit,
  type Comparison,
  closestCapability,
  type NarrowingCheck,
} from './capability-fit.ts';
import { COMPARISONS, isPaused } from './comparisons.ts';
import { REMEDIES, REMEDY_IF } from './remedies.ts';

export type { CapabilityFit, Comparison, Condition, NarrowingCheck } from './capability-fit.ts';
export { demandOf } from './demand.ts';
export { REMEDIES } from './remedies.ts';

/** A check that failed. */
export interface FailedCheck {
  readonly check: CheckId;
  /** The condition that did not hold, in one sentence. */
  readonly title: string;
  readonly reason: ReasonCode;
  readonly compared: readonly Comparison[];
  /** What to do, in one sentence. */
  readonly remedy: string;
}

/** Everything that can be said about an evaluation beyond its outcomes. */
export interface Explanation {
  /** In the order of the checks. Checks that were skipped because of a failed one are not included. */
  readonly failed: readonly FailedCheck[];
  /** Null unless the Grant is authenticated and the Action well formed. */
  readonly closest: CapabilityFit | null;
}

/** Explains what `evaluate` decided; takes the same input. Pure. */
export const explain = (
  decided: Decided,
  presented: CheckContext['presented'],
  facts: Facts,
  { relyingParty, nowMs, crypto, trust = TRUST_CONFIG }: EvaluationContext,
): Explanation => {
  const { profile } = PROFILES[relyingParty.profile];
  const context = { presented, facts, relyingParty, profile, trust, nowMs, crypto };
  const { P3, P15 } = decided.evidence;
  const closest =
    P3 === undefined || P15 === undefined
      ? null
      : closestCapability(P3.grant.capabilities, P15.action, context);
  const failed = CHECKS.filter(({ id }) => decided.outcomes[id] === false).map((check) => {
    // P1 is the only check with more than one reason, and it comes first, so `decided.reason` is its reason.
    const reason = check.reasons.find((code) => code === decided.reason) ?? check.reasons[0];
    if (reason === undefined) throw new Error(`${check.id} has no reason to deny`);
    const compared = isNarrowing(check.id)
      ? (closest?.conditions.find((one) => one.check === check.id)?.compared ?? [])
      : COMPARISONS[check.id](decided.evidence as Evidence, context);
    const remedy =
      check.id === 'P6' && P3 !== undefined
        ? REMEDY_IF[isPaused(P3.grant, facts) ? 'paused' : 'notPaused']
        : REMEDIES[reason];
    return { check: check.id, title: check.title, reason, compared, remedy };
  });
  return { failed, closest };
};

const NARROWING: readonly CheckId[] = ['P16', 'P17', 'P18', 'P19', 'P20'] satisfies NarrowingCheck[];

const isNarrowing = (id: CheckId): id is NarrowingCheck => NARROWING.includes(id);
