-- runs-from: 0005-roles
-- Anybody can have a denial that names a Principal which never proved its domain, and report a loss about it: statistics showed that under the Principal
-- (interface §DecisionStats: what was denied at T1 to T3 has none).
alter table attestations
-- Its Receipt is a DENY ISSUER_UNVERIFIED. False also of what was reported before this migration about a day that was cold by then.
add column issuer_unverified boolean not null default false;

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
