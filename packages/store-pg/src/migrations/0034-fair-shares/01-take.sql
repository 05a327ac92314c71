-- runs-from: 0005-roles
-- Eight orgs that anybody can make could hold every place of a worker. Places are now shared between newcomers and the others, and in each of
-- these crowds the last ones are for whoever has few.

-- Whose endpoint it is: of an org and its members, or of a subject outside every org. Newcomers as in repositories/newcomers.ts.
create function svc_tenants_of(p_subscription_ids text[])
returns table (subscription_id text, tenant text, is_newcomer boolean)
language sql
stable
set enable_seqscan = off
set search_path = public, pg_temp
as $$
  select
    o.subscription_id,
    coalesce('org ' || o.org_id, o.audience),
    exists (select from self_serve_tenants as t where t.org_id = o.org_id)
    and not exists (
      select
      from entitlements as e
      where
        e.org_id = o.org_id
        and e.production = 'allowed'
        and e.reason != 'trial'
        and (e.production_until is null or e.production_until > clock_timestamp())
    )
  from
    (
      select
        s.subscription_id,
        s.audience,
        case split_part(s.audience, ' ', 1)
          when 'rp' then (
            select r.org_id from relying_parties as r where r.did = split_part(s.audience, ' ', 2)
          )
          when 'principal' then (
            select p.org_id from principals as p where p.did = split_part(s.audience, ' ', 2)
          )
          else split_part(s.audience, ' ', 2)
        end as org_id
      from event_subscriptions as s
      where s.subscription_id = any (p_subscription_ids)
    ) as o;
$$;

-- Endpoints of which something is under way or may be asked: how much is, how much more may be, and what is due first.
create function svc_endpoints_at_work(p_methods text[], p_at_once integer, p_now timestamptz)
returns table (subscription_id text, busy integer, room integer, due_at timestamptz, "position" bigint)
language plpgsql
stable
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set search_path = public, pg_temp
as $$
#variable_conflict use_column
begin
  return query with
    busy as materialized (
      select d.subscription_id, count(*)::integer as count
      from event_deliveries as d
      where d.state = 'waiting' and d.taken_until > p_now
      group by d.subscription_id
    ),
    firsts as materialized (
      select s.subscription_id, case when s.failing_since is null then p_at_once else 1 end as most, f.*
      from
        event_subscriptions as s
        cross join lateral (
          select d.next_attempt_at as due_at, d.position
          from event_deliveries as d
          where
            d.subscription_id = s.subscription_id
            and d.state = 'waiting'
            and d.is_next
            and d.next_attempt_at <= p_now
            and (d.taken_until is null or d.taken_until <= p_now)
          order by d.next_attempt_at, d.position
          limit 1
        ) as f
      where s.disabled_at is null and s.not_before <= p_now and s.method = any (p_methods)
    )
  select
    coalesce(f.subscription_id, b.subscription_id),
    coalesce(b.count, 0),
    greatest(coalesce(f.most, 0) - coalesce(b.count, 0), 0),
    f.due_at,
    f.position
  from firsts as f full join busy as b on b.subscription_id = f.subscription_id;
end;
$$;

-- Of these the ones whose turn it is, so many of each crowd: what is behind them is not looked at.
create function svc_endpoints_in_turn(
  p_methods text[],
  p_limit integer,
  p_at_once integer,
  p_of_tenant integer,
  p_now timestamptz
)
returns table (
  subscription_id text,
  tenant text,
  is_newcomer boolean,
  busy integer,
  busy_of_tenant integer,
  room integer
)
language sql
stable
set enable_seqscan = off
set search_path = public, pg_temp
as $$
  with
    at_work as materialized (select * from svc_endpoints_at_work(p_methods, p_at_once, p_now)),
    of_tenants as (
      select
        w.*,
        t.tenant,
        t.is_newcomer,
        sum(w.busy) over (partition by t.tenant)::integer as busy_of_tenant,
        row_number() over (
          partition by t.tenant
          order by w.room = 0, w.busy, w.due_at, w.position
        ) as place
      from
        at_work as w
        join svc_tenants_of(array(select subscription_id from at_work)) as t
          on t.subscription_id = w.subscription_id
    ),
    of_crowds as (
      select
        o.*,
        row_number() over (
          partition by o.is_newcomer
          order by o.busy_of_tenant + o.place, o.due_at, o.position
        ) as turn
      from of_tenants as o
      where o.room > 0 and o.busy_of_tenant + o.place <= p_of_tenant
    )
  select c.subscription_id, c.tenant, c.is_newcomer, c.busy, c.busy_of_tenant, c.room
  from of_crowds as c
  where c.turn <= p_limit;
$$;

-- How many a tenant may have under way where so many of so many places are taken: of the first half as many as it may at all, of the third quarter
-- a fourth of that, of the last one.
create function svc_share(p_taken bigint, p_places integer, p_most integer)
returns integer
language sql
immutable
set search_path = public, pg_temp
as $$
  select
    case
      when p_taken * 2 <= p_places + 1 then p_most
      when p_taken * 4 <= p_places * 3::bigint then greatest(p_most / 4, 1)
      else 1
    end;
$$;
