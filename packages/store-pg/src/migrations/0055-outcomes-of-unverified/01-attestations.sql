-- runs-from: 0005-roles
-- Anybody can have a denial that names a Principal which never proved its domain, and report a loss about it: statistics showed that under the Principal
-- (interface §DecisionStats: what was denied at T1 to T3 has none).
alter table attestations
-- Its Receipt is a DENY ISSUER_UNVERIFIED. False also of what an older version reported about a day that was cold by then.
add column issuer_unverified boolean not null default false;

-- The version before this migration does not set the column.
create function svc_mark_unverified()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  new.issuer_unverified := new.issuer_unverified
  or exists (select from receipts where receipt_id = new.receipt_id and reason = 'ISSUER_UNVERIFIED');
  return new;
end;
$$;
create trigger mark_unverified
before insert on attestations
for each row
execute function svc_mark_unverified();

do $$
declare
  v_reported record;
begin
  alter table attestations disable trigger refuse_change;
  -- One Receipt after the other, each in one partition.
  for v_reported in select distinct receipt_id from attestations where decision = 'DENY' loop
    if exists (
      select from receipts where receipt_id = v_reported.receipt_id and reason = 'ISSUER_UNVERIFIED'
    ) then
      update attestations set issuer_unverified = true where receipt_id = v_reported.receipt_id;
    end if;
  end loop;
  alter table attestations enable trigger refuse_change;
end
$$;
