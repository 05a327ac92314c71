-- runs-from: 0005-roles
-- Each page of hosts that are due sorted all that were, with a look for newcomers at each. After a restore, or a day without a worker, all hosts are
-- due: where they are too many for the time of a read no domain would be verified any more.

-- When the domain of a hosted Principal is checked again: each day, and a verified one an hour after a check that could not be made, or 72 hours after
-- its proof. An hour is as long in each time zone.
create function svc_check_due(p_state text, p_checked_at timestamptz, p_proven_at timestamptz)
returns timestamptz
language sql
immutable
parallel safe
set search_path = public, pg_temp
as $$
  select
    case
      when p_checked_at is null then '-infinity'::timestamptz
      when p_state != 'verified' then p_checked_at + interval '24 hours'
      when p_proven_at is null then '-infinity'::timestamptz
      when p_proven_at < p_checked_at then least(
        p_checked_at + interval '1 hour',
        p_proven_at + interval '72 hours'
      )
      else least(p_checked_at + interval '24 hours', p_proven_at + interval '72 hours')
    end;
$$;

create index principals_check_due on principals (
  svc_check_due(verification_state, last_checked_at, last_proven_at),
  did
)
where kind = 'hosted';

-- By a hash: wherever a walk begins, each org is as likely to be met as any other.
create index principals_check_due_in_turn on principals (
  hashtext(coalesce(org_id, did)),
  svc_check_due(verification_state, last_checked_at, last_proven_at),
  did
)
where kind = 'hosted';

-- Hosts that are due, the longest due first, of orgs and of Principals of none: from this hash on, and around. The fewer orgs there are, the more of each.
create function svc_first_hosts_due(p_from integer, p_limit integer, p_now timestamptz)
returns setof text
language plpgsql
stable
set enable_seqscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set search_path = public, pg_temp
as $$
declare
  v_after bigint := p_from::bigint - 1;
  v_is_around boolean := false;
  v_first record;
  v_hashes integer[] := '{}';
begin
  for i in 1..p_limit loop
    select
      hashtext(coalesce(org_id, did)) as hash,
      svc_check_due(verification_state, last_checked_at, last_proven_at) as due_at
    into v_first
    from principals
    where kind = 'hosted' and hashtext(coalesce(org_id, did)) > v_after
    order by
      hashtext(coalesce(org_id, did)),
      svc_check_due(verification_state, last_checked_at, last_proven_at),
      did
    limit 1;
    if not found and not v_is_around then
      v_is_around := true;
      v_after := -2147483649;
      continue;
    end if;
    exit when v_first is null or v_is_around and v_first.hash >= p_from;
    if v_first.due_at < p_now then
      v_hashes := v_hashes || v_first.hash;
    end if;
    v_after := v_first.hash;
  end loop;
  return query select f.did
    from
      unnest(v_hashes) as h (hash)
      cross join lateral (
        select p.did
        from principals as p
        where
          p.kind = 'hosted'
          and hashtext(coalesce(p.org_id, p.did)) = h.hash
          and svc_check_due(p.verification_state, p.last_checked_at, p.last_proven_at) < p_now
        order by svc_check_due(p.verification_state, p.last_checked_at, p.last_proven_at), p.did
        limit p_limit / greatest(1, cardinality(v_hashes))
      ) as f;
end;
$$;

-- So many that have been due the longest; where they are more, also the first of others: an org with any number of hosts keeps nobody out.
create function svc_hosts_due(p_limit integer, p_from integer)
returns table (did text, org_id text, due_at timestamptz)
language plpgsql
stable
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set search_path = public, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := svc_now();
begin
  return query
    with
      longest as materialized (
        select p.did
        from principals as p
        where
          p.kind = 'hosted' and svc_check_due(p.verification_state, p.last_checked_at, p.last_proven_at) < v_now
        order by svc_check_due(p.verification_state, p.last_checked_at, p.last_proven_at), p.did
        limit p_limit
      ),
      due as (
        select l.did from longest as l
        union
        select f.did
        from
          (select count(*) as count from longest) as l
          cross join lateral svc_first_hosts_due(p_from, p_limit, v_now) as f (did)
        where l.count = p_limit
      )
    select d.did, p.org_id, svc_check_due(p.verification_state, p.last_checked_at, p.last_proven_at)
    from due as d join principals as p on p.did = d.did;
end;
$$;
