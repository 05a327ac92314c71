/**
 * Judges how far each Capability of a Grant allows an Action, and shows what was compared (protocol §7, P16 to P20).
 * The checks narrow the Capabilities and stop when none is left; here every narrowing check judges each Capability.
 */
import type { CheckContext } from '../checks/check.ts';
import type { Judge, Judgement } from '../checks/explained.ts';
import { type CheckId, EXPLAINED } from '../checks/table.ts';
import type { Action } from '../model/action.ts';
import type { Capability } from '../model/capability.ts';

/** What one narrowing check demands of a Capability, and whether it holds. */
export interface Condition extends Judgement {
  readonly check: CheckId;
}

/** One Capability with the conditions of all narrowing checks, in the order of the checks. */
export interface CapabilityFit {
  /** Its place in the Grant, from 0. */
  readonly index: number;
  readonly capability: Capability;
  readonly conditions: readonly Condition[];
}

/**
 * The Capability that came closest: the one whose conditions hold up to the latest check; of several, the one for which
 * most conditions hold, then the one that allows the greatest amount, then the first. `checkIds`: those of the profile.
 */
export const closestCapability = (
  capabilities: readonly Capability[],
  action: Action,
  context: CheckContext,
  checkIds: readonly CheckId[],
): CapabilityFit | null => {
  // Parsing the resource costs far more than matching it, so what concerns the Action alone is computed once.
  const judges = checkIds.flatMap((check) => {
    const { judge } = EXPLAINED[check];
    return judge === undefined ? [] : [{ check, judge: judge(action, context) }];
  });
  const fits = capabilities.map((capability, index) => ({
    index,
    capability,
    conditions: conditionsOf(capability, judges),
  }));
  const [closest] = fits.sort(
    (a, b) =>
      reachOf(b) - reachOf(a) || countOf(b) - countOf(a) || ceilingOf(b) - ceilingOf(a) || a.index - b.index,
  );
  return closest ?? null;
};

const conditionsOf = (
  capability: Capability,
  judges: readonly { readonly check: CheckId; readonly judge: ReturnType<Judge> }[],
): readonly Condition[] =>
  judges.map(({ check, judge }) => {
    const { holds, compared } = judge(capability);
    return { check, holds, compared };
  });

const reachOf = ({ conditions }: CapabilityFit): number => {
  const failed = conditions.findIndex(({ holds }) => !holds);
  return failed === -1 ? conditions.length : failed;
};

const countOf = ({ conditions }: CapabilityFit): number => conditions.filter(({ holds }) => holds).length;

const ceilingOf = ({ capability: { constraints } }: CapabilityFit): number =>
  typeof constraints.maxAmount === 'number' ? constraints.maxAmount : 0;
