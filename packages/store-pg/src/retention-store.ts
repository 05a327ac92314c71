/**
 * Letting go of what has served its time. A step walks over some pages of the table (a TID range scan), so it is small
 * whatever the backlog, needs no index that every commit would have to keep, and meets no row twice in a walk.
 *
 * Neither step waits for a commit. One that waits for a step waits for milliseconds.
 */
import { type RetentionStore, StoreError, type Sweep } from '@svc/service';
import type { Database } from './database.ts';
import type { Statement } from './statement.ts';

/** Half a megabyte: some thousands of rows. */
const PAGES = 64;

const inPages = `ctid >= format('(%s,0)', $1::bigint)::tid and ctid < format('(%s,0)', $1::bigint + ${PAGES})::tid`;

/** No later than the caller knows it to be: what a clock that is ahead lets go of early can be used again. */
const now = 'least(clock_timestamp(), svc_instant($2::bigint))';

// Nothing updates these rows, and a row that is inserted in the meantime is not seen.
const spentProofsSql = `
  with removed as (
    delete from spent_proofs where ${inPages} and expires_at < ${now} - interval '1 hour' returning 1
  )
  select (select count(*) from removed) as removed, pg_relation_size('spent_proofs') as bytes`;

// A commit claims its keys in an order of its own: whoever waited for one here could wait in a circle.
const idempotencyKeysSql = `
  with removed as (
    delete from idempotency_keys where ctid = any (array(
      select ctid from idempotency_keys where ${inPages} and created_at < ${now} - interval '1 hour'
      for update skip locked))
    returning 1
  )
  select (select count(*) from removed) as removed, pg_relation_size('idempotency_keys') as bytes`;

const PAGE_BYTES = 8_192;

export function retentionStore(database: Database): RetentionStore {
  const sweep = async (text: string, from: number, nowMs: number): Promise<Sweep> => {
    const { removed, bytes } = await only<{ removed: number; bytes: number }>({
      text,
      values: [from, nowMs],
    });
    const next = from + PAGES;
    return { removed, next: next * PAGE_BYTES < bytes ? next : null };
  };
  const only = async <Row extends Record<string, unknown>>(statement: Statement): Promise<Row> => {
    const [row] = await database.write<Row>(statement);
    if (row === undefined) throw new StoreError('refused', 'no answer from a step of retention');
    return row;
  };
  return {
    async endOf(table) {
      const text = 'select pg_relation_size($1::regclass) as bytes';
      const { bytes } = await only<{ bytes: number }>({ text, values: [table] });
      return Math.ceil(bytes / PAGE_BYTES);
    },
    sweepSpentProofs: (from, nowMs) => sweep(spentProofsSql, from, nowMs),
    sweepIdempotencyKeys: (from, nowMs) => sweep(idempotencyKeysSql, from, nowMs),
    clearOldActions: (limit, nowMs) =>
      only({ text: 'select passed, cleared from svc_clear_old_actions($1, $2)', values: [limit, nowMs] }),
  };
}
