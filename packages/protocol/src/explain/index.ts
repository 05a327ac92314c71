/**
 * Explains an evaluation: every check that failed, what it compared, and what can be done (interface §Receipt, protocol
 * §7). For people and for dry runs; a decision never depends on it.
 */
import type { CheckContext } from '../checks/check.ts';
import type { Comparison } from '../checks/explained.ts';
import { type CheckId, type Evidence, EXPLAINED } from '../checks/table.ts';
import type { Decided, EvaluationContext } from '../evaluate.ts';
import type { Facts } from '../facts.ts';
import { REMEDIES, type ReasonCode } from '../model/reason-code.ts';
import { TRUST_CONFIG } from '../trust-config.ts';
import { type CapabilityFit, closestCapability } from './capability-fit.ts';

export type * from '../checks/explained.ts';
export { EXPLAINED } from '../checks/table.ts';
export { REMEDIES } from '../model/reason-code.ts';
export type { CapabilityFit, Condition } from './capability-fit.ts';
export { demandOf } from './demand.ts';

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
  const { profile, checks, checkIds } = decided.under;
  const context = { presented, facts, relyingParty, profile, trust, nowMs, crypto };
  const evidence = decided.evidence as Evidence;
  const { P3, P15 } = decided.evidence;
  const closest =
    P3 === undefined || P15 === undefined
      ? null
      : closestCapability(P3.grant.capabilities, P15.action, context, checkIds);
  const failed = checks
    .filter(({ id }) => decided.outcomes[id] === false)
    .map((check) => {
      // P1 is the only check with more than one reason, and it comes first, so `decided.reason` is its reason.
      const reason = check.reasons.find((code) => code === decided.reason) ?? check.reasons[0];
      if (reason === undefined) throw new Error(`${check.id} has no reason to deny`);
      const told = { check: check.id, title: check.title, reason };
      const how = EXPLAINED[check.id];
      if (how.judge !== undefined) {
        const compared = closest?.conditions.find((one) => one.check === check.id)?.compared ?? [];
        return { ...told, compared, remedy: REMEDIES[reason] };
      }
      const compared = how.compare(evidence, context);
      return { ...told, compared, remedy: how.remedy?.(evidence, context) ?? REMEDIES[reason] };
    });
  return { failed, closest };
};
