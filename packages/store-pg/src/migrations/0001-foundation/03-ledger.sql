-- What happened: receipts by UTC day, idempotency keys, closed days, audit events. The ledger tables accept
-- inserts alone; triggers refuse everything else, whoever asks, but for what retention clears (retention.sql).
--
-- A receipt belongs to the day of its ULID (protocol §12), so the receipt id itself is the partition key and
-- its primary key is unique across days. `jws` is high-entropy text: compressing it costs time and saves
-- nothing, hence EXTERNAL storage, and each partition keeps rows of up to 8,160 bytes in line.

create function svc_refuse_change()
returns trigger
language plpgsql
as $$
begin
  raise exception '% on % is refused: the table is append-only', tg_op, tg_table_name
    using errcode = 'insufficient_privilege';
end;
$$;

create table receipts (
  receipt_id text collate "C" not null,
  relying_party text collate "C" not null,
  principal text collate "C",
  grant_id text collate "C",
  agent text collate "C",
  -- Null: recorded before keys were tracked.
  key_id text collate "C",
  decision text not null,
  reason text,
  evaluated_at timestamptz not null,
  action_type text,
  amount bigint,
  currency text,
  resource text,
  method text,
  jws text not null,
  -- A decision of an org's relying party, and not about the sandbox: it counts towards the org's cap (entitlements.sql).
  production_check boolean not null default false,
  -- SHA-256 of `jws` as it was when it came in: the leaf of the day's content tree.
  content_hash bytea not null check (length(content_hash) = 32),
  -- The hash rides along, so that a day's trees are built from the index alone.
  primary key (receipt_id) include (content_hash),
  constraint decision_with_reason
    check (
      case decision
        when 'ALLOW' then reason is null
        when 'DENY' then reason is not null
        else false
      end
    )
)
partition by range (receipt_id);
alter table receipts alter column jws set storage external;
create index receipts_by_relying_party on receipts (relying_party, receipt_id desc, hashtext(key_id))
include (production_check);
-- Each of these costs every decision, so they are few and narrow: hashes of names, equal ones stored once. A search knows
-- from the sums of usage.sql which days hold what it looks for (decision-search/).
-- Not a partial one: of those the planner does not know how common a hash is.
create index receipts_by_principal on receipts (
  hashtext(principal),
  hashtext(relying_party),
  hashtext(grant_id)
);
-- A Grant is authenticated before its issuer is known to be verified.
create index receipts_by_unverified_grant on receipts (hashtext(grant_id))
where principal is null and grant_id is not null;
create index receipts_by_reason on receipts (reason, relying_party) where reason is not null;

create table idempotency_keys (
  relying_party text collate "C" not null,
  key text collate "C" not null,
  body_hash text not null,
  receipt_id text collate "C" not null,
  created_at timestamptz not null,
  primary key (relying_party, key)
);

-- A day listed here takes no more receipts. It is inserted under the day's exclusive lock.
create table closed_days (
  day date primary key,
  closed_at timestamptz not null default svc_now()
);

create table audit_events (
  event_id text collate "C" primary key,
  occurred_at timestamptz not null default clock_timestamp(),
  actor_kind text not null check (actor_kind in ('admin', 'principal', 'rp', 'org', 'system')),
  actor_did text collate "C",
  actor_key_id text collate "C",
  action text not null,
  target text collate "C",
  request_id text,
  -- The org whose member it was done to, at that time.
  org_id text collate "C",
  details jsonb not null
);
create index audit_events_by_time on audit_events (occurred_at desc, event_id desc);
create index audit_events_by_target on audit_events (target, event_id desc) where target is not null;
create index audit_events_by_org on audit_events (org_id, event_id desc) where org_id is not null;
create index audit_events_by_actor on audit_events (actor_did, event_id desc) where actor_did is not null;

do $$
declare
  v_table text;
begin
  foreach v_table in array array['allowed_grants', 'evidence', 'receipts', 'closed_days', 'audit_events'] loop
    -- Of a receipt one change is let through, by a trigger of its own (retention.sql).
    execute format('create trigger refuse_change before %s on %I
      for each row execute function svc_refuse_change()',
      case v_table when 'receipts' then 'delete' else 'update or delete' end, v_table);
    execute format('create trigger refuse_truncate before truncate on %I
      for each statement execute function svc_refuse_change()', v_table);
  end loop;
end
$$;
