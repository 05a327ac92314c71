/**
 * What happened: receipts by UTC day, idempotency keys, closed days, audit events. The ledger tables accept
 * inserts alone; triggers refuse everything else, whoever asks.
 *
 * A receipt belongs to the day of its ULID (protocol §12), so the receipt id itself is the partition key and
 * its primary key is unique across days. \`jws\` is high-entropy text: compressing it costs time and saves
 * nothing, hence EXTERNAL storage, and each partition keeps rows of up to 8,160 bytes in line.
 */
export const ledger = `
create function svc_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% on % is refused: the table is append-only', tg_op, tg_table_name
    using errcode = 'insufficient_privilege';
end
$$;

create table receipts (
  receipt_id text collate "C" not null,
  relying_party text collate "C" not null,
  principal text collate "C",
  grant_id text collate "C",
  agent text collate "C",
  key_id text collate "C" not null,
  decision text not null,
  reason text,
  evaluated_at timestamptz not null,
  action_type text,
  amount bigint,
  currency text,
  resource text,
  method text,
  jws text not null,
  primary key (receipt_id),
  constraint decision_with_reason check (case decision when 'ALLOW' then reason is null when 'DENY' then reason is not null else false end)
) partition by range (receipt_id);
alter table receipts alter column jws set storage external;
create index receipts_by_relying_party on receipts (relying_party, receipt_id desc);
create index receipts_by_principal on receipts (principal, receipt_id desc) where principal is not null;

create table idempotency_keys (
  relying_party text collate "C" not null,
  key text collate "C" not null,
  body_hash text not null,
  receipt_id text collate "C" not null,
  created_at timestamptz not null,
  primary key (relying_party, key)
);
create index idempotency_keys_by_age on idempotency_keys using brin (created_at);

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
  details jsonb not null
);
create index audit_events_by_time on audit_events (occurred_at desc, event_id desc);
create index audit_events_by_target on audit_events (target, event_id desc) where target is not null;
create index audit_events_by_actor on audit_events (actor_did, event_id desc) where actor_did is not null;

do $$
declare
  v_table text;
begin
  foreach v_table in array array['evidence', 'receipts', 'closed_days', 'audit_events'] loop
    execute format('create trigger refuse_change before update or delete on %I
      for each row execute function svc_refuse_change()', v_table);
    execute format('create trigger refuse_truncate before truncate on %I
      for each statement execute function svc_refuse_change()', v_table);
  end loop;
end
$$;
`;
