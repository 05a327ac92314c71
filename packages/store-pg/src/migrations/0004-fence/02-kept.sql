-- What is kept beside the fence, for the day on which this database is set back: everything that takes authority away or
-- must not be given twice. Triggers note here what has changed, whoever changes it; a process copies it out within about a
-- second and forgets the note. Without a fence the notes stay: one that is configured later begins complete.
create table fence_notes (
  kind text not null check (kind in ('status-list', 'checkpoint', 'name', 'revoked')),
  -- The URL of a list, a day, a DID or `org:<slug>`, `key:<kid>` or `api-key:<key id>`.
  name text collate "C" not null,
  -- Raised with each change, so that what changes while it is copied is copied again.
  version bigint not null default 1,
  -- Notes are copied in this order, what takes authority away first. A further change does not move a note back.
  seq bigint not null generated always as identity,
  -- The earliest change that is not copied was made after this instant.
  noted_at timestamptz not null default clock_timestamp(),
  primary key (kind, name)
);
create unique index fence_notes_by_turn on fence_notes ((kind != 'revoked'), seq);

create function svc_note(p_kind text, p_name text)
returns void
language sql
volatile
as $$
  insert into fence_notes (kind, name)
  values (p_kind, p_name)
  on conflict (kind, name) do update set version = fence_notes.version + 1;
$$;

-- Arguments: the kind, the column with the name, and what stands before the name.
create function svc_note_row()
returns trigger
language plpgsql
as $$
begin
  perform svc_note(tg_argv[0], coalesce(tg_argv[2], '') || (to_jsonb(new) ->> tg_argv[1]));
  return null;
end;
$$;

create trigger note_list
after insert or update of credential on status_lists
for each row
execute function svc_note_row('status-list', 'url');

create trigger note_checkpoint
after insert on checkpoints
for each row
execute function svc_note_row('checkpoint', 'day');

create trigger note_name
after insert on principals
for each row
execute function svc_note_row('name', 'did');

create trigger note_name
after insert on relying_parties
for each row
execute function svc_note_row('name', 'did');

create trigger note_name
after insert on orgs
for each row
execute function svc_note_row('name', 'slug', 'org:');

create trigger note_revoked
after update of state on principal_keys
for each row
when (new.state is distinct from old.state)
execute function svc_note_row('revoked', 'kid', 'key:');

create trigger note_revoked
after update of revoked_at on api_keys
for each row
when (new.revoked_at is not null and old.revoked_at is null)
execute function svc_note_row('revoked', 'key_id', 'api-key:');

-- What is kept of a note: the text of a JSON object. Of two texts the one with the higher `version` is the later one.
create function svc_kept_text(p_kind text, p_name text)
returns text
language sql
stable
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
      when 'revoked' then (
        select
          json_build_object(
            'principal',
            k.principal,
            'state',
            k.state,
            'version',
            array_position(array['active', 'retired', 'compromised'], k.state)
          )::text
        from principal_keys as k
        where 'key:' || k.kid = p_name
      )
    end;
$$;
