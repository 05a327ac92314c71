-- runs-from: 0005-roles
-- Requests of relying parties that a Principal sign a Grant for one Action that was denied (protocol §16). No decision reads them.
create table approval_requests (
  request_id text collate "C" primary key check (request_id ~ '^arq_[0-7][0-9A-HJKMNP-TV-Z]{25}$'),
  relying_party text collate "C" not null,
  principal text collate "C" not null,
  -- The Grant under which it was denied.
  grant_id text collate "C" not null,
  agent text collate "C" not null,
  -- As JCS, and its SHA-256: what is asked for again is told by it.
  action text not null,
  action_hash text collate "C" not null,
  state text not null default 'pending' check (state in ('pending', 'approved', 'denied', 'expired', 'cancelled')),
  requested_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  -- The Principal's, of a denial.
  reason text,
  -- The Grant that the Principal has signed. Its text is forgotten once it has expired.
  approved_grant_id text collate "C" unique,
  approved_grant text,
  approved_until timestamptz,
  check (expires_at > requested_at and expires_at <= requested_at + interval '24 hours'),
  check ((state = 'pending') = (decided_at is null)),
  -- What has expired is never approved.
  check (state != 'approved' or decided_at < expires_at),
  check ((state = 'approved') = (num_nonnulls(approved_grant_id, approved_until) = 2)),
  check (approved_grant is null or state = 'approved'),
  check (reason is null or state = 'denied')
);
-- The same thing is asked for once at a time; also counts what is open.
create unique index approval_requests_open on approval_requests
  (principal, relying_party, agent, grant_id, action_hash) where state = 'pending';
create index approval_requests_open_of_rp on approval_requests (relying_party) where state = 'pending';
create index approval_requests_due on approval_requests (expires_at) where state = 'pending';
create index approval_requests_of_principal on approval_requests (principal, request_id);
create index approval_requests_lately on approval_requests (principal, requested_at);
create index approval_requests_old on approval_requests (requested_at);
create index approval_requests_texts on approval_requests (approved_until) where approved_grant is not null;

-- The denials that a request stands for.
create table approval_receipts (
  receipt_id text collate "C" primary key,
  request_id text collate "C" not null references approval_requests (request_id) on delete cascade
);
create index approval_receipts_of_request on approval_receipts (request_id);

-- A request is decided once, whoever writes, and what was asked for stays.
create function svc_refuse_second_decision()
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
      new.expires_at
    ) is distinct from
    (
      old.request_id,
      old.relying_party,
      old.principal,
      old.grant_id,
      old.agent,
      old.action,
      old.action_hash,
      old.requested_at,
      old.expires_at
    )
    or (
      old.state != 'pending'
      and (
        (new.state, new.decided_at, new.reason, new.approved_grant_id, new.approved_until) is distinct from
        (old.state, old.decided_at, old.reason, old.approved_grant_id, old.approved_until)
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
create trigger refuse_second_decision
before update on approval_requests
for each row
execute function svc_refuse_second_decision();

-- Of one Principal and of one relying party requests are made one after another, so that what is open can be counted.
create function svc_lock_approvals(p_principal text, p_relying_party text)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(12, hashtext(p_relying_party));
  perform pg_advisory_xact_lock(13, hashtext(p_principal));
end;
$$;

-- Whoever has a name after its release is somebody else.
create function svc_forget_approvals()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  if tg_table_name = 'principals' then
    delete from approval_requests where principal = old.did;
  else
    delete from approval_requests where relying_party = old.did;
  end if;
  return null;
end;
$$;
create trigger forget_approvals
after delete on principals
for each row
execute function svc_forget_approvals();
create trigger forget_approvals
after delete on relying_parties
for each row
execute function svc_forget_approvals();
