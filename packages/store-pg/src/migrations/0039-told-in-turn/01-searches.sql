-- runs-from: 0005-roles
-- Whoever had verified a revoked Grant was looked for in the transaction that moves events into the log, a whole revocation at a time. Where that took
-- longer than a call has, it was undone and begun anew at each call: nobody's events moved any more, and none were forgotten. Now it is
-- done apart from that, in short transactions that keep how far they came, and Principals take turns.

-- Whoever moves events as in 0020-in-steps has ended.
select pg_advisory_xact_lock(11, 1);
drop function svc_tell_verifiers();
drop function svc_verifiers_of;
drop function svc_relying_parties_of;

-- A revocation that is in the log for those who have verified the Grant has the audience `verifiers <principal>` until all are told, then `verifiers told`.
update event_log
set audience = 'verifiers ' || (data::json ->> 'principal')
where audience = 'verifiers';

-- While relying parties are looked for that have verified what a Principal has revoked: how far.
create table verifier_searches (
  principal text collate "C" primary key,
  -- Of its revocations those up to this position of the log.
  up_to bigint not null,
  -- First those with decisions, in the order of their hashes, up to this one.
  asked_to bigint not null default -2147483649,
  -- Then those with decisions on cold days, in the order of both.
  cold_grant_id text collate "C" not null default '',
  cold_relying_party text collate "C" not null default ''
);

-- As in 0012-cold-days. Planned once: with a year of partitions the plan takes longer than the look.
create or replace function svc_has_verified(p_relying_parties text[], p_principal text, p_grant_id text)
returns boolean
language plpgsql
stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set search_path = public, pg_temp
as $$
declare
  v_from text := (
    select svc_lowest_receipt_id(allocated_at - interval '1 minute') from grants where id = p_grant_id
  );
begin
  return exists (
    select
    from
      unnest(p_relying_parties) as rp (did)
      -- In the order of receipts_by_principal: whatever is known of the tables when this is planned, no other index has it, by which all that is
      -- of the Grant or of the relying party would be read.
      cross join lateral (
        select r.principal, r.relying_party, r.grant_id
        from receipts as r
        where
          r.receipt_id >= v_from
          and hashtext(r.principal) = hashtext(p_principal)
          and hashtext(r.relying_party) = hashtext(rp.did)
          and hashtext(r.grant_id) between hashtext(p_grant_id) and hashtext(p_grant_id)
        order by hashtext(r.grant_id)
        offset 0
      ) as r
    where r.principal = p_principal and r.relying_party = rp.did and r.grant_id = p_grant_id
  )
  or exists (
    select
    from cold_verifications as c
    where
      c.grant_id = p_grant_id
      and c.principal = p_principal
      and c.relying_party = any (p_relying_parties)
      and c.latest_receipt_id >= v_from
  );
end;
$$;

-- Hash of the next relying party, in their order, with a decision on a Grant of the Principal since that Receipt.
create function svc_next_relying_party(p_principal text, p_from text, p_after bigint)
returns bigint
language plpgsql
stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_sort = off
set search_path = public, pg_temp
as $$
begin
  return (
    select hashtext(relying_party)
    from receipts
    where
      receipt_id >= p_from
      and hashtext(principal) = hashtext(p_principal)
      and hashtext(relying_party) > p_after
    order by hashtext(relying_party)
    limit 1
  );
end;
$$;

-- Hashes of the relying parties that want to hear of revocations, or whose orgs do; null where they are more than so many.
create function svc_revocation_listeners(p_limit integer)
returns integer[]
language sql
stable
set enable_seqscan = off
set search_path = public, pg_temp
as $$
  select
    case
      when count(*) <= p_limit then coalesce(array_agg(hash), '{}')
    end
  from
    (
      select hashtext(r.did) as hash
      from
        event_wants as w
        join relying_parties as r on r.did = substr(w.audience, 4)
      where w.type = 'grant.revoked' and w.audience >= 'rp ' and w.audience < 'rp!'
      union all
      select hashtext(r.did)
      from
        event_wants as w
        join relying_parties as r on r.org_id = substr(w.audience, 5)
      where w.type = 'grant.revoked' and w.audience >= 'org ' and w.audience < 'org!'
      limit p_limit + 1
    ) as l;
$$;
