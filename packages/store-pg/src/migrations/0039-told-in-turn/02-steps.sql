-- Writes what the relying party, and its org, want to hear of these revocations and have not been told: rows of the outbox, with the ids of those in the log.
-- `p_grant_id`: of this Grant alone.
create function svc_tell_verifier(p_search verifier_searches, p_relying_party text, p_grant_id text)
returns void
language plpgsql
volatile
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set search_path = public, pg_temp
as $$
begin
  insert into event_outbox (event_id, audience, type, order_key, occurred_at, data)
  select event_id, listener, type, order_key, occurred_at, data
  from
    (
      select l.*, a.audience as listener
      from
        relying_parties as r
        cross join lateral (
          values
            ('rp ' || r.did),
            ('org ' || r.org_id)
        ) as a (audience)
        cross join event_log as l
      where
        r.did = p_relying_party
        and exists (select from event_wants as w where w.type = 'grant.revoked' and w.audience = a.audience)
        and l.audience = 'verifiers ' || p_search.principal
        and l.position <= p_search.up_to
        and (p_grant_id is null or l.order_key = p_grant_id)
        -- As one that has its Principal too, or as that of another relying party. What two steps tell twice is in the log once.
        and not exists (
          select from event_log as own where own.event_id = l.event_id and own.audience = a.audience
        )
        and not exists (
          select
          from event_outbox as o
          where
            o.xid = pg_current_xact_id_if_assigned()
            and o.event_id = l.event_id
            and o.audience = a.audience
        )
      offset 0
    ) as untold
  where svc_has_verified(array[p_relying_party], p_search.principal, order_key);
end;
$$;

-- Tells those of one hash, or one of a cold day. Answers how far that is; null: there are no more. `p_listeners` as svc_revocation_listeners has them.
create function svc_tell_next_verifier(p_search verifier_searches, p_from text, p_listeners integer[])
returns verifier_searches
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_last constant bigint := 2147483647;
  v_next bigint;
  v_listener bigint;
begin
  if p_search.asked_to < v_last then
    v_next := svc_next_relying_party(p_search.principal, p_from, p_search.asked_to);
    v_listener := case
      when p_listeners is null then v_next
      else (select min(hash) from unnest(p_listeners) as hash where hash >= v_next)
    end;
    if v_listener = v_next then
      perform svc_tell_verifier(p_search, did, null) from relying_parties where hashtext(did) = v_next;
    end if;
    p_search.asked_to := case
      when v_listener > v_next then v_listener - 1
      else coalesce(v_listener, v_last)
    end;
    return p_search;
  end if;
  select c.grant_id, c.relying_party
  into p_search.cold_grant_id, p_search.cold_relying_party
  from
    event_log as l
    cross join lateral (
      select v.grant_id, v.relying_party
      from cold_verifications as v
      where
        v.grant_id = l.order_key
        and v.principal = p_search.principal
        and v.relying_party > case
          when l.order_key = p_search.cold_grant_id then p_search.cold_relying_party
          else ''
        end
      order by v.relying_party
      limit 1
    ) as c
  where
    l.audience = 'verifiers ' || p_search.principal
    and l.position <= p_search.up_to
    and l.order_key >= p_search.cold_grant_id
  order by c.grant_id
  limit 1;
  if not found then
    return null;
  end if;
  perform svc_tell_verifier(p_search, p_search.cold_relying_party, p_search.cold_grant_id);
  return p_search;
end;
$$;

-- The search that is under way for the Principal, else one for its first revocations: so many that a step of it stays short. Null: there is none.
create function svc_find_search(p_principal text)
returns verifier_searches
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_search verifier_searches;
begin
  select * into v_search from verifier_searches where principal = p_principal;
  if not found then
    insert into verifier_searches (principal, up_to)
    select p_principal, max(position)
    from
      (
        select position
        from event_log
        where audience = 'verifiers ' || p_principal
        order by position
        limit 16
      ) as first
    having count(*) > 0
    returning *
    into v_search;
  end if;
  return v_search;
end;
$$;

-- Tells relying parties that have verified what the Principal has revoked, one at least, and further ones for so long. False: nothing is left, or somebody
-- else is telling.
create function svc_tell_verifiers(p_principal text, p_for interval)
returns boolean
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_ends timestamptz := clock_timestamp() + p_for;
  v_search verifier_searches;
  v_next verifier_searches;
  v_from text;
  v_listeners integer[];
begin
  if not pg_try_advisory_xact_lock(11, 3) then
    return false;
  end if;
  v_search := svc_find_search(p_principal);
  if v_search.principal is null then
    return false;
  end if;
  select svc_lowest_receipt_id(min(g.allocated_at) - interval '1 minute')
  into v_from
  from
    event_log as l
    join grants as g on g.id = l.order_key
  where l.audience = 'verifiers ' || p_principal and l.position <= v_search.up_to;
  v_listeners := svc_revocation_listeners(200);
  loop
    v_next := svc_tell_next_verifier(v_search, v_from, v_listeners);
    exit when v_next.principal is null;
    v_search := v_next;
    exit when clock_timestamp() >= v_ends;
  end loop;
  if v_next.principal is null then
    delete from verifier_searches where principal = p_principal;
    update event_log
    set audience = 'verifiers told'
    where audience = 'verifiers ' || p_principal and position <= v_search.up_to;
  else
    update verifier_searches
    set
      asked_to = v_search.asked_to,
      cold_grant_id = v_search.cold_grant_id,
      cold_relying_party = v_search.cold_relying_party
    where principal = p_principal;
  end if;
  return true;
end;
$$;

-- The Principal behind that one, in the order of their names and from the first again, with revocations of which not all are told that have verified them.
create function svc_next_to_tell(p_after text)
returns text
language sql
stable
set enable_seqscan = off
set search_path = public, pg_temp
as $$
  select
    substr(
      coalesce(
        (
          select audience
          from event_log
          where
            audience > 'verifiers ' || p_after
            and audience >= 'verifiers did:'
            and audience < 'verifiers did;'
          order by audience
          limit 1
        ),
        (
          select audience
          from event_log
          where audience >= 'verifiers did:' and audience < 'verifiers did;'
          order by audience
          limit 1
        )
      ),
      11
    );
$$;

-- Moves what may be moved into the log, in order, as in 0020-in-steps; answers how many.
create function svc_move_events(p_limit integer)
returns integer
language plpgsql
volatile
set enable_seqscan = off
set enable_sort = off
set search_path = public, pg_temp
as $$
declare
  v_snapshot pg_snapshot;
  v_moved integer;
begin
  if not pg_try_advisory_xact_lock(11, 1) then
    return 0;
  end if;
  v_snapshot := pg_current_snapshot();
  with
    -- Of this server, then of the one that this database is a dump of.
    ready as (
      select seq
      from
        (
          (
            select o.xid, o.seq
            from event_outbox as o
            where o.xid < pg_snapshot_xmin(v_snapshot)
            order by o.xid, o.seq
            limit p_limit
          )
          union all
          (
            select o.xid, o.seq
            from event_outbox as o
            where o.xid >= pg_snapshot_xmax(v_snapshot)
            order by o.xid, o.seq
            limit p_limit
          )
        ) as r
      order by r.xid, r.seq
      limit p_limit
    ),
    taken as (delete from event_outbox where seq in (select seq from ready) returning *),
    logged as (
      insert into event_log (event_id, audience, type, order_key, occurred_at, percent, data)
      select
        event_id,
        case
          when audience = 'verifiers' then 'verifiers ' || (data::json ->> 'principal')
          else audience
        end,
        type,
        order_key,
        occurred_at,
        percent,
        data
      from taken
      order by xid, seq
      on conflict do nothing
    )
  select count(*)
  into v_moved
  from taken;
  return v_moved;
end;
$$;

-- As a worker of the version before asks, which tells nobody otherwise.
create or replace function svc_sequence_events(p_limit integer)
returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_moved integer := svc_move_events(p_limit);
begin
  perform svc_tell_verifiers(svc_next_to_tell(null), interval '100 milliseconds');
  return v_moved;
end;
$$;
