-- What is kept beside the fence, for the day on which this database is set back: everything that takes authority away or
-- must not be given twice. Triggers note here what has changed, whoever changes it; a process copies it out within about a
-- second and forgets the note. Without a fence the notes stay: one that is configured later begins complete.
create table fence_notes (
  kind text not null check (kind in ('status-list', 'checkpoint', 'name', 'revoked')),
  -- The URL of a list; a day; a DID or `org:<slug>`; of what was taken back `key:<kid>`, `api-key:<key id>`,
  -- `agent:<principal> <did>`, `entitlement:<org id>` or `service-key:<kid>`.
  name text collate "C" not null,
  -- Higher with each change, also of what was noted and copied before, so that what changes while it is copied is copied again.
  version bigint not null generated always as identity,
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
  on conflict (kind, name) do update set version = default;
$$;

-- Arguments: the kind, the column with the name, and what stands before the name.
create function svc_note_row()
returns trigger
language plpgsql
as $$
begin
  perform
    svc_note(
      tg_argv[0],
      coalesce(tg_argv[2], '') || (
        case tg_op
          when 'DELETE' then to_jsonb(old)
          else to_jsonb(new)
        end ->> tg_argv[1]
      )
    );
  return null;
end;
$$;

create function svc_note_agent()
returns trigger
language plpgsql
as $$
begin
  perform svc_note('revoked', 'agent:' || new.principal || ' ' || new.did);
  return null;
end;
$$;

-- Apart from the others: as JSON each revocation would write the whole list once more.
create function svc_note_list()
returns trigger
language plpgsql
as $$
begin
  perform svc_note('status-list', new.url);
  return null;
end;
$$;

create trigger note_list
after insert or update of credential on status_lists
for each row
execute function svc_note_list();

create trigger note_checkpoint
after insert on checkpoints
for each row
execute function svc_note_row('checkpoint', 'day');

create trigger note_name
after insert or delete or update of org_id on principals
for each row
execute function svc_note_row('name', 'did');

create trigger note_name
after insert
or delete
or update of org_id, proof_window_seconds, verify_rate_limit_per_minute, profile
on relying_parties
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

-- The keys of a DID that was released.
create trigger note_deleted
after delete on api_keys
for each row
execute function svc_note_row('revoked', 'key_id', 'api-key:');

create trigger note_revoked
after update of disabled_at on agents
for each row
when (new.disabled_at is not null and old.disabled_at is null)
execute function svc_note_agent();

-- Not by each check that is counted. A push may also give: the latest one counts.
create trigger note_revoked
after insert or update of production, production_until, check_cap, cap_since, reason, as_of on entitlements
for each row
execute function svc_note_row('revoked', 'org_id', 'entitlement:');

create trigger note_revoked
after insert on service_key_ends
for each row
execute function svc_note_row('revoked', 'kid', 'service-key:');

-- Versions of notes begin again lower in a database that was set back; not across the restore that follows.
create function svc_note_version(p_version bigint)
returns bigint
language sql
stable
as $$
  select coalesce(max(epoch), 0)::bigint * 1099511627776 + p_version from restores;
$$;

-- Who holds a DID: null for nobody (any more). A DID that is registered anew is another registration.
create function svc_kept_name(p_did text, p_version bigint)
returns text
language sql
stable
as $$
  select
    json_build_object(
      'principal',
      (
        select json_build_object('org_id', org_id, 'since_ms', svc_ms(created_at))
        from principals
        where did = p_did
      ),
      'relying_party',
      (
        select
          json_build_object(
            'org_id',
            org_id,
            'since_ms',
            svc_ms(created_at),
            'proof_window_seconds',
            proof_window_seconds,
            'verify_rate_limit_per_minute',
            verify_rate_limit_per_minute,
            'profile',
            profile
          )
        from relying_parties
        where did = p_did
      ),
      'version',
      svc_note_version(p_version)
    )::text;
$$;

-- What was taken back, and from whom: `since_ms` tells the registration of the Principal. Null where the name says it all, or
-- where it was released since.
create function svc_kept_revoked(p_name text, p_version bigint)
returns text
language sql
stable
as $$
  select
    case split_part(p_name, ':', 1)
      when 'key' then (
        select
          json_build_object(
            'principal',
            k.principal,
            'since_ms',
            svc_ms(p.created_at),
            'state',
            k.state,
            'version',
            svc_note_version(p_version)
          )::text
        from
          principal_keys as k
          join principals as p on p.did = k.principal
        where 'key:' || k.kid = p_name
      )
      when 'agent' then (
        select
          json_build_object(
            'principal',
            a.principal,
            'since_ms',
            svc_ms(p.created_at),
            'agent',
            a.did,
            'version',
            svc_note_version(p_version)
          )::text
        from
          agents as a
          join principals as p on p.did = a.principal
        where a.principal = split_part(substr(p_name, 7), ' ', 1) and a.did = split_part(p_name, ' ', 2)
      )
      when 'entitlement' then (
        select
          json_build_object(
            'org_id',
            e.org_id,
            'production',
            e.production,
            'production_until_ms',
            svc_ms(e.production_until),
            'check_cap',
            e.check_cap,
            'cap_since_ms',
            svc_ms(e.cap_since),
            'reason',
            e.reason,
            'as_of_ms',
            svc_ms(e.as_of),
            'version',
            svc_note_version(p_version)
          )::text
        from entitlements as e
        where 'entitlement:' || e.org_id = p_name
      )
      when 'service-key' then (
        select
          json_build_object(
            'public_key',
            k.public_key,
            'ends',
            (select json_agg(e.state) from service_key_ends as e where e.kid = k.kid),
            'version',
            svc_note_version(p_version)
          )::text
        from service_keys as k
        where 'service-key:' || k.kid = p_name
      )
    end;
$$;

-- What is kept of a note: the text of a JSON object. Of two texts the one with the higher `version` is the later one.
create function svc_kept_text(p_kind text, p_name text, p_version bigint)
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
      when 'name' then case
        when p_name like 'did:%' then svc_kept_name(p_name, p_version)
      end
      when 'revoked' then svc_kept_revoked(p_name, p_version)
    end;
$$;
