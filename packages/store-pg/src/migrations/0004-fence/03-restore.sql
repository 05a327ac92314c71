-- No further entry is taken from a list that a restore closed: how far its counter had come is lost. It may have bits set of
-- Grants that are lost too.
alter table status_lists add column is_closed boolean not null default false;

-- Names that were registered in a lost span: nobody else may have them until the operator releases them.
create table reserved_names (
  name text collate "C" primary key,
  epoch integer not null references restores
);

create function svc_refuse_reserved()
returns trigger
language plpgsql
as $$
declare
  v_name text := coalesce(tg_argv[1], '') || (to_jsonb(new) ->> tg_argv[0]);
begin
  if exists (select from reserved_names as r where r.name = v_name) then
    raise exception 'the name % was registered in a span that a restore lost', v_name
      using errcode = 'unique_violation';
  end if;
  return new;
end;
$$;

create trigger refuse_reserved
before insert on principals
for each row
execute function svc_refuse_reserved('did');

create trigger refuse_reserved
before insert on relying_parties
for each row
execute function svc_refuse_reserved('did');

create trigger refuse_reserved
before insert on orgs
for each row
execute function svc_refuse_reserved('slug', 'org:');

-- Nothing can be stored any more that is dated before this instant, which may lie ahead: until then no decision is stored
-- at all. Under the locks of all days that it passes, as every move of the seal.
create function svc_seal_until(p_until timestamptz)
returns void
language plpgsql
volatile
set lock_timeout = '10s'
as $$
declare
  v_from timestamptz;
begin
  select sealed_until into strict v_from from ledger_seal;
  for v_day in svc_ms(v_from) / 86400000..svc_ms(p_until) / 86400000 loop
    perform pg_advisory_xact_lock(2, v_day::integer);
  end loop;
  update ledger_seal set sealed_until = p_until where sealed_until < p_until;
end;
$$;

-- A Grant that was in force at a restore. Which text its id was first allowed with in the lost span, and what was drawn on
-- its budgets then, is lost: until the operator releases it, nothing is allowed that would bind its id or draw on a budget.
alter table grants add column withheld_by integer references restores;
create index grants_withheld on grants (id) where withheld_by is not null;

-- Nothing that a hosted Principal's domain said before a restore counts: the proof, and the document that the domain serves,
-- are asked for again. Neither may be what it was.
create function svc_forget_domains()
returns void
language sql
volatile
as $$
  update principals
  set
    verification_state = 'unverified',
    verified_since = null,
    last_checked_at = null,
    document_resolved_at = case
      when document_resolved_at is not null then 'epoch'::timestamptz
    end,
    version = version + 1
  where kind = 'hosted';
$$;
