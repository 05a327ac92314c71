/**
 * The statement that reads one span. Its bounds are values and it has no name, so the planner knows them: it plans and
 * locks the partitions of the span alone.
 */
import { REASON_CODES } from '@svc/protocol';
import { Conditions } from '../conditions.ts';
import type { Statement } from '../database.ts';
import type { Search } from './find-ids.ts';
import type { Span } from './spans.ts';

/** Answers `id`, descending, at most `limit`. */
export function spanStatement(search: Search, span: Span, limit: number): Statement {
  const where = conditionsOf(search, span);
  // How many a Grant has on a day is not known, so there the planner weighs its index against the walk.
  if (span.isSparse || search.grantId !== undefined) addHashes(search, where);
  const newest = `order by receipt_id desc limit ${where.parameter(limit)}`;
  const found = `select receipt_id as id from receipts where ${where.text}`;
  // Materialized: the planner would else walk down in order and hope to meet them soon.
  const text = span.isSparse
    ? `with found (receipt_id) as materialized (${found}) select receipt_id as id from found ${newest}`
    : `${found} ${newest}`;
  return { text, values: where.values };
}

/** Indexes on hashes are small and cheap to keep, and are used where the hash is named as well. */
function addHashes({ relyingParties, principal, keyId, grantId }: Search, where: Conditions): void {
  if (relyingParties?.length === 1) where.add('hashtext(relying_party) = hashtext(?)', relyingParties[0]);
  where
    .add('hashtext(principal) = hashtext(?)', principal ?? undefined)
    .add('hashtext(grant_id) = hashtext(?)', grantId)
    .add('hashtext(key_id) = hashtext(?)', keyId);
}

function conditionsOf(search: Search, { ranges }: Span): Conditions {
  const { relyingParties, principal, keyId, grantId, reason, decision } = search;
  const where = new Conditions();
  const within = ranges.map(
    ({ from, before }) =>
      `receipt_id >= ${where.parameter(from)} and receipt_id < ${where.parameter(before)}`,
  );
  where
    .require(within.length === 1 ? within.join() : `(${within.join(' or ')})`)
    .add('principal = ?', principal ?? undefined)
    .add('key_id = ?', keyId)
    .add('grant_id = ?', grantId)
    .add('reason = ?', reason);
  if (principal === null) where.require('principal is null');
  if (relyingParties?.length === 1) where.add('relying_party = ?', relyingParties[0]);
  else where.add('relying_party = any (?::text[])', relyingParties ?? undefined);
  if (decision === 'ALLOW') where.require('reason is null');
  // By name, since denials are indexed by reason.
  if (decision === 'DENY') where.require('reason is not null').add('reason = any (?::text[])', REASON_CODES);
  return where;
}
