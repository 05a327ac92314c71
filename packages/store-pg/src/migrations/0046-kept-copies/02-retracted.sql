-- A checkpoint that a repair of the clock had retracted stayed beside the fence, and the next restore put it back.
create trigger note_retracted
after delete on checkpoints
for each row
execute function svc_note_row('checkpoint', 'day');

-- Of those of before the copies are made anew: they say that there is none.
select svc_note('checkpoint', r.day::text)
from (select distinct day from retracted_checkpoints) as r
where not exists (select from checkpoints as c where c.day = r.day);

-- As in 0041-clock-traces, and what was retracted before, and came back, may be retracted again.
create or replace function svc_reopen_days(p_today date)
returns integer
language plpgsql
volatile
set search_path = public, pg_temp
set lock_timeout = '10s'
as $$
declare
  v_day date;
  v_table text;
  v_published integer;
begin
  for v_day in select day from closed_days where day >= p_today order by day loop
    perform pg_advisory_xact_lock(2, v_day - date '1970-01-01');
  end loop;
  perform svc_heat_days(p_today);
  select count(*) into v_published from checkpoints where day >= p_today;
  insert into retracted_checkpoints (hash, day, kid, jws)
  select hash, day, kid, jws
  from checkpoints
  where day >= p_today
  on conflict (hash) do nothing;
  delete from content_checks where day >= p_today;
  foreach v_table in array array['checkpoints', 'merkle_tiles', 'closed_days'] loop
    execute format('alter table %I disable trigger refuse_change', v_table);
    execute format('delete from %I where day >= $1', v_table)
    using p_today;
    execute format('alter table %I enable trigger refuse_change', v_table);
  end loop;
  if exists (select from deployment where first_day > p_today) then
    alter table deployment disable trigger refuse_change;
    update deployment set first_day = p_today;
    alter table deployment enable trigger refuse_change;
  end if;
  return v_published;
end;
$$;
