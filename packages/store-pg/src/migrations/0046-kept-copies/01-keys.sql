-- runs-from: 0005-roles
-- What was kept of a Principal's key that was retired or compromised named the key and did not have it: one that was also first seen in the span that a
-- restore lost was unknown, and the domain's document brought it back as an active one. As in 0004-fence, with the key itself.
create or replace function svc_kept_revoked(p_name text, p_version bigint)
returns text
language sql
stable
set search_path = public, pg_temp
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
            'public_key_multibase',
            k.public_key_multibase,
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

-- Those that were kept without it are kept again.
select svc_note('revoked', 'key:' || kid)
from principal_keys
where state != 'active';
