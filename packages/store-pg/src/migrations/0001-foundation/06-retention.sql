-- What is kept for a time only: the action fields of Receipts (interface §Limits: 7 years). The Receipt itself stays as
-- it is; its trigger lets through this one change of a row that is old enough, and refuses every other.

-- A single row: how far the clearing has come. Receipts are only ever stored with ids of now, so it never turns back.
create table retention (
  only_row boolean primary key default true check (only_row),
  actions_cleared_before text collate "C" not null default ''
);
insert into retention default values;

create function svc_actions_kept_since()
returns timestamptz
language sql
volatile
as $$
  select (clock_timestamp() at time zone 'UTC' - interval '7 years') at time zone 'UTC';
$$;

create function svc_refuse_all_but_clearing()
returns trigger
language plpgsql
as $$
declare
  v_cleared record := old;
begin
  v_cleared.action_type := null;
  v_cleared.amount := null;
  v_cleared.currency := null;
  v_cleared.resource := null;
  v_cleared.method := null;
  -- Whole rows: a column that is added to the table is covered without a word here.
  if
    old.evaluated_at < svc_actions_kept_since()
    and old is distinct from v_cleared
    and new is not distinct from v_cleared
  then
    return new;
  end if;
  raise exception 'UPDATE on % is refused: the table is append-only', tg_table_name
    using errcode = 'insufficient_privilege';
end;
$$;
create trigger refuse_all_but_clearing
before update on receipts
for each row
execute function svc_refuse_all_but_clearing();

-- Clears the next p_limit (2 or more) old Receipts in the order of their ids, by no later time than the caller knows; fewer have passed when none is left. Two
-- at once: the second does nothing. Plans are made for the values at hand: they lock the partitions in question alone.
create function svc_clear_old_actions(
  p_limit integer,
  p_node_ms bigint,
  out passed integer,
  out cleared integer
)
language plpgsql
volatile
set plan_cache_mode = force_custom_plan
as $$
declare
  v_from text;
  v_end text := svc_lowest_receipt_id(
    least(svc_actions_kept_since(), svc_instant(p_node_ms) - interval '7 years')
  );
  v_last text;
begin
  passed := 0;
  cleared := 0;
  select actions_cleared_before into v_from from retention for update skip locked;
  if v_from is null or v_from >= v_end then
    return;
  end if;
  select count(*), max(r.receipt_id) into passed, v_last from (
    select receipt_id from receipts where receipt_id >= v_from and receipt_id < v_end
    order by receipt_id limit p_limit
  ) r;
  if passed > 0 then
    update receipts set action_type = null, amount = null, currency = null, resource = null, method = null
      where receipt_id >= v_from and receipt_id <= v_last
        and num_nonnulls(action_type, amount, currency, resource, method) > 0;
    get diagnostics cleared = row_count;
  end if;
  update retention set actions_cleared_before = case when passed < p_limit then v_end else v_last end;
end
$$;
