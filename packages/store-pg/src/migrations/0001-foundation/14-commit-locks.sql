-- Takes an advisory lock, waiting until the deadline at most. False: not had.
create function svc_take_lock(p_space integer, p_key integer, p_is_exclusive boolean, p_deadline timestamptz)
returns boolean
language plpgsql
volatile
as $$
declare
  v_wait_ms integer;
begin
  if not p_is_exclusive and pg_try_advisory_xact_lock_shared(p_space, p_key) then
    return true;
  end if;
  if p_is_exclusive and pg_try_advisory_xact_lock(p_space, p_key) then
    return true;
  end if;
  v_wait_ms := floor(extract(epoch from p_deadline - clock_timestamp()) * 1000);
  if v_wait_ms < 1 then
    return false;
  end if;
  begin
    perform set_config('lock_timeout', v_wait_ms || 'ms', true);
    if p_is_exclusive then
      perform pg_advisory_xact_lock(p_space, p_key);
    else
      perform pg_advisory_xact_lock_shared(p_space, p_key);
    end if;
    perform set_config('lock_timeout', '400ms', true);
    return true;
  exception when lock_not_available then
    return false;
  end;
end;
$$;

-- Takes the locks of all decisions, each once, in the order in which every session takes them. Marks as LOCKED those whose
-- locks were not all had before the deadline.
create function svc_take_locks(p_decisions svc_decision[], p_deadline timestamptz)
returns text[]
language plpgsql
volatile
as $$
declare
  v_outcomes text[] := array_fill(null::text, array[cardinality(p_decisions)]);
  v_lock record;
  v_ordinal integer;
begin
  for v_lock in select
    wanted.space,
    wanted.key,
    bool_or(wanted.is_exclusive) as is_exclusive,
    array_agg(d.ordinal) as ordinals
  from
    unnest(p_decisions) as d,
    lateral (
      values
        (1, hashtext(d.used_principal), false),
        (2, svc_day_number(d.evaluated_at_ms), false),
        (8, hashtext(d.org_id), d.is_capped)
    ) as wanted (space, key, is_exclusive)
  where wanted.key is not null
  group by wanted.space, wanted.key
  order by wanted.space, wanted.key loop
    if not svc_take_lock(v_lock.space, v_lock.key, v_lock.is_exclusive, p_deadline) then
      foreach v_ordinal in array v_lock.ordinals loop
        v_outcomes[v_ordinal] := 'LOCKED';
      end loop;
    end if;
  end loop;
  return v_outcomes;
end;
$$;

-- Takes the locks of the balances of these Grants, ascending, with nothing else in hand, waiting so long in all. Answers
-- the Grants whose lock was not had. What is read under the locks is read by another statement: this one has a snapshot
-- from before.
create function svc_lock_balances(p_grant_ids text[], p_wait interval)
returns text[]
language plpgsql
volatile
as $$
declare
  v_deadline timestamptz := clock_timestamp() + p_wait;
  v_wanted record;
  v_missed text[] := '{}';
begin
  for v_wanted in select
    hashtext(grant_id) as key,
    array_agg(distinct grant_id) as grant_ids
  from unnest(p_grant_ids) as grant_id
  group by hashtext(grant_id)
  order by 1 loop
    if not svc_take_lock(9, v_wanted.key, true, v_deadline) then
      v_missed := v_missed || v_wanted.grant_ids;
    end if;
  end loop;
  return v_missed;
end;
$$;

-- Tries the locks of the balances that the decisions rest on, and answers those that were not had.
create function svc_try_balances(p_decisions svc_decision[])
returns integer[]
language plpgsql
volatile
as $$
declare
  v_key integer;
  v_missed integer[] := '{}';
begin
  for v_key in select distinct hashtext(d.balances_grant_id)
  from unnest(p_decisions) as d
  where d.balances_grant_id is not null
  order by 1 loop
    if not pg_try_advisory_xact_lock(9, v_key) then
      v_missed := v_missed || v_key;
    end if;
  end loop;
  return v_missed;
end;
$$;
