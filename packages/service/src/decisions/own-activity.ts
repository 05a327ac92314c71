/**
 * The activity on a Principal's own Grants (protocol §13): its decisions in a period, grouped by Agent, Grant or
 * relying party. No such sums are stored, since they would make each decision more expensive. The newest decisions are
 * read instead, as a list reads them, from cold days too.
 */
import type { DidKey, DidWeb } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { principalScope } from '../access/decision-scope.ts';
import type { ServiceDeps } from '../deps.ts';
import type { ActRecord, DecisionListFilter } from '../ports/decisions.ts';
import { getOrMake, Tally } from '../usage/counts.ts';
import { parseRange, type Range, type RangeQuery } from '../usage/range.ts';

/** Maximum number of decisions counted: as many as a page of an export has. */
const MAX_COUNTED = 5_000;
const MAX_GROUPS = 200;

export interface ActivityQuery extends RangeQuery {
  readonly ownerDid: DidWeb;
  readonly by: 'agent' | 'grant' | 'rp';
  readonly rp?: DidWeb | undefined;
}

class ActivityGroup extends Tally {
  /** Currency → minor units allowed. */
  readonly amounts = new Map<string, number>();
  firstMs = Number.POSITIVE_INFINITY;
  lastMs = 0;

  /** The Agent that the Grant names, when the groups are by Grant. */
  agent: DidKey | null = null;

  constructor(readonly subject: string | null) {
    super();
  }

  take({ decision, reason, amount, currency, evaluatedAtMs }: ActRecord): void {
    this.add(reason, 1);
    this.firstMs = Math.min(this.firstMs, evaluatedAtMs);
    this.lastMs = Math.max(this.lastMs, evaluatedAtMs);
    if (decision !== 'ALLOW' || amount === null || currency === null) return;
    const sum = (this.amounts.get(currency) ?? 0) + amount;
    this.amounts.set(currency, Math.min(sum, Number.MAX_SAFE_INTEGER));
  }
}

export interface Activity extends Range {
  readonly by: ActivityQuery['by'];
  readonly counted: number;
  /** False: the period has more decisions than were counted; all of those are older. */
  readonly isComplete: boolean;
  readonly groupCount: number;
  /** The largest groups. */
  readonly groups: readonly ActivityGroup[];
}

const SUBJECTS = { agent: 'agent', grant: 'grantId', rp: 'relyingParty' } as const;

export const getOwnActivity = async (
  deps: Pick<ServiceDeps, 'store' | 'clock'>,
  caller: Caller,
  { ownerDid, by, rp, ...asked }: ActivityQuery,
): Promise<Activity> => {
  const range = parseRange(asked, deps.clock.nowMs());
  const { heldSinceMs, ...scope } = await principalScope(deps, caller, ownerDid, rp);
  const filter = { ...scope, sinceMs: Math.max(range.sinceMs, heldSinceMs), untilMs: range.untilMs };
  const { groups, ...count } = await countActs(deps, filter, by);
  const shown = groups.slice(0, MAX_GROUPS);
  if (by === 'grant') await nameAgents(deps, ownerDid, shown);
  return { ...range, by, ...count, groupCount: groups.length, groups: shown };
};

/** A function of its own, so that the rows are not held in memory after it. */
const countActs = async (
  { store }: Pick<ServiceDeps, 'store'>,
  filter: DecisionListFilter,
  by: ActivityQuery['by'],
) => {
  const { items, unreadBefore } = await store.report(({ decisions }) =>
    decisions.listActs(filter, MAX_COUNTED + 1),
  );
  const rows = items.slice(0, MAX_COUNTED);
  return {
    counted: rows.length,
    isComplete: rows.length === items.length && unreadBefore === null,
    groups: groupBy(rows, by),
  };
};

/**
 * Sets the Agent of each Grant's group: the Agent that the Grant was allocated to, if it is this Principal's Grant. The
 * Agent of a decision is that of its Proof, which in a denial may be anybody's. The decision may also be about a Grant
 * signed under the id of another Principal's Grant. So the Agent is not taken from decisions.
 */
const nameAgents = async (
  { store }: Pick<ServiceDeps, 'store'>,
  ownerDid: DidWeb,
  groups: readonly ActivityGroup[],
): Promise<void> => {
  const grantIds = groups.flatMap(({ subject }) => subject ?? []);
  const named = await store.grants.listAgents(ownerDid, grantIds);
  const agents = new Map<string, DidKey>(named.map(({ id, agent }) => [id, agent]));
  for (const group of groups) group.agent = agents.get(group.subject ?? '') ?? null;
};

/** The groups, the largest first; among equally large ones, the one with the latest decision first. */
const groupBy = (rows: readonly ActRecord[], by: ActivityQuery['by']): ActivityGroup[] => {
  const groups = new Map<string | null, ActivityGroup>();
  for (const row of rows) {
    const subject = row[SUBJECTS[by]];
    getOrMake(groups, subject, () => new ActivityGroup(subject)).take(row);
  }
  return [...groups.values()].sort((a, b) => b.counts.verifies - a.counts.verifies || b.lastMs - a.lastMs);
};
