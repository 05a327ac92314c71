/** Numbers of decisions and of their outcomes, by Principal (interface §DecisionStats). */
import type { DidWeb } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { type HeldScope, principalScope, relyingPartyScope } from '../access/decision-scope.ts';
import type { ServiceDeps } from '../deps.ts';
import type { PrincipalFigure } from '../ports/usage.ts';
import { countDecisions } from './count-decisions.ts';
import { type Counts, getOrMake, Tally } from './counts.ts';
import { parseRange, type Range, type RangeQuery } from './range.ts';

export interface DecisionStatsQuery extends RangeQuery {
  readonly rp?: DidWeb | undefined;
  readonly principal?: DidWeb | undefined;
  /**
   * The Principal whose own decisions are counted, in place of a relying party's; including those before its domain was
   * proven.
   */
  readonly ownerDid?: DidWeb | undefined;
}

export interface PrincipalStats extends Counts {
  /** Null: decisions that ended before the Grant was authenticated. */
  readonly principal: DidWeb | null;
  readonly reasons: ReadonlyMap<string, number>;
  /** Outcome type → outcome records in force. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Currency → minor units. */
  readonly losses: ReadonlyMap<string, number>;
  readonly allowWithOutcome: number;
}

export interface DecisionStats extends Range {
  /** Null: all relying parties. */
  readonly relyingParties: readonly DidWeb[] | null;
  readonly totals: Counts & { readonly allowWithOutcome: number };
  /** Ascending DIDs, null last. */
  readonly principals: readonly PrincipalStats[];
}

export const getDecisionStats = async (
  deps: Pick<ServiceDeps, 'store' | 'clock'>,
  caller: Caller,
  query: DecisionStatsQuery,
): Promise<DecisionStats> => {
  const range = parseRange(query, deps.clock.nowMs());
  const { ownerDid } = query;
  const scope =
    ownerDid === undefined
      ? await relyingPartyScope(deps, caller, query)
      : { ...(await principalScope(deps, caller, ownerDid, query.rp)), withUnverified: true };
  const figures = await findFigures(deps, range, scope);
  const principals = addUp(figures);
  return { ...range, relyingParties: scope.relyingParties, totals: totalsOf(principals), principals };
};

const findFigures = async (
  deps: Pick<ServiceDeps, 'store'>,
  { sinceMs, untilMs }: Range,
  { heldSinceMs = 0, ...scope }: HeldScope & { readonly withUnverified?: boolean },
): Promise<PrincipalFigure[]> => {
  const filter = { ...scope, sinceMs: Math.max(sinceMs, heldSinceMs), untilMs };
  return filter.sinceMs >= untilMs ? [] : countDecisions(deps, (usage) => usage.figuresByPrincipal(filter));
};

class PrincipalTally extends Tally {
  readonly outcomes = new Map<string, number>();
  readonly losses = new Map<string, number>();
  allowWithOutcome = 0;

  take({ figure, name, amount }: PrincipalFigure): void {
    if (figure === 'verifies') this.add(name, amount);
    else if (figure === 'allowWithOutcome') this.allowWithOutcome = amount;
    else this[figure].set(name, amount);
  }
}

const addUp = (figures: readonly PrincipalFigure[]): PrincipalStats[] => {
  const tallies = new Map<DidWeb | null, PrincipalTally>();
  for (const figure of figures) getOrMake(tallies, figure.principal, () => new PrincipalTally()).take(figure);
  const principals = [...tallies].map(([principal, tally]) => {
    const { counts, reasons, outcomes, losses, allowWithOutcome } = tally;
    return { principal, ...counts, reasons, outcomes, losses, allowWithOutcome };
  });
  return principals.sort(byPrincipal);
};

const byPrincipal = ({ principal: a }: PrincipalStats, { principal: b }: PrincipalStats): number => {
  if (a === null || b === null) return a === null ? 1 : -1;
  return a < b ? -1 : 1;
};

const totalsOf = (principals: readonly PrincipalStats[]): DecisionStats['totals'] => {
  const sum = (of: (stats: PrincipalStats) => number) =>
    principals.reduce((total, one) => total + of(one), 0);
  return {
    verifies: sum(({ verifies }) => verifies),
    allow: sum(({ allow }) => allow),
    deny: sum(({ deny }) => deny),
    allowWithOutcome: sum(({ allowWithOutcome }) => allowWithOutcome),
  };
};
