-- runs-from: 0005-roles
-- 0.3.0 transfers a DID without ending what its former holder hears of it and was asked to approve: the webhook that an
-- org made on a node of this version heard the decisions of the next one. Every version audits a transfer in its
-- transaction; whoever joins an org as itself keeps what it has.
create function svc_forget_transferred()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  if new.action = 'relying_party.update' then
    perform svc_forget_audience('rp ' || new.target);
  else
    perform svc_forget_audience('principal ' || new.target);
    update approval_requests
    set
      state = 'expired',
      decided_at = svc_now()
    where principal = new.target and state = 'pending';
  end if;
  return null;
end;
$$;
create trigger forget_transferred
after insert on audit_events
for each row
when (new.action in ('principal.verify', 'relying_party.update') and new.details ->> 'claim' = 'transferred')
execute function svc_forget_transferred();
