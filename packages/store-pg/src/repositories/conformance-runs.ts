/** Conformance runs and their queue (interface §Conformance run). The database's clock times the leases. */
import {
  type ConformanceRunRecord,
  type ConformanceRunRepository,
  StoreError,
  type TakenRun,
  type VectorSetName,
} from '@svc/service';
import type { Database } from '../database.ts';
import { afterLock } from '../locks.ts';
import { nextRunSql } from './conformance-turns.ts';

/** A runner that does not renew its lease for this long is taken for dead; it renews three times as often. */
const LEASE = `interval '15 seconds'`;
const WAITING_AT_MOST = `interval '15 minutes'`;
const KEPT = `interval '30 days'`;
/** As long as the starts of a key are counted. */
const KEPT_AT_LEAST = `interval '1 hour'`;
/**
 * Number of reports kept of all newcomers together. A report has up to 1 MiB, and unlimited sign-ups must not fill the
 * disk.
 */
const KEPT_OF_NEWCOMERS = 1_000;

const columns = `run_id as "runId", account, endpoint, status, created_at as "createdAtMs",
  finished_at as "finishedAtMs", requests, vectors_sha256 as "sha256", conformance_version as "conformanceVersion",
  error, report as "reportText"`;

type Row = Omit<ConformanceRunRecord, 'vectors'> & VectorSetName;

const recordOf = ({ sha256, conformanceVersion, ...run }: Row): ConformanceRunRecord => ({
  ...run,
  vectors: { sha256, conformanceVersion },
});

// Waits for an uncommitted start of the same account, and depends on its outcome.
const insertSql = `
  insert into conformance_runs
    (run_id, account, key_id, endpoint, vectors_sha256, conformance_version, org, is_newcomer)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (account) where status = 'running' do nothing
  returning ${columns}`;

const countStartsSql = `
  select count(*)::integer as starts,
    coalesce(ceil(extract(epoch from min(created_at) + interval '1 hour' - svc_now())), 0)::integer as seconds
  from conformance_runs where key_id = $1 and created_at > svc_now() - interval '1 hour'`;

const takeSql = `
  update conformance_runs
  set lease = $1, leased_until = clock_timestamp() + ${LEASE}, vectors_sha256 = $2, conformance_version = $3
  where run_id = (${nextRunSql})
  returning run_id as "runId", endpoint`;

// An expired lease is not renewed, even if the run was not ended yet.
const isHeld = `run_id = $1 and lease = $2 and status = 'running' and leased_until > clock_timestamp()`;

const prolongSql = `
  update conformance_runs set leased_until = clock_timestamp() + ${LEASE}, requests = $3
  where ${isHeld} returning 1`;

const finishSql = `
  update conformance_runs set status = $3, requests = $4, error = $5, report = $6, finished_at = svc_now()
  where ${isHeld} returning 1`;

/** Not later than the caller's time: a clock that is ahead ends no run and removes none. */
const earlier = (parameter: string) => `least(clock_timestamp(), svc_instant(${parameter}))`;

const endInterruptedSql = `
  update conformance_runs set status = 'error', finished_at = svc_now(),
    error = case when lease is null then 'interrupted: no runner took the run' else 'interrupted: the runner ended' end
  where status = 'running' and
    (leased_until < ${earlier('$1')} or lease is null and created_at < ${earlier('$1')} - ${WAITING_AT_MOST})
  returning 1`;

const removeOldSql = `
  delete from conformance_runs where run_id = any (array(
    select run_id from conformance_runs where finished_at < ${earlier('$2')} - ${KEPT}
    order by finished_at limit $1 for update skip locked))
  returning 1`;

const removeOfNewcomersSql = `
  delete from conformance_runs where run_id = any (array(
    select run_id from conformance_runs
    where is_newcomer and finished_at < ${earlier('$2')} - ${KEPT_AT_LEAST} and finished_at < (
      select finished_at from conformance_runs where is_newcomer and finished_at is not null
      order by finished_at desc offset ${KEPT_OF_NEWCOMERS - 1} limit 1)
    order by finished_at limit $1 for update skip locked))
  returning 1`;

export function conformanceRunRepository(database: Database): ConformanceRunRepository {
  const count = async (text: string, values: readonly unknown[]): Promise<number> =>
    (await database.write({ text, values })).length;
  return {
    async countForUpdate(org) {
      const text = `select count(*)::integer as runs from conformance_runs where org = $1 and status = 'running'`;
      const [row] = await afterLock(database, 'conformanceRuns', org, () =>
        database.write<{ runs: number }>({ text, values: [org] }),
      );
      return row?.runs ?? 0;
    },
    async insert({ runId, account, keyId, endpoint, vectors, tenant: { crowd, org } }) {
      const run = [runId, account, keyId, endpoint, vectors.sha256, vectors.conformanceVersion];
      const values = [...run, org, crowd === 'newcomers'];
      const [row] = await database.write<Row>({ text: insertSql, values });
      return row === undefined ? null : recordOf(row);
    },
    async find(runId) {
      const [row] = await database.read<Row>({
        text: `select ${columns} from conformance_runs where run_id = $1`,
        values: [runId],
      });
      return row === undefined ? null : recordOf(row);
    },
    async countStarts(keyId) {
      const [row] = await database.read<{ starts: number; seconds: number }>({
        text: countStartsSql,
        values: [keyId],
      });
      if (row === undefined) throw new StoreError('refused', 'a count answered no row');
      return { starts: row.starts, firstLeavesInSeconds: row.seconds };
    },
    async take(lease, { sha256, conformanceVersion }) {
      const values = [lease, sha256, conformanceVersion];
      const [row] = await database.write<Omit<TakenRun, 'lease'>>({ text: takeSql, values });
      return row === undefined ? null : { ...row, lease };
    },
    prolong: async ({ runId, lease }, requests) => (await count(prolongSql, [runId, lease, requests])) > 0,
    finish: async ({ runId, lease }, { status, requests, error, reportText }) =>
      (await count(finishSql, [runId, lease, status, requests, error, reportText])) > 0,
    endInterrupted: (nowMs) => count(endInterruptedSql, [nowMs]),
    async removeOld(limit, nowMs) {
      const old = await count(removeOldSql, [limit, nowMs]);
      return old === limit ? old : old + (await count(removeOfNewcomersSql, [limit - old, nowMs]));
    },
  };
}
