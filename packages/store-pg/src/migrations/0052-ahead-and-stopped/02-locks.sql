-- A commit that binds a Grant, or claims an Idempotency-Key, waited for the row of another that had done so and was not over, and the decisions that it was stored
-- with fell with it: the transaction of a node that has stopped lasts for a second and more. Now it asks for a lock first, and whatever does not have it in time is
-- LOCKED alone. A Proof that is spent needs no lock: a node that stops leaves open only decisions on balances, which have the lock of these.
create or replace function svc_take_locks(p_decisions svc_decision[], p_deadline timestamptz)
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
        (8, hashtext(d.org_id), d.is_capped),
        -- Null unless it binds a Grant.
        (16, hashtext(d.spend_grant_id || left(d.binds_grant_hash, 0)), true),
        (17, hashtext(d.relying_party || ' ' || d.idempotency_key), true)
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
