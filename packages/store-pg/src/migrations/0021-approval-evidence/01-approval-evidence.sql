-- runs-from: 0005-roles
-- What a Principal checks a request by, without the service's word: the denial that it began with, and the Proof that its Agent signed
-- (protocol §16). Null where a version before this one has recorded the request: nobody approves that.
alter table approval_requests
add column receipt_id text collate "C",
add column proof text,
add check ((receipt_id is null) = (proof is null));

-- A request is decided once, whoever writes, and what was asked for stays.
create or replace function svc_refuse_second_decision()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  if
    (
      new.request_id,
      new.relying_party,
      new.principal,
      new.grant_id,
      new.agent,
      new.action,
      new.action_hash,
      new.requested_at,
      new.expires_at,
      new.receipt_id,
      new.proof
    ) is distinct from (
      old.request_id,
      old.relying_party,
      old.principal,
      old.grant_id,
      old.agent,
      old.action,
      old.action_hash,
      old.requested_at,
      old.expires_at,
      old.receipt_id,
      old.proof
    )
    or (
      old.state != 'pending'
      and (
        (new.state, new.decided_at, new.reason, new.approved_grant_id, new.approved_until) is distinct from (
          old.state,
          old.decided_at,
          old.reason,
          old.approved_grant_id,
          old.approved_until
        )
        or (new.approved_grant is not null and new.approved_grant is distinct from old.approved_grant)
      )
    )
  then
    raise exception 'the request % is decided, or what it asks for would change', old.request_id
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end;
$$;
