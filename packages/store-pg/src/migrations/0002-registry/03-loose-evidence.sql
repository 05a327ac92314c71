-- Evidence that nobody relies on yet (protocol §8): documents and status lists that no Receipt names and nobody was served.
-- A row here says that the evidence of this hash may be collected once it has been out of use for an hour; without a row it
-- is kept for ever. `unused_since` is null while a Principal or a list has it in force.
create table loose_evidence (
  hash text collate "C" primary key references evidence
    on delete cascade,
  unused_since timestamptz
);
create index loose_evidence_unused on loose_evidence (unused_since) where unused_since is not null;

-- Whether evidence is in force, and the foreign keys where it is collected, are looked up by hash.
create index principals_by_document on principals (document_hash) where document_hash is not null;
create index status_lists_by_credential on status_lists (credential_hash);

-- How far Receipts have been read for what they name: below it every Receipt that will ever be is stored and has been read.
create table evidence_naming (
  is_only_row boolean primary key default true check (is_only_row),
  named_before text collate "C" not null default ''
);
insert into evidence_naming default values;

-- A list that is served all the time is kept once a minute, so that nobody fills the storage by revoking and asking.
create table served_lists (url text collate "C" primary key, kept_at timestamptz not null);

-- How many documents of a Principal were put in force in the hour that began then.
alter table principals add column document_changes_since timestamptz;
alter table principals add column document_changes integer not null default 0;

-- Stores evidence that may be collected; what is kept already stays so. Whoever collects it just now is waited for first.
create function svc_put_loose_evidence(p_hash text, p_content_type text, p_body bytea)
returns void
language plpgsql
volatile
as $$
begin
  update loose_evidence set unused_since = null where hash = p_hash;
  insert into evidence (hash, content_type, body)
  values (p_hash, p_content_type, p_body)
  on conflict (hash) do nothing;
  if found then
    insert into loose_evidence (hash) values (p_hash);
  end if;
end;
$$;

-- The hashes of documents and lists that the Receipt of this JWS names. Nothing in it can make this fail.
create function svc_evidence_of(p_jws text)
returns setof text
language sql
immutable
parallel safe
as $$
  select m[1]
  from
    (select translate(split_part(p_jws, '.', 2), '-_', '+/') as payload) as p,
    regexp_matches(
      case
        when p.payload ~ '^[A-Za-z0-9+/]*$'
        and length(p.payload) % 4 != 1 then encode(
          decode(rpad(p.payload, (length(p.payload) + 3) / 4 * 4, '='), 'base64'),
          'escape'
        )
        else ''
      end,
      '"(?:did_document_hash|credential_hash)":"(sha256:[0-9a-f]{64})"',
      'g'
    ) as m;
$$;

-- Reads about p_limit further Receipts below the ledger's seal and keeps what they name. Answers how many; 0 when none is
-- left, or somebody else is at it. Planned for its bounds each time, as the ledger's days are partitions.
create function svc_name_evidence(p_limit integer)
returns bigint
language plpgsql
volatile
set plan_cache_mode = force_custom_plan
as $$
declare
  v_from text;
  v_to text;
  v_sealed_before text;
  v_read bigint;
begin
  select named_before into v_from from evidence_naming for update skip locked;
  if v_from is null then
    return 0;
  end if;
  select sealed_before into strict v_sealed_before from ledger_seal;
  select receipt_id
  into v_to
  from receipts
  where receipt_id >= v_from and receipt_id < v_sealed_before
  order by receipt_id
  offset p_limit
  limit 1;
  v_to := coalesce(v_to, v_sealed_before);
  if v_to <= v_from then
    return 0;
  end if;
  select count(*) into v_read from receipts where receipt_id >= v_from and receipt_id < v_to;
  delete from loose_evidence
  where hash in (select svc_evidence_of(jws) from receipts where receipt_id >= v_from and receipt_id < v_to);
  update evidence_naming set named_before = v_to;
  return v_read;
end;
$$;

-- By the clock or p_node_ms, whichever is earlier: what a clock that is ahead removes is lost for ever.
-- Notes since when loose evidence is out of use, and removes up to p_limit of what has been so for an hour: by then every
-- decision that may have used it is sealed, and has been read. Answers how many were removed. Evidence that comes into force
-- meanwhile is kept by its foreign key.
create function svc_collect_evidence(p_limit integer, p_node_ms bigint)
returns bigint
language plpgsql
volatile
as $$
declare
  v_now timestamptz := least(svc_now(), svc_instant(p_node_ms));
  v_collected bigint;
  v_named_before text;
begin
  update loose_evidence as l
  set unused_since = case when not s.is_in_force then v_now end
  from
    (
      select
        o.hash,
        exists (select from principals as p where p.document_hash = o.hash)
        or exists (select from status_lists as t where t.credential_hash = o.hash) as is_in_force
      from loose_evidence as o
    ) as s
  where s.hash = l.hash and s.is_in_force = (l.unused_since is not null);
  select named_before into strict v_named_before from evidence_naming;
  delete from evidence
  where
    hash in (
      select hash from loose_evidence
      where
        unused_since < v_now - interval '1 hour'
        and svc_lowest_receipt_id(unused_since + interval '10 minutes') <= v_named_before
      order by unused_since
      limit p_limit
      for update skip locked
    );
  get diagnostics v_collected = row_count;
  return v_collected;
end;
$$;

-- A status list was served: it is kept, unless one of the same address was within the last minute.
create function svc_keep_served_list(p_url text, p_hash text, p_node_ms bigint)
returns void
language plpgsql
volatile
as $$
begin
  if not exists (select from loose_evidence where hash = p_hash) then
    return;
  end if;
  insert into served_lists as s (url, kept_at)
  values (p_url, least(svc_now(), svc_instant(p_node_ms)))
  on conflict (url) do update
    set kept_at = excluded.kept_at
    where s.kept_at < excluded.kept_at - interval '1 minute';
  if found then
    delete from loose_evidence where hash = p_hash;
  end if;
end;
$$;

-- Evidence is append-only but for what is collected.
create function svc_refuse_all_but_collection()
returns trigger
language plpgsql
as $$
begin
  if
    exists (select from loose_evidence where hash = old.hash and unused_since < svc_now() - interval '1 hour')
  then
    return old;
  end if;
  raise exception 'DELETE on % is refused: the table is append-only', tg_table_name
    using errcode = 'insufficient_privilege';
end;
$$;
drop trigger refuse_change on evidence;
create trigger refuse_change
before update on evidence
for each row
execute function svc_refuse_change();
create trigger refuse_all_but_collection
before delete on evidence
for each row
execute function svc_refuse_all_but_collection();
