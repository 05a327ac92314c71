-- A request and what becomes of it are told in the transaction that records them: the first to whoever is asked, the second to whoever asked.
create function svc_emit_approval()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  v_is_asked boolean := new.state = 'pending';
begin
  perform
    svc_emit_event(
      case
        when v_is_asked then 'approval.requested'
        else 'approval.decided'
      end,
      new.request_id,
      case
        when v_is_asked then new.principal
      end,
      case
        when not v_is_asked then new.relying_party
      end,
      coalesce(new.decided_at, new.requested_at),
      json_build_object(
        'request_id',
        new.request_id,
        'status',
        new.state,
        'relying_party',
        new.relying_party,
        'principal',
        new.principal,
        'grant_id',
        new.grant_id,
        'agent',
        new.agent
      )
    );
  return null;
end;
$$;
create trigger emit_first_event
after insert on approval_requests
for each row
when (new.state = 'pending')
execute function svc_emit_approval();
-- Who cancels knows it.
create trigger emit_event
after update of state on approval_requests
for each row
when (old.state = 'pending' and new.state in ('approved', 'denied', 'expired'))
execute function svc_emit_approval();
