-- Until the end of the transaction no decision is stored: neither one that is under way, which is waited for, nor one that begins meanwhile, though a day
-- should end. All commits wait behind this, so it comes last in its transaction, waits for each day for less than they do, and ends with its session where
-- the node that holds it says nothing more for 0.3 s.
create function svc_hold_days()
returns void
language plpgsql
volatile
set lock_timeout = '200ms'
set search_path = public, pg_temp
as $$
declare
  v_today integer := svc_day_number(svc_ms(clock_timestamp()));
begin
  for v_day in v_today - 1..v_today + 1 loop
    perform pg_advisory_xact_lock(2, v_day);
  end loop;
  perform set_config('idle_in_transaction_session_timeout', '300', true);
end;
$$;
