-- runs-from: 0005-roles
-- What is paused (protocol §9): no decision allows it until it is resumed. A pause is service state: no status list says it.
--
-- Nothing is added to what a commit locks or reads: it reads the rows of Principal and relying party anyway, and compares their
-- versions. Each change here moves the versions of whatever it concerns, so what was evaluated before it is STALE.

create table pauses (
  scope text not null check (scope in ('grant', 'agent', 'principal', 'relying_party', 'org', 'service')),
  -- Whose it is: the Principal of a Grant or an Agent, else the subject itself.
  owner text collate "C" not null,
  -- A Grant's id, an Agent's DID, a DID, an org's id, or `service`.
  subject text collate "C" not null,
  is_paused boolean not null,
  -- Who paused or resumed last, and why.
  actor_kind text not null,
  actor_did text,
  actor_key_id text,
  reason text check (length(reason) <= 500),
  changed_at timestamptz not null,
  -- When no ALLOW was under way any more that had not seen it; null: not known yet.
  visible_at timestamptz,
  -- Its place in lists.
  seq bigint not null generated always as identity unique,
  primary key (owner, scope, subject),
  check (scope in ('grant', 'agent') or subject = owner)
);

-- Some pause concerns the Principal: its own, its org's, one of a Grant or an Agent. Which one is asked only then.
alter table principals add column has_pauses boolean not null default false;
-- It, or its org.
alter table relying_parties add column is_paused boolean not null default false;
-- Of the whole service, in the row that each commit reads.
alter table ledger_seal add column is_paused boolean not null default false;

create function svc_grant_is_paused(p_grant_id text)
returns boolean
language sql
stable
set search_path = public, pg_temp
as $$
  select
    exists (
      select
      from
        grants as g
        join principals as p on p.did = g.principal
        cross join lateral (
          values
            ('grant', g.principal, g.id),
            ('agent', g.principal, g.agent),
            ('principal', g.principal, g.principal),
            ('org', p.org_id, p.org_id)
        ) as wanted (scope, owner, subject)
        join pauses as x
          on x.owner = wanted.owner and x.scope = wanted.scope and x.subject = wanted.subject and x.is_paused
      where g.id = p_grant_id
    );
$$;

create function svc_principal_has_pauses(p_principal text, p_org_id text)
returns boolean
language sql
stable
set search_path = public, pg_temp
as $$
  select
    exists (
      select from pauses where owner = p_principal and scope in ('grant', 'agent', 'principal') and is_paused
    )
    or exists (select from pauses where owner = p_org_id and scope = 'org' and is_paused);
$$;

create function svc_relying_party_is_paused(p_relying_party text, p_org_id text)
returns boolean
language sql
stable
set search_path = public, pg_temp
as $$
  select
    exists (select from pauses where owner = p_relying_party and scope = 'relying_party' and is_paused)
    or exists (select from pauses where owner = p_org_id and scope = 'org' and is_paused);
$$;

-- Whoever joins an org is paused with it. A pause of the org has its row exclusively: it finds the member, or the member it.
create function svc_pause_with_org()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  perform from orgs where org_id = new.org_id for key share;
  if tg_table_name = 'principals' then
    new.has_pauses := svc_principal_has_pauses(new.did, new.org_id);
  else
    new.is_paused := svc_relying_party_is_paused(new.did, new.org_id);
  end if;
  if tg_op = 'UPDATE' then
    new.version := greatest(new.version, old.version + 1);
  end if;
  return new;
end;
$$;

create trigger pause_with_org
before insert or update of org_id on principals
for each row
execute function svc_pause_with_org();

create trigger pause_with_org
before insert or update of org_id on relying_parties
for each row
execute function svc_pause_with_org();

-- Of a DID that is released; the next one to register it is another.
create function svc_forget_pauses()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  delete from pauses where owner = old.did and scope = any (tg_argv);
  return null;
end;
$$;

create trigger forget_pauses
after delete on principals
for each row
execute function svc_forget_pauses('grant', 'agent', 'principal');

create trigger forget_pauses
after delete on relying_parties
for each row
execute function svc_forget_pauses('relying_party');

-- Takes the row that everything about this owner goes by, so that changes to it come one after another. False: there is none.
create function svc_lock_pause_owner(p_scope text, p_owner text)
returns boolean
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  case p_scope
    when 'service' then
      -- Nobody registers meanwhile: each relying party gets the new version, or is registered under it.
      lock table relying_parties in share row exclusive mode;
      perform from ledger_seal for no key update;
    when 'org' then
      perform from orgs where org_id = p_owner for update;
    when 'relying_party' then
      perform from relying_parties where did = p_owner for no key update;
    else
      perform from principals where did = p_owner for no key update;
  end case;
  return found;
end;
$$;

-- Makes nodes read again what the pause concerns, and commits refuse what rests on the versions before.
create function svc_spread_pause(p_scope text, p_owner text, p_is_paused boolean)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  case p_scope
    when 'service' then
      update ledger_seal set is_paused = p_is_paused;
      update relying_parties set version = version + 1;
    when 'org' then
      update principals
      set
        has_pauses = svc_principal_has_pauses(did, org_id),
        version = version + 1
      where org_id = p_owner;
      update relying_parties
      set
        is_paused = svc_relying_party_is_paused(did, org_id),
        version = version + 1
      where org_id = p_owner;
    when 'relying_party' then
      update relying_parties
      set
        is_paused = svc_relying_party_is_paused(did, org_id),
        version = version + 1
      where did = p_owner;
    else
      update principals
      set
        has_pauses = svc_principal_has_pauses(did, org_id),
        version = version + 1
      where did = p_owner;
  end case;
end;
$$;

-- The first phase of a pause, or of its end. Answers whether anything changed; null: there is no such owner. Of the instants of
-- one subject a later change has the later one, whatever the clock does.
create function svc_set_pause(
  p_scope text,
  p_owner text,
  p_subject text,
  p_is_paused boolean,
  p_reason text,
  p_actor jsonb
)
returns boolean
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  if not svc_lock_pause_owner(p_scope, p_owner) then
    return null;
  end if;
  insert into pauses as x (
    scope,
    owner,
    subject,
    is_paused,
    actor_kind,
    actor_did,
    actor_key_id,
    reason,
    changed_at
  )
  select
    p_scope,
    p_owner,
    p_subject,
    p_is_paused,
    p_actor ->> 'kind',
    p_actor ->> 'did',
    p_actor ->> 'keyId',
    p_reason,
    svc_now()
  where
    p_is_paused
    or exists (select from pauses where owner = p_owner and scope = p_scope and subject = p_subject)
  on conflict (owner, scope, subject) do update
    set
      is_paused = excluded.is_paused,
      actor_kind = excluded.actor_kind,
      actor_did = excluded.actor_did,
      actor_key_id = excluded.actor_key_id,
      reason = excluded.reason,
      changed_at = greatest(excluded.changed_at, x.changed_at + interval '1 millisecond'),
      visible_at = null
    where x.is_paused != excluded.is_paused;
  if not found then
    return false;
  end if;
  perform svc_spread_pause(p_scope, p_owner, p_is_paused);
  return true;
end;
$$;
