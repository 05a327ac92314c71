/**
 * The activity on a Principal's own Grants (protocol §13): its decisions of a period by Agent, by Grant or by relying
 * party. There are no stored sums by these, which would make each decision dearer: the newest decisions are
 * read as a list reads them, cold days too.
 */
import type { DidKey, DidWeb } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { principalScope } from '../access/decision-scope.ts';
import type { ServiceDeps } from '../deps.ts';
import type { ActRecord, DecisionListFilter } from '../ports/decisions.ts';
import { getOrMake, Tally } from '../usage/counts.ts';
import { parseRange, type Range, type RangeQuery } from '../usage/range.ts';

/** As many as a page of an export has. */
const MAX_COUNTED = 5_000;
const MAX_GROUPS = 200;

export interface ActivityQuery extends RangeQuery {
  readonly ownerDid: DidWeb;
  readonly by: 'agent' | 'grant' | 'rp';
  readonly rp?: DidWeb | undefined;
}

class ActivityGroup extends Tally {
  /** Currency → minor units that were allowed. */
  readonly amounts = new Map<string, number>();
  firstMs = Number.POSITIVE_INFINITY;
  lastMs = 0;

  /** By Grant: whom it names. */
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
  /** False: the period has more than were counted, all of them older. */
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

/** The rows are not held beyond it. */
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
 * By Grant: the Agent that it was allocated to, where it is this Principal's. A decision has the Agent of its Proof, who may be
 * anybody where it was denied, and a Grant may have been signed under the id of somebody else's.
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

/** The largest first, of those as large the latest. */
const groupBy = (rows: readonly ActRecord[], by: ActivityQuery['by']): ActivityGroup[] => {
  const groups = new Map<string | null, ActivityGroup>();
  for (const row of rows) {
    const subject = row[SUBJECTS[by]];
    getOrMake(groups, subject, () => new ActivityGroup(subject)).take(row);
  }
  return [...groups.values()].sort((a, b) => b.counts.verifies - a.counts.verifies || b.lastMs - a.lastMs);
};
