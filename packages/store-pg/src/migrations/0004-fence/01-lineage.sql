-- The lineage of this database (protocol §10, "The fence"): beats with random nonces, each also published outside the
-- database as the fence's head. A database that has the fence's head among its beats has lost nothing since; one that was
-- set back, or that was replaced and woke up, lacks it.
create table fence_beats (
  seq bigint primary key check (seq > 0),
  nonce text collate "C" not null,
  at timestamptz not null
);

-- One row for each restore: from here on the head of the fence that it names is part of the lineage, and the Receipts
-- between `lost_from` and `lost_until` are known to be incomplete.
create table restores (
  epoch integer primary key check (epoch > 0),
  lost_from timestamptz not null,
  lost_until timestamptz not null,
  quarantined_until timestamptz not null,
  -- Checkpoints that had been published and were put back without the Receipts below them.
  reinstated_days date[] not null,
  -- No status list that is opened from now on has a lower number, whatever its domain.
  least_list_number integer not null,
  statement text not null,
  restored_at timestamptz not null default svc_now()
);
create trigger refuse_change
before update or delete on restores
for each row
execute function svc_refuse_change();
create trigger refuse_truncate
before truncate on restores
for each statement
execute function svc_refuse_change();

-- A fence that was begun anew forbids decisions until then, as a restore does.
create table fence_quarantine (
  is_only_row boolean primary key default true check (is_only_row),
  quarantined_until timestamptz not null default '-infinity'
);
insert into fence_quarantine default values;

-- No decision is stored that is dated before, and no repair of the clock takes the seal back below it.
create function svc_quarantined_until()
returns timestamptz
language sql
stable
as $$
  select
    greatest((select max(quarantined_until) from restores), (select quarantined_until from fence_quarantine));
$$;

-- Holds the fence's head (null: there is no fence) against the lineage, and continues the lineage where nobody else has
-- just done so. Verdicts: `known`: the head is one of our beats, `age_ms` old. `next`: so it is (or there was neither), and
-- a new beat is to be published in its place. `behind`, `diverged`, `forgotten`, `gone`: this database must not decide.
-- The lock (10, 0) makes one line of the beats of all nodes.
create function svc_beat(
  p_seq bigint,
  p_nonce text,
  p_next_nonce text,
  out verdict text,
  out seq bigint,
  out at_ms bigint,
  out age_ms double precision,
  out epoch integer,
  out quarantine_ms double precision
)
language plpgsql
volatile
set lock_timeout = '300ms'
as $$
declare
  v_now timestamptz;
  v_head fence_beats;
  v_last fence_beats;
begin
  -- What the fence will name must survive a crash of the server.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  perform pg_advisory_xact_lock(10, 0);
  v_now := clock_timestamp();
  select * into v_last from fence_beats as b order by b.seq desc limit 1;
  select * into v_head from fence_beats as b where b.seq = p_seq and b.nonce = p_nonce;
  select coalesce(max(r.epoch), 0) into epoch from restores as r;
  quarantine_ms := extract(epoch from greatest(svc_quarantined_until(), v_now) - v_now) * 1000;
  verdict := case
    when p_seq is null
    and v_last.seq is not null then 'gone'
    when p_seq is null
    or v_head.seq is not null then null
    when p_seq > coalesce(v_last.seq, 0) then 'behind'
    when p_seq < (select min(b.seq) from fence_beats as b) then 'forgotten'
    else 'diverged'
  end;
  if
    verdict is null
    and v_head.seq is not null
    and v_now between v_last.at and v_last.at + interval '200 milliseconds'
  then
    verdict := 'known';
  end if;
  if verdict is null then
    verdict := 'next';
    insert into fence_beats (seq, nonce, at)
    values (coalesce(v_last.seq, 0) + 1, p_next_nonce, v_now)
    returning *
    into v_head;
    -- An older head than these is that of a fence which was set back itself.
    delete from fence_beats as b where b.seq < v_head.seq - 50000;
  end if;
  seq := v_head.seq;
  at_ms := svc_ms(v_head.at);
  age_ms := greatest(extract(epoch from v_now - v_head.at) * 1000, 0);
end;
$$;
