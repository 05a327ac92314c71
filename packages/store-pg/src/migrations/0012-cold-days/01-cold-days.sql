-- runs-from: 0005-roles
-- Closed days that leave the database (docs/decisions/0068-how-a-day-goes-cold.md). A day without a row is hot. `recorded`: its
-- objects were read back and proven, and its Receipts are still in their partition. `cold`: the partition is detached, Receipts are
-- read from the objects that the manifest names. `broken`: its Receipts did not lead to its roots, so it stays where it is.
create table cold_days (
  day date primary key references checkpoints,
  state text not null check (state in ('recorded', 'cold', 'broken')),
  -- The signed manifest as a compact JWS, and the SHA-256 of its bytes.
  manifest text,
  manifest_hash text unique,
  problem text,
  recorded_at timestamptz not null default svc_now(),
  detached_at timestamptz,
  dropped_at timestamptz,
  -- How far its Receipts have been read for what stays in the database (02-leave.sql); null: not begun.
  kept_before text collate "C",
  check ((manifest is null) = (state = 'broken') and (manifest is null) = (manifest_hash is null)),
  check ((problem is null) = (state != 'broken')),
  check ((detached_at is null) = (state != 'cold')),
  check (dropped_at is null or detached_at is not null)
);
-- Compressing what is signed and hashed saves a little, and each read would pay for it.
alter table cold_days alter column manifest set storage external;
create index cold_days_broken on cold_days (day) where state = 'broken';

create trigger refuse_truncate
before truncate on cold_days
for each statement
execute function svc_refuse_change();
create trigger refuse_change
before delete on cold_days
for each row
execute function svc_refuse_change();

-- A manifest that is recorded stays. The one exception is for a day that was broken: it may be packed after all.
create function svc_refuse_all_but_state()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  if
    new.day = old.day
    and (
      old.state = 'broken'
      or (
        (new.manifest, new.manifest_hash, new.recorded_at) is not distinct from
        (old.manifest, old.manifest_hash, old.recorded_at)
        and new.state != 'broken'
      )
    )
  then
    return new;
  end if;
  raise exception 'UPDATE on % is refused: what is recorded of a cold day stays', tg_table_name
    using errcode = 'insufficient_privilege';
end;
$$;
create trigger refuse_all_but_state
before update on cold_days
for each row
execute function svc_refuse_all_but_state();

-- Whether whoever reads all Receipts one after another has been through a day: for the sums of usage, and for what they name.
create function svc_is_day_read(p_day date)
returns boolean
language sql
stable
set search_path = public, pg_temp
as $$
  select
    c.counted_before >= b.day_end and e.named_before >= b.day_end
  from
    ledger_count as c,
    evidence_naming as e,
    lateral (select svc_lowest_receipt_id((p_day + 1)::timestamp at time zone 'UTC') as day_end) as b;
$$;

-- Up to p_limit days, the oldest first, that ended p_hot_days ago by no later time than the caller knows, whose content was found
-- intact within the last 36 hours (it is looked at every 24), and that everybody has read. One that was broken is tried again
-- after a day.
create function svc_days_to_pack(p_hot_days integer, p_node_ms bigint, p_limit integer)
returns setof date
language sql
stable
set search_path = public, pg_temp
as $$
  select p.day
  from
    checkpoints as p
    join content_checks as k using (day)
    left join cold_days as d using (day)
  where
    p.day + 1 + p_hot_days <= (least(svc_now(), svc_instant(p_node_ms)) at time zone 'UTC')::date
    and k.is_intact
    and k.checked_at > svc_now() - interval '36 hours'
    and (d.day is null or (d.state = 'broken' and d.recorded_at < svc_now() - interval '24 hours'))
    and not exists (select from restores as r where p.day = any (r.reinstated_days))
    and svc_is_day_read(p.day)
  order by p.day
  limit p_limit;
$$;
