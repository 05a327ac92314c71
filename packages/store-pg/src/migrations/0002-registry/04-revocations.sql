-- The first phase of a revocation (protocol §9): what is to be revoked is read, the process signs, and all is written in one
-- statement, which has no effect where a list has changed meanwhile. So no lock is held while a process is busy.

-- Those of the Grants that are the Principal's. The bits and the version of a list come with the first Grant in force that
-- it has.
create function svc_read_revocations(p_principal text, p_grant_ids text[])
returns table (
  grant_id text,
  list_url text,
  status_index integer,
  recorded_at timestamptz,
  revoked_at timestamptz,
  bits bytea,
  version bigint
)
language sql
stable
as $$
  select
    g.id,
    g.status_list_url,
    g.status_index,
    g.revocation_recorded_at,
    g.revoked_at,
    case
      when g.is_first then l.bits
    end,
    case
      when g.is_first then l.version
    end
  from
    (
      select
        of.*,
        of.revocation_recorded_at is null
        and row_number() over (
          partition by of.status_list_url, of.revocation_recorded_at is null
          order by of.id
        ) = 1 as is_first
      from grants as of
      where of.id = any (p_grant_ids) and of.principal = p_principal
    ) as g
    join status_lists as l on l.url = g.status_list_url
  order by g.id;
$$;

-- Locks the Grants, then their lists, both in order, as everything that revokes does. Each statement sees what those have
-- committed whom the one before waited for.
create function svc_lock_revocations(p_principal text, p_grant_ids text[])
returns void
language plpgsql
volatile
as $$
begin
  perform
  from grants as g
  where g.id = any (p_grant_ids) and g.principal = p_principal
  order by g.id
  for update;
  perform
  from status_lists as l
  where
    l.url in (
      select g.status_list_url from grants as g where g.id = any (p_grant_ids) and g.principal = p_principal
    )
  order by l.url
  for update;
end;
$$;

-- Writes the lists as they were signed, as evidence that may be collected, the flags, and the audit events, an array of
-- objects. False, and nothing is written, where a Grant has been revoked or a list changed since it was read.
create function svc_record_revocations(
  p_principal text,
  p_grant_ids text[],
  p_urls text[],
  p_versions bigint[],
  p_bits bytea[],
  p_credentials text[],
  p_hashes text[],
  p_valid_from_ms bigint[],
  p_content_type text,
  p_events jsonb
)
returns boolean
language plpgsql
volatile
as $$
begin
  perform svc_lock_revocations(p_principal, p_grant_ids);
  if
    exists (select from grants as g where g.id = any (p_grant_ids) and g.revocation_recorded_at is not null)
    or exists (
      select
      from
        unnest(p_urls, p_versions) as s (url, version)
        left join status_lists as l on l.url = s.url and l.version = s.version
      where l.url is null
    )
  then
    return false;
  end if;
  perform svc_put_loose_evidence(s.hash, p_content_type, convert_to(s.credential, 'UTF8'))
  from unnest(p_hashes, p_credentials) as s (hash, credential);
  update status_lists as l
  set
    bits = s.bits,
    credential = s.credential,
    credential_hash = s.hash,
    valid_from = to_timestamp(s.valid_from_ms / 1000.0),
    version = l.version + 1
  from
    unnest(p_urls, p_bits, p_credentials, p_hashes, p_valid_from_ms) as s (
      url,
      bits,
      credential,
      hash,
      valid_from_ms
    )
  where l.url = s.url;
  update grants as g set revocation_recorded_at = svc_now() where g.id = any (p_grant_ids);
  insert into audit_events
    (event_id, actor_kind, actor_did, actor_key_id, action, target, request_id, details, org_id)
  select
    e."eventId",
    e.actor ->> 'kind',
    e.actor ->> 'did',
    e.actor ->> 'keyId',
    e.action,
    e.target,
    e."requestId",
    e.details,
    e."orgId"
  from
    jsonb_to_recordset(p_events) as e (
      "eventId" text,
      actor jsonb,
      action text,
      target text,
      "requestId" text,
      details jsonb,
      "orgId" text
    );
  return true;
end;
$$;
