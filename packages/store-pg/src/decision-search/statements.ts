/**
 * The statement that reads one span. It asks the partition of a day itself where the day is known: finding it through
 * `receipts` takes ten times as long as planning the rest. Elsewhere its bounds are values and it has no name, so the
 * planner knows them: it plans and locks the partitions of the span alone.
 */
import { REASON_CODES, type ReceiptId } from '@svc/protocol';
import { Conditions } from '../conditions.ts';
import { dayNumberOf, firstIdOfDay, partitionOfDay } from '../receipt-ids.ts';
import type { Statement } from '../statement.ts';
import type { Search } from './search.ts';
import { MAX_DAYS, type Part, type Span } from './spans.ts';

/**
 * Answers at most `limit` rows of the columns, which `receipt_id` is among, the newest first. Each part is a query of
 * its own: conditions that name them all would be planned, and checked, for every partition once more.
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
  // Materialized: the planner would else walk down in order and hope to meet them soon.
  const all = found.map((part) => (density === 'few' ? part : `(${part} ${newest})`)).join(' union all ');
  const text = `with found as materialized (${all}) select * from found ${newest}`;
  return { text, values: where.values };
}

const tableOf = ({ day }: Part): string =>
  day === undefined ? 'receipts' : `${partitionOfDay(day)} as receipts`;

/** None for a whole day. */
const boundsOf = ({ day, from, before }: Part, where: Conditions): string[] =>
  day !== undefined && from === firstIdOfDay(day) && before === firstIdOfDay(day + 1)
    ? []
    : [`receipt_id >= ${where.parameter(from)}`, `receipt_id < ${where.parameter(before)}`];

/** Indexes on hashes are small and cheap to keep, and are used where the hash is named as well. */
function addHashes({ relyingParties, principal, keyId, grantId }: Search, where: Conditions): void {
  if (relyingParties?.length === 1) where.add('hashtext(relying_party) = hashtext(?)', relyingParties[0]);
  where
    .add('hashtext(principal) = hashtext(?)', principal)
    .add('hashtext(grant_id) = hashtext(?)', grantId)
    .add('hashtext(key_id) = hashtext(?)', keyId);
}

/** `isLed`: an index of something else than relying parties leads to what is looked for. */
function conditionsOf(search: Search, isLed: boolean): Conditions {
  const { relyingParties, principal, keyId, grantId, reason, decision } = search;
  const where = new Conditions()
    .add('principal = ?', principal)
    .add('key_id = ?', keyId)
    .add('grant_id = ?', grantId)
    .add('reason = ?', reason);
  if (principal === null) where.require('principal is null');
  if (relyingParties?.length === 1) where.add('relying_party = ?', relyingParties[0]);
  // In a query of its own the list is nothing to the planner, who else weighs each of its members for each partition.
  else if (isLed) where.add('relying_party = any ((select ?::text[])::text[])', relyingParties);
  else where.add('relying_party = any (?::text[])', relyingParties);
  if (decision === 'ALLOW') where.require('reason is null');
  // By name, since denials are indexed by reason.
  if (decision === 'DENY') where.require('reason is not null').add('reason = any (?::text[])', REASON_CODES);
  return where;
}

/** Rows by descending ids, which are given in this order. The planner does not see them: it would weigh each. */
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
