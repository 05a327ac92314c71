-- Takes deliveries that are due for so long, one of each endpoint before a second of any, with those that are under way. Of an
-- endpoint `p_at_once` are under way at a time, one while it fails; of an audience `p_of_audience`; of what has an order the
-- first alone.
create function svc_take_due(p_limit integer, p_at_once integer, p_of_audience integer, p_for interval)
returns table (
  subscription_id text,
  "position" bigint,
  url text,
  event_id text,
  type text,
  occurred_at timestamptz,
  data text,
  attempts integer
)
language plpgsql
volatile
set search_path = public, pg_temp
as $$
#variable_conflict use_column
begin
  -- Of two at a time both would count what is under way without the other.
  perform pg_advisory_xact_lock(11, 2);
  return query
    with
      endpoints as (
        select
          s.subscription_id,
          s.audience,
          s.not_before,
          s.failing_since,
          busy.count as busy,
          sum(busy.count) over (partition by s.audience) as busy_of_audience
        from
          event_subscriptions as s
          cross join lateral (
            select count(*)::integer as count
            from event_deliveries as b
            where
              b.subscription_id = s.subscription_id
              and b.state = 'waiting'
              and b.taken_until > clock_timestamp()
          ) as busy
        where s.disabled_at is null
      ),
      candidates as (
        select
          d.subscription_id,
          d.position,
          s.busy + d.place as place,
          s.busy_of_audience
          + row_number() over (partition by s.audience order by s.busy + d.place, d.position) as place_of_audience
        from
          endpoints as s
          cross join lateral (
            select w.subscription_id, w.position, row_number() over (order by w.position) as place
            from event_deliveries as w
            where
              w.subscription_id = s.subscription_id
              and w.state = 'waiting'
              and w.next_attempt_at <= clock_timestamp()
              and (w.taken_until is null or w.taken_until <= clock_timestamp())
              and not exists (
                select from event_deliveries as e
                where
                  e.subscription_id = w.subscription_id
                  and e.order_key = w.order_key
                  and e.state = 'waiting'
                  and e.position < w.position
              )
            order by w.position
            limit greatest(case when s.failing_since is null then p_at_once else 1 end - s.busy, 0)
          ) as d
        where s.not_before <= clock_timestamp()
      ),
      due as (
        select c.subscription_id, c.position
        from candidates as c
        where c.place_of_audience <= p_of_audience
        order by c.place, c.position
        limit p_limit
      ),
      taken as (
        update event_deliveries as t
        set taken_at = clock_timestamp(), taken_until = clock_timestamp() + p_for
        from due
        where t.subscription_id = due.subscription_id and t.position = due.position
        returning t.*
      )
    select t.subscription_id, t.position, s.url, l.event_id, l.type, l.occurred_at, l.data, t.attempts
    from
      taken as t
      join event_subscriptions as s on s.subscription_id = t.subscription_id
      join event_log as l on l.position = t.position
    order by t.position;
end;
$$;

-- As a version from before this migration calls it.
create or replace function svc_take_deliveries(p_limit integer, p_at_once integer, p_for interval)
returns table (
  subscription_id text,
  "position" bigint,
  url text,
  event_id text,
  type text,
  occurred_at timestamptz,
  data text,
  attempts integer
)
language sql
volatile
set search_path = public, pg_temp
as $$
  select * from svc_take_due(p_limit, p_at_once, 32, p_for);
$$;
