-- As svc_take_due until now, of whatever is sent by these methods. A version before this one asks for webhooks alone: it would send a SET as one.
create function svc_take_to_send(
  p_methods text[],
  p_limit integer,
  p_at_once integer,
  p_of_audience integer,
  p_for interval
)
returns table (
  subscription_id text,
  "position" bigint,
  url text,
  event_id text,
  type text,
  occurred_at timestamptz,
  data text,
  attempts integer,
  method text,
  audience text
)
language plpgsql
volatile
set enable_seqscan = off
set search_path = public, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz;
begin
  -- Of two at a time both would count what is under way without the other.
  perform pg_advisory_xact_lock(11, 2);
  v_now := clock_timestamp();
  return query
    with
      busy as materialized (
        select b.subscription_id, count(*)::integer as count
        from event_deliveries as b
        where b.state = 'waiting' and b.taken_until > v_now
        group by b.subscription_id
      ),
      -- Of each endpoint that may be asked what is due first.
      firsts as materialized (
        select
          s.subscription_id,
          s.audience,
          coalesce(b.count, 0) as busy,
          case when s.failing_since is null then p_at_once else 1 end - coalesce(b.count, 0) as room,
          f.due_at,
          f.position
        from
          event_subscriptions as s
          left join busy as b on b.subscription_id = s.subscription_id
          cross join lateral (
            select d.next_attempt_at as due_at, d.position
            from event_deliveries as d
            where
              d.subscription_id = s.subscription_id
              and d.state = 'waiting'
              and d.is_next
              and d.next_attempt_at <= v_now
              and (d.taken_until is null or d.taken_until <= v_now)
            order by d.next_attempt_at, d.position
            limit 1
          ) as f
        where s.disabled_at is null and s.not_before <= v_now and s.method = any (p_methods)
      ),
      tenants as materialized (
        select
          s.subscription_id,
          coalesce(
            'org '
            || case split_part(s.audience, ' ', 1)
              when 'rp' then (select r.org_id from relying_parties as r where r.did = split_part(s.audience, ' ', 2))
              when 'principal' then (select p.org_id from principals as p where p.did = split_part(s.audience, ' ', 2))
            end,
            s.audience
          ) as tenant
        from event_subscriptions as s
        where
          s.subscription_id in (
            select f.subscription_id from firsts as f where f.room > 0
            union
            select b.subscription_id from busy as b
          )
      ),
      busy_tenants as materialized (
        select t.tenant, sum(b.count) as count
        from busy as b join tenants as t on t.subscription_id = b.subscription_id
        group by t.tenant
      ),
      -- Behind so many that come before it, nothing of an endpoint is taken: those behind are not looked at again.
      chosen as (
        select r.*
        from
          (
            select
              f.*,
              t.tenant,
              coalesce(b.count, 0) as busy_of_tenant,
              row_number() over (partition by t.tenant order by f.busy, f.due_at, f.position) as place_of_tenant
            from
              firsts as f
              join tenants as t on t.subscription_id = f.subscription_id
              left join busy_tenants as b on b.tenant = t.tenant
            where f.room > 0
          ) as r
        where r.busy_of_tenant + r.place_of_tenant <= p_of_audience
        order by r.busy, r.due_at, r.position
        limit p_limit
      ),
      candidates as (
        select
          c.subscription_id,
          d.position,
          d.due_at,
          c.busy + d.place as place,
          c.busy_of_tenant
          + row_number() over (partition by c.tenant order by c.busy + d.place, d.due_at, d.position) as place_of_tenant
        from
          chosen as c
          cross join lateral (
            select
              w.position,
              w.next_attempt_at as due_at,
              row_number() over (order by w.next_attempt_at, w.position) as place
            from event_deliveries as w
            where
              w.subscription_id = c.subscription_id
              and w.state = 'waiting'
              and w.is_next
              and w.next_attempt_at <= v_now
              and (w.taken_until is null or w.taken_until <= v_now)
            order by w.next_attempt_at, w.position
            limit c.room
          ) as d
      ),
      due as (
        select c.subscription_id, c.position
        from candidates as c
        where c.place_of_tenant <= p_of_audience
        order by c.place, c.due_at, c.position
        limit p_limit
      ),
      -- What is being noted at this moment comes with the next look.
      free as materialized (
        select d.subscription_id, d.position
        from due join event_deliveries as d on d.subscription_id = due.subscription_id and d.position = due.position
        where d.state = 'waiting' and (d.taken_until is null or d.taken_until <= v_now)
        for update of d skip locked
      ),
      taken as (
        update event_deliveries as t
        set taken_at = v_now, taken_until = v_now + p_for
        from free
        where t.subscription_id = free.subscription_id and t.position = free.position
        returning t.*
      )
    select t.subscription_id, t.position, s.url, l.event_id, l.type, l.occurred_at, l.data, t.attempts, s.method, s.audience
    from
      taken as t
      join event_subscriptions as s on s.subscription_id = t.subscription_id
      join event_log as l on l.position = t.position
    order by t.position;
end;
$$;

create or replace function svc_take_due(
  p_limit integer,
  p_at_once integer,
  p_of_audience integer,
  p_for interval
)
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
  select subscription_id, position, url, event_id, type, occurred_at, data, attempts
  from svc_take_to_send(array['webhook'], p_limit, p_at_once, p_of_audience, p_for);
$$;
