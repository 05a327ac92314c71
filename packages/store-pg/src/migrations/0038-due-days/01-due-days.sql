-- runs-from: 0005-roles
-- Whether usage and evidence have been through a day was asked of every day that may be packed: with a year of them waiting the statement met its
-- deadline on a busy machine, round after round, and none was packed.

-- Days that may be packed, the oldest first, by the clock or p_node_ms, whichever is earlier. Usage and evidence go through the days in their
-- order, so that where they have not been through one, they have been through none behind it: only those that are answered are asked about.
create or replace function svc_days_to_pack(p_hot_days integer, p_node_ms bigint, p_limit integer)
returns setof date
language sql
stable
set search_path = public, pg_temp
as $$
  select o.day
  from
    (
      select p.day
      from
        checkpoints as p
        join content_checks as k using (day)
        left join cold_days as d using (day)
      where
        p.day + 1 + p_hot_days <= (least(svc_now(), svc_instant(p_node_ms)) at time zone 'UTC')::date
        and k.is_intact
        and k.checked_at > svc_now() - interval '36 hours'
        and (
          d.day is null
          or (d.state = 'broken' and coalesce(d.again_at, d.recorded_at + interval '24 hours') < svc_now())
        )
        and not exists (select from restores as r where p.day = any (r.reinstated_days))
      order by p.day
      limit p_limit
    ) as o
  where svc_is_day_read(o.day)
  order by o.day;
$$;
