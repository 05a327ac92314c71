-- Daily partitions of the receipts. A new day is built aside and attached, which takes no lock that a commit
-- would wait for; creating it in place would stop all decisions for that moment.

-- The lowest receipt id of an instant: 48 bits of milliseconds in Crockford's base 32, then zeros.
create function svc_lowest_receipt_id(instant timestamptz)
returns text
language sql
immutable
parallel safe
as $$
  select
    'drc_' || string_agg(
      substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((svc_ms(instant) >> (5 * i)) & 31)::integer + 1, 1),
      ''
      order by i desc
    ) || repeat('0', 16)
  from generate_series(0, 9) as i;
$$;

-- Creates the missing partitions of the days from first to last and answers how many there were. With the rights of the
-- owner of the schema: the running service may be a role that can make no table (0005-roles).
create function svc_ensure_receipt_partitions(p_first date, p_last date)
returns integer
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  v_day date;
  v_name text;
  v_start timestamptz;
  v_end timestamptz;
  v_created integer := 0;
begin
  if p_last - p_first > 400 then
    raise exception 'partitions for more than 400 days at once';
  end if;
  perform pg_advisory_xact_lock(3, 0);
  for v_day in select d::date from generate_series(p_first, p_last, interval '1 day') as d loop
    v_name := 'receipts_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass(v_name) is not null;
    v_start := v_day::timestamp at time zone 'UTC';
    v_end := (v_day + 1)::timestamp at time zone 'UTC';
    execute
      format(
        'create table %I (like receipts including all,
         constraint evaluated_within_day check (evaluated_at >= %L and evaluated_at < %L))
       with (toast_tuple_target = 8160)',
        v_name,
        v_start,
        v_end
      );
    execute
      format(
        'create trigger refuse_truncate before truncate on %I
      for each statement execute function svc_refuse_change()',
        v_name
      );
    execute
      format(
        'alter table receipts attach partition %I for values from (%L) to (%L)',
        v_name,
        svc_lowest_receipt_id(v_start),
        svc_lowest_receipt_id(v_end)
      );
    v_created := v_created + 1;
  end loop;
  return v_created;
end;
$$;
