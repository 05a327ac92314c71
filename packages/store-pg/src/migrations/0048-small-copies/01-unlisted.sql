-- runs-from: 0005-roles
-- As in 0046-kept-copies, by the bytes that have a bit alone: a row for each byte of each list made the statement that lists a hundred such notes
-- take longer than it may, and with it nothing else was copied while nothing signed lists.
create or replace function svc_kept_unlisted(p_url text, p_version bigint)
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
              decode(
                rpad(
                  string_agg(repeat('00', b.byte - b.byte_before - 1) || lpad(to_hex(b.bits), 2, '0'), '' order by b.byte),
                  l.size_bits / 4,
                  '0'
                ),
                'hex'
              ),
              'base64'
            ),
            e'\n',
            ''
          )
        from
          (
            select
              e.byte,
              e.bits,
              lag(e.byte, 1, -1) over (order by e.byte) as byte_before
            from
              (
                select g.status_index / 8 as byte, bit_or(128 >> (g.status_index % 8)) as bits
                from grants as g
                where
                  g.status_list_url = p_url
                  and g.revocation_recorded_at is not null
                  and g.revoked_at is null
                group by 1
              ) as e
          ) as b
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
