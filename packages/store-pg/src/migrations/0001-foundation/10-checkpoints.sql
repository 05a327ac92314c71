-- Closed days and their Merkle trees (protocol §12). A day is closed in two steps: `closed_days` takes it under the
-- day's exclusive lock, so its receipts are final; then its tree is built from them and its checkpoint published.
-- Whatever is cut off between the two is done again with the same result.
--
-- Tiles are those of @svc/merkle above the leaves, which are not kept, since the receipts are there;
-- `first_receipt_ids` leads to the 256 below each hash of level 1.

-- The first day that is ever closed: the one on which the database was made.
create table deployment (
  is_only_row boolean primary key default true check (is_only_row),
  first_day date not null default (clock_timestamp() at time zone 'UTC')::date
);
insert into deployment default values;

create table merkle_tiles (
  day date not null references closed_days,
  level smallint not null check (level > 0),
  index integer not null check (index >= 0),
  hashes bytea not null check (length(hashes) % 32 = 0 and length(hashes) between 32 and 8192),
  first_receipt_ids text[] collate "C" check ((first_receipt_ids is not null) = (level = 1)),
  primary key (day, level, index)
);
create index merkle_tiles_by_first on merkle_tiles (day, (first_receipt_ids[1])) where level = 1;

create table checkpoints (
  day date primary key references closed_days,
  tree_size bigint not null check (tree_size >= 0),
  root text not null,
  previous_day date references checkpoints check (previous_day = day - 1),
  previous_root text check ((previous_root is null) = (previous_day is null)),
  first_receipt_id text collate "C",
  last_receipt_id text collate "C",
  kid text not null,
  jws text not null,
  hash text not null,
  -- Over SHA-256 of the bytes of each receipt, in the same order: what the leaves do not cover.
  content_root text not null,
  created_at timestamptz not null default svc_now(),
  check ((first_receipt_id is null) = (tree_size = 0) and (last_receipt_id is null) = (tree_size = 0))
);

-- When the receipts of a day were last read again and held against its trees, and whether they still led there.
create table content_checks (
  day date primary key references checkpoints,
  checked_at timestamptz not null,
  is_intact boolean not null
);

do $$
declare
  v_table text;
begin
  foreach v_table in array array['deployment', 'merkle_tiles', 'checkpoints'] loop
    execute format('create trigger refuse_change before update or delete on %I
      for each row execute function svc_refuse_change()', v_table);
    execute format('create trigger refuse_truncate before truncate on %I
      for each statement execute function svc_refuse_change()', v_table);
  end loop;
end
$$;

-- Takes the day's exclusive lock, so that every commit into the day is over, and closes it to all later ones. False
-- when the day has not ended by the clock read under the lock.
create function svc_close_day(p_day date)
returns boolean
language plpgsql
volatile
set lock_timeout = '2s'
as $$
begin
  perform pg_advisory_xact_lock(2, p_day - date '1970-01-01');
  if clock_timestamp() < (p_day + 1)::timestamp at time zone 'UTC' then
    return false;
  end if;
  insert into closed_days (day) values (p_day) on conflict do nothing;
  return true;
end;
$$;
