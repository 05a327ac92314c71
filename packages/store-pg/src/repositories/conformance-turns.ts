/**
 * The order of waiting conformance runs (0051-runs-in-turn). Each org has one run under way before any has a second;
 * all newcomers together count as one org. Among orgs with equally many, the one served longest ago comes first.
 */
const SERVED_WITHIN = `interval '15 minutes'`;

/** The next run that no other runner is taking, as `run_id`. */
export const nextRunSql = `
  with runs as materialized (
    select run_id, created_at, coalesce(org, account) as org, is_newcomer, lease is null and status = 'running' as waits,
      lease is not null and status = 'running' as is_busy, leased_until as served_at,
      case when is_newcomer then 'newcomers' else 'org ' || coalesce(org, account) end as crowd
    from conformance_runs
    where status = 'running' or finished_at > clock_timestamp() - ${SERVED_WITHIN}
  ), orgs as materialized (
    select org, crowd, count(*) filter (where is_busy) as busy, max(served_at) as served_at from runs group by org, crowd
  ), crowds as materialized (
    select crowd, count(*) filter (where is_busy) as busy, max(served_at) as served_at from runs group by crowd
  ), of_orgs as (
    select r.run_id, r.created_at, r.crowd, o.served_at,
      o.busy + row_number() over (partition by r.org, r.crowd order by r.created_at) as place
    from runs r join orgs o using (org, crowd) where r.waits
  ), of_crowds as (
    select w.run_id, w.created_at, c.served_at,
      c.busy + row_number() over (partition by w.crowd order by w.place, w.served_at nulls first, w.created_at) as place
    from of_orgs w join crowds c using (crowd)
  )
  select r.run_id from of_crowds w join conformance_runs r using (run_id)
  where r.status = 'running' and r.lease is null
  order by w.place, w.served_at nulls first, w.created_at
  limit 1 for update of r skip locked`;
