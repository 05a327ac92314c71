/**
 * Deletes what is no longer needed. A step walks over a range of pages of the table (a TID range scan). So it is small
 * whatever the backlog, needs no index that every commit would have to maintain, and meets no row twice in a walk.
 *
 * Neither step waits for a commit. A commit that waits for a step waits for milliseconds.
 */
import { type RetentionStore, StoreError, type Sweep } from '@svc/service';
import type { Database } from './database.ts';
import type { Statement } from './statement.ts';

/** Half a megabyte: some thousands of rows. */
const PAGES = 64;

const inPages = `ctid >= format('(%s,0)', $1::bigint)::tid and ctid < format('(%s,0)', $1::bigint + ${PAGES})::tid`;

/** For how many hours a row is kept after its Proof has expired, or its key was claimed. */
const KEPT_HOURS = 1;

/**
 * Hours after the end of a day in which its last rows are deleted: a Proof expires minutes after it was spent, and the
 * next sweep begins minutes later.
 */
export const FORGOTTEN_HOURS = KEPT_HOURS + 1;

/** Not later than the caller's time: if a clock that is ahead deleted a proof or key early, it could be used again. */
const forgottenBefore = `least(clock_timestamp(), svc_instant($2::bigint)) - interval '${KEPT_HOURS} hours'`;

// No statement updates these rows, and the scan does not see rows that are inserted meanwhile.
const spentProofsSql = `
  with removed as (
    delete from spent_proofs where ${inPages} and expires_at < ${forgottenBefore} returning 1
  )
  select (select count(*) from removed) as removed, pg_relation_size('spent_proofs') as bytes`;

// A commit claims its keys in an order of its own, so waiting for a key here could deadlock.
const idempotencyKeysSql = `
  with removed as (
    delete from idempotency_keys where ctid = any (array(
      select ctid from idempotency_keys where ${inPages} and created_at < ${forgottenBefore}
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
