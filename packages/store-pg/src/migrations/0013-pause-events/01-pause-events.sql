-- runs-from: 0005-roles
-- A pause and its end are told in the transaction that records them, which is the one that makes decisions stale.
create function svc_emit_pause()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  v_data json := json_build_object('scope', new.scope, 'subject', new.subject, 'paused', new.is_paused);
  v_audiences text[];
begin
  if new.scope in ('org', 'service') then
    v_audiences := array(
      select distinct audience
      from event_wants
      where type = 'pause.changed' and (new.scope = 'service' or audience = 'org ' || new.owner)
    );
    if new.scope = 'service' and cardinality(v_audiences) > 0 then
      v_audiences := array['everyone'];
    end if;
    perform svc_emit_to(v_audiences, 'pause.changed', new.subject, new.changed_at, v_data);
  else
    perform
      svc_emit_event(
        'pause.changed',
        new.subject,
        case
          when new.scope != 'relying_party' then new.owner
        end,
        case
          when new.scope = 'relying_party' then new.owner
        end,
        new.changed_at,
        v_data
      );
  end if;
  return null;
end;
$$;
create trigger emit_first_event
after insert on pauses
for each row
when (new.is_paused)
execute function svc_emit_pause();
create trigger emit_event
after update of is_paused on pauses
for each row
when (old.is_paused is distinct from new.is_paused)
execute function svc_emit_pause();
