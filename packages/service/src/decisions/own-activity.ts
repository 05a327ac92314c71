/**
 * The activity on a Principal's own Grants (protocol §13): its decisions of a period by Agent, by Grant or by relying
 * party. There are no stored sums by these, which would make each decision dearer: the newest decisions are
 * read as a list reads them, cold days too.
 */
import type { DidKey, DidWeb } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { principalScope } from '../access/decision-scope.ts';
import type { ServiceDeps } from '../deps.ts';
import type { DecisionRecord } from '../ports/decisions.ts';
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

  take({ decision, reason, amount, currency, evaluatedAtMs }: DecisionRecord): void {
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
  const found = await deps.store.report(({ decisions }) => decisions.list(filter, MAX_COUNTED + 1));
  const rows = found.items.slice(0, MAX_COUNTED);
  const groups = groupBy(rows, by);
  const shown = groups.slice(0, MAX_GROUPS);
  if (by === 'grant')
    for (const group of shown) group.agent = await findAgentOf(deps, group.subject, ownerDid);
  return {
    ...{
      ...range,
      by,
      counted: rows.length,
      isComplete: rows.length === found.items.length && found.unreadBefore === null,
    },
    ...{ groupCount: groups.length, groups: shown },
  };
};

/**
 * The Agent that the Grant was allocated to, where it is this Principal's. A decision has the Agent of its Proof, who may be
 * anybody where it was denied, and a Grant may have been signed under the id of somebody else's.
 */
const findAgentOf = async (
  { store }: Pick<ServiceDeps, 'store'>,
  grantId: string | null,
  ownerDid: DidWeb,
): Promise<DidKey | null> => {
  const grant = grantId === null ? null : await store.grants.find(grantId);
  return grant?.principal === ownerDid ? grant.agent : null;
};

/** The largest first, of those as large the latest. */
const groupBy = (rows: readonly DecisionRecord[], by: ActivityQuery['by']): ActivityGroup[] => {
  const groups = new Map<string | null, ActivityGroup>();
  for (const row of rows) {
    const subject = row[SUBJECTS[by]];
    getOrMake(groups, subject, () => new ActivityGroup(subject)).take(row);
  }
  return [...groups.values()].sort((a, b) => b.counts.verifies - a.counts.verifies || b.lastMs - a.lastMs);
};
