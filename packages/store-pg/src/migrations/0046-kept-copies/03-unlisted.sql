-- A revocation whose list nothing signs takes effect at once, and was copied beside the fence only with the list: a restore without logs gave the
-- Grant back. So it is noted apart, a note for each list and statement, however many Grants that revokes: `unlisted:<url> <version of the list>`.
-- A list that has the bits of all these Grants when they are recorded is noted by its change.
--
-- Whoever has the lock (14) of the list writes the note of that name. Others make one of their own, so that no revocation waits for another's
-- commit here: they may hold each other's lists.
create function svc_note_unlisted()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  v_url text;
  v_bits bytea;
  v_version bigint;
begin
  for v_url in select distinct status_list_url
  from changed
  where revocation_recorded_at is not null and revoked_at is null
  order by status_list_url loop
    -- Read once, and not anew for each Grant.
    select bits || ''::bytea, version into v_bits, v_version from status_lists where url = v_url;
    -- Entry 0 is the highest bit of the first byte, which get_bit counts from the lowest.
    continue when
      not exists (
        select
        from changed
        where
          status_list_url = v_url
          and revocation_recorded_at is not null
          and revoked_at is null
          and get_bit(v_bits, status_index + 7 - 2 * (status_index % 8)) = 0
      );
    perform
      svc_note(
        'revoked',
        concat_ws(
          ' ',
          'unlisted:' || v_url,
          v_version,
          case
            when not pg_try_advisory_xact_lock(14, hashtext(v_url)) then pg_current_xact_id()
          end
        )
      );
  end loop;
  return null;
end;
$$;

create trigger note_unlisted
after update on grants
referencing new table as changed
for each statement
execute function svc_note_unlisted();

-- The entries of Grants of the list that are revoked and not known to be revoked everywhere, as the bits of a list. Null: there are none.
create function svc_kept_unlisted(p_url text, p_version bigint)
returns text
language sql
stable
set search_path = public, pg_temp
as $$
  select
    json_build_object(
      'url',
      l.url,
      'bits',
      (
        select
          translate(
            encode(
              string_agg(set_byte('\x00'::bytea, 0, coalesce(e.bits, 0)), ''::bytea order by b.byte),
              'base64'
            ),
            e'\n',
            ''
          )
        from
          generate_series(0, l.size_bits / 8 - 1) as b (byte)
          left join (
            select g.status_index / 8 as byte, bit_or(128 >> (g.status_index % 8)) as bits
            from grants as g
            where
              g.status_list_url = p_url
              and g.revocation_recorded_at is not null
              and g.revoked_at is null
            group by 1
          ) as e on e.byte = b.byte
      ),
      'version',
      svc_note_version(p_version)
    )::text
  from status_lists as l
  where
    l.url = p_url
    and exists (
      select
      from grants as g
      where g.status_list_url = p_url and g.revocation_recorded_at is not null and g.revoked_at is null
    );
$$;

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
        when p_name like 'unlisted:%' then svc_kept_unlisted(
          split_part(substr(p_name, 10), ' ', 1),
          p_version
        )
        else svc_kept_revoked(p_name, p_version)
      end
    end;
$$;

-- Those of before.
select svc_note('revoked', concat_ws(' ', 'unlisted:' || l.url, l.version))
from status_lists as l
where
  l.url in (
    select status_list_url from grants where revocation_recorded_at is not null and revoked_at is null
  );
