-- Kept beside the fence, and taken again after a restore: the latest change, whether it paused or resumed.
create function svc_pause_name(p_pause pauses)
returns text
language sql
immutable
set search_path = public, pg_temp
as $$
  select 'pause:' || p_pause.scope || ' ' || p_pause.owner || ' ' || p_pause.subject;
$$;

create function svc_note_pause()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  perform svc_note('revoked', svc_pause_name(coalesce(new, old)));
  return null;
end;
$$;

create trigger note_revoked
after insert or delete or update of is_paused on pauses
for each row
execute function svc_note_pause();

create function svc_pause_owner_since(p_scope text, p_owner text)
returns timestamptz
language sql
stable
set search_path = public, pg_temp
as $$
  select
    case p_scope
      when 'relying_party' then (select created_at from relying_parties where did = p_owner)
      when 'org' then (select created_at from orgs where org_id = p_owner)
      when 'service' then timestamptz 'epoch'
      else (select created_at from principals where did = p_owner)
    end;
$$;

-- `since_ms` tells the registration of the owner.
create function svc_kept_pause(p_name text, p_version bigint)
returns text
language sql
stable
set search_path = public, pg_temp
as $$
  select
    json_build_object(
      'scope',
      x.scope,
      'owner',
      x.owner,
      'subject',
      x.subject,
      'is_paused',
      x.is_paused,
      'reason',
      x.reason,
      'changed_at_ms',
      svc_ms(x.changed_at),
      'since_ms',
      svc_ms(svc_pause_owner_since(x.scope, x.owner)),
      'version',
      svc_note_version(p_version)
    )::text
  from pauses as x
  where
    x.owner = split_part(p_name, ' ', 2)
    and x.scope = split_part(substr(p_name, 7), ' ', 1)
    and x.subject = split_part(p_name, ' ', 3);
$$;

-- What is kept of a note: the text of a JSON object. Of two texts the one with the higher `version` is the later one.
create or replace function svc_kept_text(p_kind text, p_name text, p_version bigint)
returns text
language sql
stable
set search_path = public, pg_temp
as $$
  select
    case p_kind
      when 'status-list' then (
        select
          json_build_object(
            'url',
            l.url,
            'domain',
            l.domain,
            'number',
            l.number,
            'version',
            l.version,
            'credential',
            l.credential
          )::text
        from status_lists as l
        where l.url = p_name
      )
      when 'checkpoint' then (
        select to_json(c)::text
        from checkpoints as c
        where c.day = p_name::date
      )
      when 'name' then case
        when p_name like 'did:%' then svc_kept_name(p_name, p_version)
      end
      when 'revoked' then case
        when p_name like 'pause:%' then svc_kept_pause(p_name, p_version)
        else svc_kept_revoked(p_name, p_version)
      end
    end;
$$;
