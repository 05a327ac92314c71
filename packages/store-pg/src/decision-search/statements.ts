/**
 * Builds the statement that reads one span. Where the day is known it queries that day's partition directly: finding
 * the partition through `receipts` takes ten times as long as planning the rest. Elsewhere the statement has no name
 * and its bounds are parameters, so the planner sees them, and plans and locks only the span's partitions.
 */
import { REASON_CODES, type ReceiptId } from '@svc/protocol';
import { Conditions } from '../conditions.ts';
import { dayNumberOf, firstIdOfDay, partitionOfDay } from '../receipt-ids.ts';
import type { Statement } from '../statement.ts';
import type { Search } from './search.ts';
import { MAX_DAYS, type Part, type Span } from './spans.ts';

/**
 * Answers at most `limit` rows of the columns, which must include `receipt_id`, newest first. Each part is a query of
 * its own. Conditions that name all parts would be planned, and checked, for every partition again.
 */
export function spanStatement(
  search: Search,
  { parts, density }: Span,
  columns: string,
  limit: number,
): Statement {
  const isLed = density === 'few' && (search.principal !== undefined || search.grantId !== undefined);
  const where = conditionsOf(search, isLed);
  if (density !== 'many') addHashes(search, where);
  const found = parts.map(
    (part) =>
      `select ${columns} from ${tableOf(part)} where ${[...boundsOf(part, where), where.text].join(' and ')}`,
  );
  const newest = `order by "receiptId" desc limit ${where.parameter(limit)}`;
  if (density !== 'few' && found.length === 1) return { text: `${found[0]} ${newest}`, values: where.values };
  // Materialized: otherwise the planner would walk down in order, in the hope of meeting matches soon.
  const all = found.map((part) => (density === 'few' ? part : `(${part} ${newest})`)).join(' union all ');
  const text = `with found as materialized (${all}) select * from found ${newest}`;
  return { text, values: where.values };
}

const tableOf = ({ day }: Part): string =>
  day === undefined ? 'receipts' : `${partitionOfDay(day)} as receipts`;

/** Empty for a whole day. */
const boundsOf = ({ day, from, before }: Part, where: Conditions): string[] =>
  day !== undefined && from === firstIdOfDay(day) && before === firstIdOfDay(day + 1)
    ? []
    : [`receipt_id >= ${where.parameter(from)}`, `receipt_id < ${where.parameter(before)}`];

/**
 * The indexes are on hashes, which makes them small and cheap to maintain. The planner uses them only where the
 * statement names the hash too.
 */
function addHashes({ relyingParties, principal, keyId, grantId }: Search, where: Conditions): void {
  if (relyingParties?.length === 1) where.add('hashtext(relying_party) = hashtext(?)', relyingParties[0]);
  where
    .add('hashtext(principal) = hashtext(?)', principal)
    .add('hashtext(grant_id) = hashtext(?)', grantId)
    .add('hashtext(key_id) = hashtext(?)', keyId);
}

/** `isLed`: an index on something other than relying parties leads to the matches. */
function conditionsOf(search: Search, isLed: boolean): Conditions {
  const { relyingParties, principal, keyId, grantId, reason, decision } = search;
  const where = new Conditions()
    .add('principal = ?', principal)
    .add('key_id = ?', keyId)
    .add('grant_id = ?', grantId)
    .add('reason = ?', reason);
  if (principal === null) where.require('principal is null');
  if (relyingParties?.length === 1) where.add('relying_party = ?', relyingParties[0]);
  // As a subquery the list is opaque to the planner, which otherwise estimates each member for each partition.
  else if (isLed) where.add('relying_party = any ((select ?::text[])::text[])', relyingParties);
  else where.add('relying_party = any (?::text[])', relyingParties);
  if (decision === 'ALLOW') where.require('reason is null');
  // Names the reasons, since denials are indexed by reason.
  if (decision === 'DENY') where.require('reason is not null').add('reason = any (?::text[])', REASON_CODES);
  return where;
}

/**
 * Rows of these ids, which must be in descending order. The ids are in a subquery, because the planner would estimate
 * each of them.
 */
export function* byIdsStatements(ids: readonly ReceiptId[], columns: string): Generator<Statement> {
  const days = [...groupByDay(ids)];
  for (let at = 0; at < days.length; at += MAX_DAYS) {
    const where = new Conditions();
    const parts = days.slice(at, at + MAX_DAYS).map(
      ([day, those]) =>
        `select ${columns} from ${partitionOfDay(day)} as receipts
             where receipt_id = any ((select ${where.parameter(those)}::text[])::text[])`,
    );
    yield { text: `${parts.join(' union all ')} order by "receiptId" desc`, values: where.values };
  }
}

const groupByDay = (ids: readonly ReceiptId[]): Map<number, ReceiptId[]> => {
  const days = new Map<number, ReceiptId[]>();
  for (const id of ids) {
    const day = days.get(dayNumberOf(id));
    if (day === undefined) days.set(dayNumberOf(id), [id]);
    else day.push(id);
  }
  return days;
};
