-- runs-from: 0005-roles
-- The pause of the whole service took a lock of the table of relying parties, which autovacuum has too: while the table was vacuumed
-- the service could not be paused. Now it takes the row of the ledger's seal, and whoever registers a relying party shares it: the
-- registration is before the pause, which then gives it its new version, or after it.
create function svc_register_beside_pause()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  perform from ledger_seal for key share;
  return new;
end;
$$;

create trigger register_beside_pause
before insert on relying_parties
for each row
execute function svc_register_beside_pause();

create or replace function svc_lock_pause_owner(p_scope text, p_owner text)
returns boolean
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  case p_scope
    when 'service' then
      -- Nobody registers meanwhile (svc_register_beside_pause).
      perform from ledger_seal for update;
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

-- As before; what is paused again is the newest in lists.
create or replace function svc_set_pause(
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
      visible_at = null,
      seq = default
    where x.is_paused != excluded.is_paused;
  if not found then
    return false;
  end if;
  perform svc_spread_pause(p_scope, p_owner, p_is_paused);
  return true;
end;
$$;
