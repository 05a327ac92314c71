/**
 * Counts by day and key. There can be hundreds of thousands, so all days of one key and one reason arrive as one text;
 * separate rows would cost more than the counting.
 */
import type { ApiKeyId } from '@svc/protocol';
import { DAY_MS, dayOf } from '@svc/protocol';
import type { Day, DayCount, DayKeyCount, DecisionFilter } from '@svc/service';
import { Conditions } from '../conditions.ts';
import type { Database } from '../database.ts';
import type { Statement } from '../statement.ts';
import { COUNTED_BY, type Counted, countsSql, type Sums } from './usage-statements.ts';

/** See `UsageRepository.countByDayAndKey`. */
export async function countByDayAndKey(
  database: Database,
  filter: DecisionFilter,
  counted: Counted,
): Promise<{ days: DayCount[]; keys: DayKeyCount[] }> {
  const rows = await database.read<ListRow>(keyStatement(filter, counted));
  const [days, keys]: [DayCount[], DayKeyCount[]] = [[], []];
  const dayOf = rememberDays();
  for (const { kind, name, list } of rows)
    for (const item of list.split(',')) {
      const [dayNumber = '', ...counts] = item.split(' ');
      const day = dayOf(dayNumber);
      const [verifies = 0, allow = 0] = counts.map(Number);
      if (kind === 'reason') days.push({ day, reason: name, verifies });
      else keys.push({ day, keyId: name as ApiKeyId | null, allow, deny: verifies - allow });
    }
  return { days, keys };
}

interface ListRow {
  readonly kind: 'reason' | 'key';
  readonly name: string | null;
  /** Days with their counts, `day verifies allow,…`; a day is counted from 1970-01-01. */
  readonly list: string;
}

/** Remembers days, since each day occurs once for every key. */
const rememberDays = () => {
  const days = new Map<string, Day>();
  return (dayNumber: string): Day => {
    const known = days.get(dayNumber);
    if (known !== undefined) return known;
    const day = dayOf(Number(dayNumber) * DAY_MS);
    days.set(dayNumber, day);
    return day;
  };
};

function keyStatement(filter: DecisionFilter, counted: Counted): Statement {
  const parameters = new Conditions();
  const sums: Sums = {
    table: filter.principal === undefined ? 'usage_by_key' : 'usage_counts',
    columns: COUNTED_BY.key,
  };
  const list = `string_agg(concat_ws(' ', day - date '1970-01-01', verifies, allow), ',') as list`;
  const text = `
    with counted as materialized (
      select day, key_id, reason, grouping(key_id) = 1 as is_of_reason, sum(verifies) as verifies,
        coalesce(sum(verifies) filter (where reason is null), 0) as allow
      from (${countsSql(sums, filter, counted, parameters)}) as part
      group by grouping sets ((day, reason), (day, key_id))
    )
    select 'reason' as kind, reason as name, ${list} from counted where is_of_reason group by reason
    union all
    select 'key', key_id, ${list} from counted where not is_of_reason group by key_id`;
  return { text, values: parameters.values };
}
