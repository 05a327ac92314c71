-- runs-from: 0005-roles
-- The audit log is kept for ever, and tenants write to it. Since when a DID is its holder's, which outcome records, requests for approval and lists ask, was
-- looked for among all events about it: a Principal that had its domain verified often enough kept relying parties from reporting outcomes.
-- In the order in which those who write take them: who waits for one of them has not built for nothing, and nobody waits for both.
do $$
begin
  lock table grants, audit_events in share mode;
end;
$$;

create index if not exists audit_events_transfers on audit_events (target, action, occurred_at)
where details ->> 'claim' = 'transferred';
-- What was seldom done was looked for among all that was ever done.
create index if not exists audit_events_by_action on audit_events (action, event_id desc);
create index if not exists audit_events_by_actor_and_action on audit_events (actor_did, action, event_id desc)
where actor_did is not null;
create index if not exists audit_events_by_org_and_action on audit_events (org_id, action, event_id desc)
where org_id is not null;
create index if not exists grants_active on grants (principal, id desc) where revocation_recorded_at is null;
create index if not exists grants_revoked on grants (principal, id desc)
where revocation_recorded_at is not null;
