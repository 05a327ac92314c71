/**
 * The number of a filter's receipts on each counted day, from the coarsest stored sums that can tell. For a Grant only
 * its days are stored. Its numbers are those of its Principal, which are upper bounds.
 */
import { DAY_MS, dayOf } from '@svc/protocol';
import { Conditions } from '../conditions.ts';
import { dailySumsOf } from '../daily-sums.ts';
import type { Statement } from '../statement.ts';
import type { Search } from './search.ts';

export interface DayCount {
  /** Counted from 1970-01-01. */
  readonly number: number;
  readonly verifies: number;
}

/** Days from `first` to `last`, both included, that have any; newest first. */
export function dayCountsStatement(search: Search, first: number, last: number): Statement {
  const { relyingParties, principal, keyId, grantId, reason, decision } = search;
  const where = new Conditions()
    .add('day >= ?', dateOf(first))
    .add('day <= ?', dateOf(last))
    .add('relying_party = any (?::text[])', relyingParties)
    .add('principal = ?', principal)
    .add('key_id = ?', keyId)
    .add('reason = ?', reason)
    .add('(reason is null) = ?', decision && decision === 'ALLOW');
  if (principal === null) where.require('principal is null');
  if (grantId !== undefined) where.require(`${daysOfGrant(search, where)} @> day`);
  const text = `select day - date '1970-01-01' as number, sum(verifies)::bigint as verifies
    from ${dailySumsOf(search)} where ${where.text} group by day order by day desc`;
  return { text, values: where.values };
}

const daysOfGrant = ({ grantId, principal }: Search, where: Conditions): string =>
  `(select days from usage_by_grant where grant_id = ${where.parameter(grantId)}
    and principal is not distinct from ${where.parameter(principal ?? null)})`;

const dateOf = (dayNumber: number): string => dayOf(dayNumber * DAY_MS);
