-- Clock steps (protocol §10). Processes compare this server's clock with their own and decide nothing while they disagree.
-- This file holds the state they share and the bounds for timestamps that the database sets itself.

-- The high-water mark of accepted time. Processes advance it every 5 s; one that starts later detects by it that the clock went
-- back. Only the operator moves it back, which increments `resets`.
create table clock_mark (
  is_only_row boolean primary key default true check (is_only_row),
  -- Null: no process has accepted a time yet.
  marked_at timestamptz,
  resets bigint not null default 0
);
insert into clock_mark default values;

-- An instant in milliseconds since the epoch.
create function svc_instant(p_ms bigint)
returns timestamptz
language sql
immutable
parallel safe
as $$
  select to_timestamp(p_ms / 1000.0);
$$;

-- The instant of a barrier, read after its lock: the clock, clamped to 5 s around the caller's time, or the latest stored ALLOW
-- of the Principal if that is later. So no ALLOW is dated after the revocation, even if the clock went back in between.
-- Receipts dated in the future exist only after such a step, so the range read is normally empty.
create function svc_barrier_instant(p_principal text, p_node_ms bigint)
returns timestamptz
language plpgsql
volatile
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
as $$
declare
  v_now timestamptz := greatest(
    svc_instant(p_node_ms - 5000),
    least(svc_instant(p_node_ms + 5000), svc_now())
  );
  v_last timestamptz;
begin
  select max(evaluated_at)
  into v_last
  from receipts
  where receipt_id >= svc_lowest_receipt_id(v_now) and principal = p_principal and decision = 'ALLOW';
  return greatest(v_now, v_last);
end;
$$;
