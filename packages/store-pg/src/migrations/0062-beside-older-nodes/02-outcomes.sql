-- Versions from before 0055 report about cold days too, whose Receipts are not in the database: the loss of a denial
-- ISSUER_UNVERIFIED stood in the statistics of the Principal that it names for good.
alter table attestations
alter column issuer_unverified drop default;

-- Every later version sets the column.
create or replace function svc_mark_unverified()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  if new.issuer_unverified is not null then
    return new;
  end if;
  select coalesce(reason = 'ISSUER_UNVERIFIED', false)
  into new.issuer_unverified
  from receipts
  where receipt_id = new.receipt_id;
  if not found then
    if new.decision != 'ALLOW' then
      raise exception 'the Receipt % is not in the database: to be repeated at a node of a later version', new.receipt_id
        using errcode = 'object_not_in_prerequisite_state';
    end if;
    new.issuer_unverified := false;
  end if;
  return new;
end;
$$;
