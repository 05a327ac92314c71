-- Generated from a migrated database; `npx vitest run --project store-pg -u` renews it.

create table agents (
  principal text collate "C" not null,
  did text collate "C" not null,
  created_at timestamp with time zone not null default svc_now(),
  disabled_at timestamp with time zone
);
create table allowed_grants (
  grant_id text collate "C" not null,
  grant_hash text collate "C" not null
);
create table api_keys (
  key_hash bytea not null,
  key_id text collate "C" not null,
  role text not null,
  subject text collate "C" not null,
  label text,
  created_at timestamp with time zone not null default svc_now(),
  revoked_at timestamp with time zone
);
create table approval_receipts (
  receipt_id text collate "C" not null,
  request_id text collate "C" not null
);
create table approval_requests (
  request_id text collate "C" not null,
  relying_party text collate "C" not null,
  principal text collate "C" not null,
  grant_id text collate "C" not null,
  agent text collate "C" not null,
  action text not null,
  action_hash text collate "C" not null,
  state text not null default 'pending'::text,
  requested_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  decided_at timestamp with time zone,
  reason text,
  approved_grant_id text collate "C",
  approved_grant text,
  approved_until timestamp with time zone,
  receipt_id text collate "C",
  proof text
);
create table attestations (
  attestation_id text collate "C" not null,
  receipt_id text collate "C" not null,
  ordinal smallint not null,
  relying_party text collate "C" not null,
  principal text collate "C",
  evaluated_at timestamp with time zone not null,
  decision text not null,
  type text not null,
  occurred_at text not null,
  recorded_at timestamp with time zone not null default svc_now(),
  evidence_ref text,
  note text,
  correction_of text collate "C",
  reporter_signature text,
  resolution text,
  loss_amount bigint,
  currency text collate "C",
  consumption_cause text,
  consumption_version bigint,
  issuer_unverified boolean not null
);
create table audit_events (
  event_id text collate "C" not null,
  occurred_at timestamp with time zone not null default clock_timestamp(),
  actor_kind text not null,
  actor_did text collate "C",
  actor_key_id text collate "C",
  action text not null,
  target text collate "C",
  request_id text,
  org_id text collate "C",
  details jsonb not null
);
create table checkpoints (
  day date not null,
  tree_size bigint not null,
  root text not null,
  previous_day date,
  previous_root text,
  first_receipt_id text collate "C",
  last_receipt_id text collate "C",
  kid text not null,
  jws text not null,
  hash text not null,
  content_root text not null,
  created_at timestamp with time zone not null default svc_now()
);
create table clock_mark (
  is_only_row boolean not null default true,
  marked_at timestamp with time zone,
  resets bigint not null default 0
);
create table closed_days (
  day date not null,
  closed_at timestamp with time zone not null default svc_now()
);
create table cold_days (
  day date not null,
  state text not null,
  manifest text,
  manifest_hash text,
  problem text,
  recorded_at timestamp with time zone not null default svc_now(),
  detached_at timestamp with time zone,
  dropped_at timestamp with time zone,
  kept_before text collate "C",
  proven_at timestamp with time zone,
  again_at timestamp with time zone,
  cleared_at timestamp with time zone,
  cleared_before text collate "C"
);
create table cold_manifests (
  manifest_hash text not null,
  day date not null,
  manifest text not null,
  recorded_at timestamp with time zone not null,
  replaced_at timestamp with time zone not null default svc_now(),
  purged_at timestamp with time zone
);
create table cold_verifications (
  grant_id text collate "C" not null,
  principal text collate "C" not null,
  relying_party text collate "C" not null,
  latest_receipt_id text collate "C" not null
);
create table conformance_runs (
  run_id text collate "C" not null,
  account text collate "C" not null,
  key_id text collate "C" not null,
  endpoint text not null,
  status text not null default 'running'::text,
  created_at timestamp with time zone not null default svc_now(),
  finished_at timestamp with time zone,
  requests integer not null default 0,
  vectors_sha256 text not null,
  conformance_version text not null,
  error text,
  report text,
  lease text,
  leased_until timestamp with time zone,
  org text collate "C",
  is_newcomer boolean not null default false
);
create table consumption_balances (
  grant_id text collate "C" not null,
  key text collate "C" not null,
  spent_total bigint not null,
  spent_in_period bigint not null,
  period_start timestamp with time zone,
  uses_spent bigint not null,
  limit_total bigint,
  limit_per_period bigint,
  limit_uses bigint,
  updated_at timestamp with time zone not null
);
create table consumption_events (
  grant_id text collate "C" not null,
  version bigint not null,
  key text collate "C" not null,
  delta_total bigint not null,
  delta_period bigint not null,
  delta_uses bigint not null,
  period_start timestamp with time zone,
  cause text not null,
  cause_id text collate "C" not null,
  receipt_id text collate "C" not null,
  recorded_at timestamp with time zone not null
);
create table content_checks (
  day date not null,
  checked_at timestamp with time zone not null,
  is_intact boolean not null
);
create table contesting_claims (
  did text collate "C" not null,
  kind text not null,
  org_id text collate "C" not null,
  token text not null,
  expires_at timestamp with time zone not null
);
create table deployment (
  is_only_row boolean not null default true,
  first_day date not null default ((clock_timestamp() AT TIME ZONE 'UTC'::text))::date
);
create table entitlements (
  org_id text collate "C" not null,
  production text not null,
  production_until timestamp with time zone,
  check_cap bigint,
  cap_since timestamp with time zone,
  reason text not null,
  as_of timestamp with time zone not null,
  updated_at timestamp with time zone not null default svc_now(),
  version bigint not null default 1,
  checks_since_cap bigint
);
create table event_behind (
  subscription_id text collate "C" not null,
  up_to bigint not null,
  line text collate "C" not null default 'news'::text,
  turn bigint not null
);
create table event_deliveries (
  subscription_id text collate "C" not null,
  position bigint not null,
  event_id text collate "C" not null,
  type text not null,
  order_key text collate "C",
  state text not null default 'waiting'::text,
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone not null default svc_now(),
  taken_until timestamp with time zone,
  last_attempt_at timestamp with time zone,
  last_status integer,
  last_problem text,
  taken_at timestamp with time zone,
  is_next boolean not null default true,
  scheduled_at timestamp with time zone,
  early_attempts integer not null default 0
);
create table event_due (
  subscription_id text collate "C" not null,
  fails boolean not null,
  whose integer not null,
  look_at timestamp with time zone not null,
  noted bigint not null
);
create table event_everyone (
  is_only_row boolean not null default true,
  up_to bigint not null,
  noted_to text collate "C"
);
create table event_floors (
  audience text collate "C" not null,
  position bigint not null
);
create table event_log (
  position bigint not null,
  event_id text collate "C" not null,
  audience text collate "C" not null,
  type text collate "C" not null,
  order_key text collate "C",
  occurred_at timestamp with time zone not null,
  percent integer,
  data text not null,
  logged_at timestamp with time zone not null default svc_now()
);
create table event_outbox (
  seq bigint not null,
  xid xid8 not null default pg_current_xact_id(),
  event_id text collate "C" not null,
  audience text collate "C" not null,
  type text collate "C" not null,
  order_key text collate "C",
  occurred_at timestamp with time zone not null,
  percent integer,
  data text not null
);
create table event_secrets (
  subscription_id text collate "C" not null,
  number integer not null,
  root text not null,
  created_at timestamp with time zone not null default svc_now(),
  ends_at timestamp with time zone
);
create table event_streams (
  subscription_id text collate "C" not null,
  requested text[] not null,
  reason text,
  keeps_nothing boolean not null default false,
  verified_at timestamp with time zone,
  authorization_root text,
  authorization_sealed text
);
create table event_subscriptions (
  subscription_id text collate "C" not null,
  audience text collate "C" not null,
  url text not null,
  description text,
  types text[] not null,
  budget_low_percent integer not null,
  created_at timestamp with time zone not null default svc_now(),
  created_by text collate "C",
  read_to bigint not null,
  failing_since timestamp with time zone,
  failures integer not null default 0,
  not_before timestamp with time zone not null default svc_now(),
  disabled_at timestamp with time zone,
  disabled_because text,
  last_problem text,
  pings integer not null default 0,
  pings_from timestamp with time zone,
  replays integer not null default 0,
  replays_from timestamp with time zone,
  method text not null default 'webhook'::text,
  failing_days integer not null default 0,
  failing_day_at timestamp with time zone not null default svc_now(),
  asked_until timestamp with time zone
);
create table event_wants (
  type text collate "C" not null,
  audience text collate "C" not null,
  subscription_id text collate "C" not null,
  budget_low_percent integer not null
);
create table evidence (
  hash text collate "C" not null,
  content_type text not null,
  body bytea not null,
  created_at timestamp with time zone not null default svc_now()
);
create table evidence_naming (
  is_only_row boolean not null default true,
  named_before text collate "C" not null default ''::text
);
create table fence_beats (
  seq bigint not null,
  nonce text collate "C" not null,
  at timestamp with time zone not null
);
create table fence_notes (
  kind text not null,
  name text collate "C" not null,
  version bigint not null,
  seq bigint not null,
  noted_at timestamp with time zone not null default clock_timestamp()
);
create table fence_quarantine (
  is_only_row boolean not null default true,
  quarantined_until timestamp with time zone not null default '-infinity'::timestamp with time zone
);
create table grants (
  id text collate "C" not null,
  principal text collate "C" not null,
  agent text collate "C" not null,
  status_list_url text collate "C" not null,
  status_index integer not null,
  allocated_at timestamp with time zone not null default svc_now(),
  revocation_recorded_at timestamp with time zone,
  revoked_at timestamp with time zone,
  withheld_by integer
);
create table idempotency_keys (
  relying_party text collate "C" not null,
  key text collate "C" not null,
  body_hash text not null,
  receipt_id text collate "C" not null,
  created_at timestamp with time zone not null
);
create table ledger_count (
  is_only_row boolean not null default true,
  counted_before text collate "C" not null
);
create table ledger_seal (
  is_only_row boolean not null default true,
  sealed_until timestamp with time zone not null,
  sealed_before text collate "C" not null generated always as (svc_lowest_receipt_id(sealed_until)) stored,
  is_paused boolean not null default false
);
create table loose_evidence (
  hash text collate "C" not null,
  unused_since timestamp with time zone
);
create table merkle_tiles (
  day date not null,
  level smallint not null,
  index integer not null,
  hashes bytea not null,
  first_receipt_ids text[] collate "C"
);
create table migrations (
  name text collate "C" not null,
  sha256 text not null,
  runs_from text collate "C" not null,
  ran_at timestamp with time zone not null default clock_timestamp()
);
create table orgs (
  org_id text collate "C" not null,
  slug text collate "C" not null,
  name text not null,
  created_at timestamp with time zone not null default svc_now()
);
create table pauses (
  scope text not null,
  owner text collate "C" not null,
  subject text collate "C" not null,
  is_paused boolean not null,
  actor_kind text not null,
  actor_did text,
  actor_key_id text,
  reason text,
  changed_at timestamp with time zone not null,
  visible_at timestamp with time zone,
  seq bigint not null
);
create table principal_keys (
  kid text collate "C" not null,
  principal text collate "C" not null,
  public_key_multibase text not null,
  state text not null default 'active'::text,
  since timestamp with time zone not null default svc_now(),
  created_at timestamp with time zone not null default svc_now(),
  withdrawn_at timestamp with time zone,
  compromise_visible_at timestamp with time zone
);
create table principals (
  did text collate "C" not null,
  kind text not null,
  domain text collate "C" not null,
  slug text collate "C",
  verification_state text not null,
  verified_since timestamp with time zone,
  last_checked_at timestamp with time zone,
  verification_token text not null,
  org_id text collate "C",
  may_be_named boolean not null,
  created_at timestamp with time zone not null default svc_now(),
  version bigint not null default 1,
  document_hash text collate "C",
  document_resolved_at timestamp with time zone,
  last_proven_at timestamp with time zone,
  claim_expires_at timestamp with time zone,
  document_changes_since timestamp with time zone,
  document_changes integer not null default 0,
  has_pauses boolean not null default false
);
create table receipts (
  receipt_id text collate "C" not null,
  relying_party text collate "C" not null,
  principal text collate "C",
  grant_id text collate "C",
  agent text collate "C",
  key_id text collate "C",
  decision text not null,
  reason text,
  evaluated_at timestamp with time zone not null,
  action_type text,
  amount bigint,
  currency text,
  resource text,
  method text,
  jws text not null,
  production_check boolean not null default false,
  content_hash bytea not null
) partition by RANGE (receipt_id);
create table released_status_lists (
  url text collate "C" not null,
  principal text collate "C" not null,
  domain text collate "C" not null,
  number integer not null,
  released_at timestamp with time zone not null default svc_now()
);
create table relying_parties (
  did text collate "C" not null,
  kind text not null,
  slug text collate "C",
  name text not null,
  proof_window_seconds integer not null,
  verify_rate_limit_per_minute integer not null,
  profile text not null,
  org_id text collate "C",
  created_at timestamp with time zone not null default svc_now(),
  version bigint not null default 1,
  claim_expires_at timestamp with time zone,
  verification_token text,
  is_paused boolean not null default false
);
create table replica_marks (
  is_only_row boolean not null default true,
  marks text[] not null default '{}'::text[],
  server timestamp with time zone not null default '-infinity'::timestamp with time zone,
  marked_at timestamp with time zone not null default '-infinity'::timestamp with time zone
);
create table reserved_names (
  name text collate "C" not null,
  epoch integer not null
);
create table restores (
  epoch integer not null,
  lost_from timestamp with time zone not null,
  lost_until timestamp with time zone not null,
  quarantined_until timestamp with time zone not null,
  reinstated_days date[] not null,
  least_list_number integer not null,
  statement text not null,
  restored_at timestamp with time zone not null default svc_now()
);
create table retention (
  only_row boolean not null default true,
  actions_cleared_before text collate "C" not null default ''::text
);
create table retracted_checkpoints (
  hash text collate "C" not null,
  day date not null,
  kid text not null,
  jws text not null,
  retracted_at timestamp with time zone not null default svc_now()
);
create table sandbox_days (
  day date not null,
  calls integer not null
);
create table self_serve_days (
  day date not null,
  sign_ups integer not null
);
create table self_serve_tenants (
  org_id text collate "C" not null,
  relying_party text collate "C" not null,
  admin_email text,
  created_at timestamp with time zone not null default svc_now(),
  changes integer not null default 0
);
create table served_lists (
  url text collate "C" not null,
  kept_at timestamp with time zone not null
);
create table service_dids (
  number integer not null,
  did text collate "C" not null,
  since timestamp with time zone not null default svc_now()
);
create table service_key_ends (
  kid text collate "C" not null,
  state text not null,
  ended_at timestamp with time zone not null default svc_now()
);
create table service_keys (
  kid text collate "C" not null,
  public_key text collate "C" not null,
  first_seen_at timestamp with time zone not null default svc_now()
);
create table spent_proofs (
  grant_id text collate "C" not null,
  jti text collate "C" not null,
  expires_at timestamp with time zone not null
);
create table status_lists (
  url text collate "C" not null,
  principal text collate "C" not null,
  domain text collate "C" not null,
  number integer not null,
  size_bits integer not null,
  next_ordinal integer not null default 0,
  permutation_key bytea not null,
  bits bytea not null,
  credential text not null,
  credential_hash text collate "C" not null,
  valid_from timestamp with time zone not null,
  version bigint not null default 1,
  is_closed boolean not null default false
);
create table usage_by_day (
  day date not null,
  reason text,
  verifies bigint not null
);
create table usage_by_grant (
  grant_id text collate "C" not null,
  principal text collate "C",
  days datemultirange not null
);
create table usage_by_key (
  day date not null,
  relying_party text collate "C" not null,
  key_id text collate "C",
  reason text,
  verifies bigint not null,
  production_checks bigint not null
);
create table usage_by_principal (
  day date not null,
  principal text collate "C",
  reason text,
  verifies bigint not null
);
create table usage_counts (
  day date not null,
  relying_party text collate "C" not null,
  principal text collate "C",
  key_id text collate "C",
  reason text,
  verifies bigint not null
);
create table usage_monthly (
  month date not null,
  relying_party text collate "C" not null,
  principal text collate "C",
  reason text,
  verifies bigint not null
);
create table usage_monthly_by_principal (
  month date not null,
  principal text collate "C",
  reason text,
  verifies bigint not null
);
create table verifier_searches (
  principal text collate "C" not null,
  up_to bigint not null,
  asked_to bigint not null default '-2147483649'::bigint,
  cold_grant_id text collate "C" not null default ''::text,
  cold_relying_party text collate "C" not null default ''::text
);

create type svc_decision as (
  ordinal integer,
  receipt_id text,
  decision text,
  reason text,
  evaluated_at_ms bigint,
  relying_party text,
  relying_party_version bigint,
  key_hash text,
  key_id text,
  used_principal text,
  used_principal_version bigint,
  used_grant_id text,
  principal text,
  grant_id text,
  agent text,
  action_type text,
  amount bigint,
  currency text,
  resource text,
  method text,
  spend_grant_id text,
  spend_jti text,
  spend_expires_at_ms bigint,
  binds_grant_hash text,
  idempotency_key text,
  idempotency_body_hash text,
  org_id text,
  entitlement_version bigint,
  is_capped boolean,
  is_enforced boolean,
  balances_grant_id text,
  balances_version bigint,
  budget_key text,
  delta_total bigint,
  delta_period bigint,
  delta_uses bigint,
  period_start_ms bigint,
  limit_total bigint,
  limit_per_period bigint,
  limit_uses bigint
);

alter table agents add constraint agents_pkey PRIMARY KEY (principal, did);
alter table agents add constraint agents_principal_fkey FOREIGN KEY (principal) REFERENCES principals(did);
alter table allowed_grants add constraint allowed_grants_pkey PRIMARY KEY (grant_id);
alter table api_keys add constraint api_keys_key_hash_check CHECK ((length(key_hash) = 32));
alter table api_keys add constraint api_keys_key_id_key UNIQUE (key_id);
alter table api_keys add constraint api_keys_pkey PRIMARY KEY (key_hash);
alter table api_keys add constraint api_keys_role_check CHECK ((role = ANY (ARRAY['principal'::text, 'rp'::text, 'org:read'::text, 'org:admin'::text, 'observer'::text])));
alter table approval_receipts add constraint approval_receipts_pkey PRIMARY KEY (receipt_id);
alter table approval_receipts add constraint approval_receipts_request_id_fkey FOREIGN KEY (request_id) REFERENCES approval_requests(request_id) ON DELETE CASCADE;
alter table approval_requests add constraint approval_requests_approved_grant_id_key UNIQUE (approved_grant_id);
alter table approval_requests add constraint approval_requests_check CHECK (((expires_at > requested_at) AND (expires_at <= (requested_at + '24:00:00'::interval))));
alter table approval_requests add constraint approval_requests_check1 CHECK (((state = 'pending'::text) = (decided_at IS NULL)));
alter table approval_requests add constraint approval_requests_check2 CHECK (((state <> 'approved'::text) OR (decided_at < expires_at)));
alter table approval_requests add constraint approval_requests_check3 CHECK (((state = 'approved'::text) = (num_nonnulls(approved_grant_id, approved_until) = 2)));
alter table approval_requests add constraint approval_requests_check4 CHECK (((approved_grant IS NULL) OR (state = 'approved'::text)));
alter table approval_requests add constraint approval_requests_check5 CHECK (((reason IS NULL) OR (state = 'denied'::text)));
alter table approval_requests add constraint approval_requests_check6 CHECK (((receipt_id IS NULL) = (proof IS NULL)));
alter table approval_requests add constraint approval_requests_pkey PRIMARY KEY (request_id);
alter table approval_requests add constraint approval_requests_request_id_check CHECK ((request_id ~ '^arq_[0-7][0-9A-HJKMNP-TV-Z]{25}$'::text));
alter table approval_requests add constraint approval_requests_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'denied'::text, 'expired'::text, 'cancelled'::text])));
alter table attestations add constraint attestations_check CHECK (((type <> 'dispute_resolved'::text) OR (resolution IS NOT NULL)));
alter table attestations add constraint attestations_check1 CHECK (((type <> 'loss_reported'::text) OR ((loss_amount IS NOT NULL) AND (currency IS NOT NULL))));
alter table attestations add constraint attestations_check2 CHECK (((consumption_cause IS NULL) = (consumption_version IS NULL)));
alter table attestations add constraint attestations_consumption_cause_check CHECK ((consumption_cause = ANY (ARRAY['restore'::text, 'restore_reversal'::text])));
alter table attestations add constraint attestations_correction_of_key UNIQUE (correction_of);
alter table attestations add constraint attestations_decision_check CHECK ((decision = ANY (ARRAY['ALLOW'::text, 'DENY'::text])));
alter table attestations add constraint attestations_loss_amount_check CHECK ((loss_amount >= 0));
alter table attestations add constraint attestations_ordinal_check CHECK (((ordinal >= 1) AND (ordinal <= 100)));
alter table attestations add constraint attestations_pkey PRIMARY KEY (attestation_id);
alter table attestations add constraint attestations_receipt_id_attestation_id_key UNIQUE (receipt_id, attestation_id);
alter table attestations add constraint attestations_receipt_id_correction_of_fkey FOREIGN KEY (receipt_id, correction_of) REFERENCES attestations(receipt_id, attestation_id);
alter table attestations add constraint attestations_receipt_id_ordinal_key UNIQUE (receipt_id, ordinal);
alter table attestations add constraint attestations_resolution_check CHECK ((resolution = ANY (ARRAY['agent_at_fault'::text, 'agent_not_at_fault'::text, 'indeterminate'::text])));
alter table attestations add constraint attestations_type_check CHECK ((type = ANY (ARRAY['fulfilled'::text, 'cancelled'::text, 'dispute_opened'::text, 'dispute_resolved'::text, 'chargeback_received'::text, 'chargeback_reversed'::text, 'loss_reported'::text])));
alter table audit_events add constraint audit_events_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['admin'::text, 'principal'::text, 'rp'::text, 'org'::text, 'system'::text])));
alter table audit_events add constraint audit_events_pkey PRIMARY KEY (event_id);
alter table checkpoints add constraint checkpoints_check CHECK ((previous_day = (day - 1)));
alter table checkpoints add constraint checkpoints_check1 CHECK (((previous_root IS NULL) = (previous_day IS NULL)));
alter table checkpoints add constraint checkpoints_check2 CHECK ((((first_receipt_id IS NULL) = (tree_size = 0)) AND ((last_receipt_id IS NULL) = (tree_size = 0))));
alter table checkpoints add constraint checkpoints_day_fkey FOREIGN KEY (day) REFERENCES closed_days(day);
alter table checkpoints add constraint checkpoints_pkey PRIMARY KEY (day);
alter table checkpoints add constraint checkpoints_previous_day_fkey FOREIGN KEY (previous_day) REFERENCES checkpoints(day);
alter table checkpoints add constraint checkpoints_tree_size_check CHECK ((tree_size >= 0));
alter table clock_mark add constraint clock_mark_is_only_row_check CHECK (is_only_row);
alter table clock_mark add constraint clock_mark_pkey PRIMARY KEY (is_only_row);
alter table closed_days add constraint closed_days_pkey PRIMARY KEY (day);
alter table cold_days add constraint cold_days_check CHECK ((((manifest IS NULL) = (state = 'broken'::text)) AND ((manifest IS NULL) = (manifest_hash IS NULL))));
alter table cold_days add constraint cold_days_check2 CHECK (((detached_at IS NULL) = (state <> 'cold'::text)));
alter table cold_days add constraint cold_days_check3 CHECK (((dropped_at IS NULL) OR (detached_at IS NOT NULL)));
alter table cold_days add constraint cold_days_day_fkey FOREIGN KEY (day) REFERENCES checkpoints(day);
alter table cold_days add constraint cold_days_manifest_hash_key UNIQUE (manifest_hash);
alter table cold_days add constraint cold_days_pkey PRIMARY KEY (day);
alter table cold_days add constraint cold_days_problem_check CHECK (((problem IS NOT NULL) OR (state <> 'broken'::text)));
alter table cold_days add constraint cold_days_state_check CHECK ((state = ANY (ARRAY['recorded'::text, 'cold'::text, 'broken'::text, 'unpacked'::text])));
alter table cold_manifests add constraint cold_manifests_day_fkey FOREIGN KEY (day) REFERENCES checkpoints(day);
alter table cold_manifests add constraint cold_manifests_pkey PRIMARY KEY (manifest_hash);
alter table cold_verifications add constraint cold_verifications_pkey PRIMARY KEY (grant_id, principal, relying_party);
alter table conformance_runs add constraint conformance_runs_check CHECK (((status = 'running'::text) = (finished_at IS NULL)));
alter table conformance_runs add constraint conformance_runs_check1 CHECK (((lease IS NULL) = (leased_until IS NULL)));
alter table conformance_runs add constraint conformance_runs_endpoint_check CHECK ((length(endpoint) <= 2048));
alter table conformance_runs add constraint conformance_runs_error_check CHECK ((length(error) <= 1000));
alter table conformance_runs add constraint conformance_runs_pkey PRIMARY KEY (run_id);
alter table conformance_runs add constraint conformance_runs_report_check CHECK ((octet_length(report) <= 1048576));
alter table conformance_runs add constraint conformance_runs_requests_check CHECK (((requests >= 0) AND (requests <= 50)));
alter table conformance_runs add constraint conformance_runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'passed'::text, 'failed'::text, 'error'::text])));
alter table consumption_balances add constraint consumption_balances_check CHECK (((period_start IS NULL) = (limit_per_period IS NULL)));
alter table consumption_balances add constraint consumption_balances_pkey PRIMARY KEY (grant_id, key);
alter table consumption_balances add constraint consumption_balances_spent_in_period_check CHECK (((spent_in_period >= 0) AND (spent_in_period <= '9007199254740991'::bigint)));
alter table consumption_balances add constraint consumption_balances_spent_total_check CHECK (((spent_total >= 0) AND (spent_total <= '9007199254740991'::bigint)));
alter table consumption_balances add constraint consumption_balances_uses_spent_check CHECK (((uses_spent >= 0) AND (uses_spent <= '9007199254740991'::bigint)));
alter table consumption_events add constraint consumption_events_cause_check CHECK ((cause = ANY (ARRAY['consume'::text, 'restore'::text, 'restore_reversal'::text])));
alter table consumption_events add constraint consumption_events_check CHECK (((cause = 'consume'::text) = (cause_id = receipt_id)));
alter table consumption_events add constraint consumption_events_check1 CHECK (
CASE cause
    WHEN 'restore'::text THEN ((delta_total <= 0) AND (delta_period <= 0) AND (delta_uses < 0))
    ELSE ((delta_total >= 0) AND (delta_period >= 0) AND (delta_uses > 0))
END);
alter table consumption_events add constraint consumption_events_pkey PRIMARY KEY (grant_id, version);
alter table consumption_events add constraint consumption_events_receipt_id_cause_key UNIQUE (receipt_id, cause);
alter table consumption_events add constraint consumption_events_version_check CHECK ((version > 0));
alter table content_checks add constraint content_checks_day_fkey FOREIGN KEY (day) REFERENCES checkpoints(day);
alter table content_checks add constraint content_checks_pkey PRIMARY KEY (day);
alter table contesting_claims add constraint contesting_claims_kind_check CHECK ((kind = ANY (ARRAY['principal'::text, 'relying_party'::text])));
alter table contesting_claims add constraint contesting_claims_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(org_id);
alter table contesting_claims add constraint contesting_claims_pkey PRIMARY KEY (did, kind, org_id);
alter table deployment add constraint deployment_is_only_row_check CHECK (is_only_row);
alter table deployment add constraint deployment_pkey PRIMARY KEY (is_only_row);
alter table entitlements add constraint entitlements_check CHECK (((check_cap IS NULL) OR (cap_since IS NOT NULL)));
alter table entitlements add constraint entitlements_check1 CHECK (((check_cap IS NULL) = (checks_since_cap IS NULL)));
alter table entitlements add constraint entitlements_check_cap_check CHECK (((check_cap >= 0) AND (check_cap <= 1000000000)));
alter table entitlements add constraint entitlements_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(org_id);
alter table entitlements add constraint entitlements_pkey PRIMARY KEY (org_id);
alter table entitlements add constraint entitlements_production_check CHECK ((production = ANY (ARRAY['allowed'::text, 'blocked'::text])));
alter table entitlements add constraint entitlements_reason_check CHECK ((reason = ANY (ARRAY['trial'::text, 'paid'::text, 'past_due_grace'::text, 'canceled'::text, 'comp'::text, 'none'::text])));
alter table event_behind add constraint event_behind_line_check CHECK ((line = ANY (ARRAY['news'::text, 'rest'::text, 'full'::text])));
alter table event_behind add constraint event_behind_pkey PRIMARY KEY (subscription_id);
alter table event_deliveries add constraint event_deliveries_pkey PRIMARY KEY (subscription_id, "position");
alter table event_deliveries add constraint event_deliveries_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'delivered'::text, 'failed'::text])));
alter table event_deliveries add constraint event_deliveries_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES event_subscriptions(subscription_id) ON DELETE CASCADE;
alter table event_due add constraint event_due_pkey PRIMARY KEY (subscription_id);
alter table event_everyone add constraint event_everyone_is_only_row_check CHECK (is_only_row);
alter table event_everyone add constraint event_everyone_pkey PRIMARY KEY (is_only_row);
alter table event_floors add constraint event_floors_pkey PRIMARY KEY (audience);
alter table event_log add constraint event_log_pkey PRIMARY KEY ("position");
alter table event_outbox add constraint event_outbox_pkey PRIMARY KEY (seq);
alter table event_secrets add constraint event_secrets_number_check CHECK ((number > 0));
alter table event_secrets add constraint event_secrets_pkey PRIMARY KEY (subscription_id, number);
alter table event_secrets add constraint event_secrets_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES event_subscriptions(subscription_id) ON DELETE CASCADE;
alter table event_streams add constraint event_streams_authorization_check CHECK (((authorization_root IS NULL) = (authorization_sealed IS NULL)));
alter table event_streams add constraint event_streams_pkey PRIMARY KEY (subscription_id);
alter table event_streams add constraint event_streams_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES event_subscriptions(subscription_id) ON DELETE CASCADE;
alter table event_subscriptions add constraint event_subscriptions_audience_check CHECK ((audience ~ '^(principal|rp|org) [^[:space:]]+$'::text));
alter table event_subscriptions add constraint event_subscriptions_budget_low_percent_check CHECK (((budget_low_percent >= 1) AND (budget_low_percent <= 99)));
alter table event_subscriptions add constraint event_subscriptions_check CHECK (((disabled_at IS NULL) = (disabled_because IS NULL)));
alter table event_subscriptions add constraint event_subscriptions_disabled_because_check CHECK ((disabled_because = ANY (ARRAY['owner'::text, 'failing'::text, 'gone'::text])));
alter table event_subscriptions add constraint event_subscriptions_method_check CHECK ((method = ANY (ARRAY['webhook'::text, 'poll'::text, 'push'::text])));
alter table event_subscriptions add constraint event_subscriptions_pkey PRIMARY KEY (subscription_id);
alter table event_subscriptions add constraint event_subscriptions_types_check CHECK ((cardinality(types) > 0));
alter table event_wants add constraint event_wants_pkey PRIMARY KEY (type, audience, subscription_id);
alter table event_wants add constraint event_wants_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES event_subscriptions(subscription_id) ON DELETE CASCADE;
alter table evidence add constraint evidence_pkey PRIMARY KEY (hash);
alter table evidence add constraint hash_is_of_body CHECK ((hash = ('sha256:'::text || encode(sha256(body), 'hex'::text))));
alter table evidence_naming add constraint evidence_naming_is_only_row_check CHECK (is_only_row);
alter table evidence_naming add constraint evidence_naming_pkey PRIMARY KEY (is_only_row);
alter table fence_beats add constraint fence_beats_pkey PRIMARY KEY (seq);
alter table fence_beats add constraint fence_beats_seq_check CHECK ((seq > 0));
alter table fence_notes add constraint fence_notes_kind_check CHECK ((kind = ANY (ARRAY['status-list'::text, 'checkpoint'::text, 'name'::text, 'revoked'::text])));
alter table fence_notes add constraint fence_notes_pkey PRIMARY KEY (kind, name);
alter table fence_quarantine add constraint fence_quarantine_is_only_row_check CHECK (is_only_row);
alter table fence_quarantine add constraint fence_quarantine_pkey PRIMARY KEY (is_only_row);
alter table grants add constraint grants_check CHECK (((revoked_at IS NULL) OR (revocation_recorded_at IS NOT NULL)));
alter table grants add constraint grants_pkey PRIMARY KEY (id);
alter table grants add constraint grants_principal_fkey FOREIGN KEY (principal) REFERENCES principals(did);
alter table grants add constraint grants_status_index_check CHECK ((status_index >= 0));
alter table grants add constraint grants_status_list_url_fkey FOREIGN KEY (status_list_url) REFERENCES status_lists(url);
alter table grants add constraint grants_status_list_url_status_index_key UNIQUE (status_list_url, status_index);
alter table idempotency_keys add constraint idempotency_keys_pkey PRIMARY KEY (relying_party, key);
alter table ledger_count add constraint ledger_count_is_only_row_check CHECK (is_only_row);
alter table ledger_count add constraint ledger_count_pkey PRIMARY KEY (is_only_row);
alter table ledger_seal add constraint ledger_seal_is_only_row_check CHECK (is_only_row);
alter table ledger_seal add constraint ledger_seal_pkey PRIMARY KEY (is_only_row);
alter table loose_evidence add constraint loose_evidence_hash_fkey FOREIGN KEY (hash) REFERENCES evidence(hash) ON DELETE CASCADE;
alter table loose_evidence add constraint loose_evidence_pkey PRIMARY KEY (hash);
alter table merkle_tiles add constraint merkle_tiles_check CHECK (((first_receipt_ids IS NOT NULL) = (level = 1)));
alter table merkle_tiles add constraint merkle_tiles_day_fkey FOREIGN KEY (day) REFERENCES closed_days(day);
alter table merkle_tiles add constraint merkle_tiles_hashes_check CHECK ((((length(hashes) % 32) = 0) AND ((length(hashes) >= 32) AND (length(hashes) <= 8192))));
alter table merkle_tiles add constraint merkle_tiles_index_check CHECK ((index >= 0));
alter table merkle_tiles add constraint merkle_tiles_level_check CHECK ((level > 0));
alter table merkle_tiles add constraint merkle_tiles_pkey PRIMARY KEY (day, level, index);
alter table migrations add constraint migrations_pkey PRIMARY KEY (name);
alter table orgs add constraint orgs_pkey PRIMARY KEY (org_id);
alter table orgs add constraint orgs_slug_key UNIQUE (slug);
alter table pauses add constraint pauses_check CHECK (((scope = ANY (ARRAY['grant'::text, 'agent'::text])) OR (subject = owner)));
alter table pauses add constraint pauses_pkey PRIMARY KEY (owner, scope, subject);
alter table pauses add constraint pauses_reason_check CHECK ((length(reason) <= 500));
alter table pauses add constraint pauses_scope_check CHECK ((scope = ANY (ARRAY['grant'::text, 'agent'::text, 'principal'::text, 'relying_party'::text, 'org'::text, 'service'::text])));
alter table pauses add constraint pauses_seq_key UNIQUE (seq);
alter table principal_keys add constraint principal_keys_pkey PRIMARY KEY (kid);
alter table principal_keys add constraint principal_keys_principal_fkey FOREIGN KEY (principal) REFERENCES principals(did);
alter table principal_keys add constraint principal_keys_state_check CHECK ((state = ANY (ARRAY['active'::text, 'retired'::text, 'compromised'::text])));
alter table principals add constraint principals_check CHECK (((document_hash IS NULL) = (document_resolved_at IS NULL)));
alter table principals add constraint principals_check1 CHECK (((claim_expires_at IS NULL) OR ((kind = 'hosted'::text) AND (org_id IS NOT NULL))));
alter table principals add constraint principals_document_hash_fkey FOREIGN KEY (document_hash) REFERENCES evidence(hash);
alter table principals add constraint principals_kind_check CHECK ((kind = ANY (ARRAY['managed'::text, 'hosted'::text])));
alter table principals add constraint principals_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(org_id);
alter table principals add constraint principals_pkey PRIMARY KEY (did);
alter table principals add constraint principals_verification_state_check CHECK ((verification_state = ANY (ARRAY['verified'::text, 'unverified'::text])));
alter table receipts add constraint decision_with_reason CHECK (
CASE decision
    WHEN 'ALLOW'::text THEN (reason IS NULL)
    WHEN 'DENY'::text THEN (reason IS NOT NULL)
    ELSE false
END);
alter table receipts add constraint receipts_content_hash_check CHECK ((length(content_hash) = 32));
alter table receipts add constraint receipts_pkey PRIMARY KEY (receipt_id) INCLUDE (content_hash);
alter table released_status_lists add constraint released_status_lists_pkey PRIMARY KEY (url);
alter table relying_parties add constraint relying_parties_check CHECK (((claim_expires_at IS NULL) OR ((kind = 'hosted'::text) AND (org_id IS NOT NULL))));
alter table relying_parties add constraint relying_parties_check1 CHECK (((claim_expires_at IS NULL) OR (verification_token IS NOT NULL)));
alter table relying_parties add constraint relying_parties_kind_check CHECK ((kind = ANY (ARRAY['managed'::text, 'hosted'::text])));
alter table relying_parties add constraint relying_parties_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(org_id);
alter table relying_parties add constraint relying_parties_pkey PRIMARY KEY (did);
alter table replica_marks add constraint replica_marks_is_only_row_check CHECK (is_only_row);
alter table replica_marks add constraint replica_marks_pkey PRIMARY KEY (is_only_row);
alter table reserved_names add constraint reserved_names_epoch_fkey FOREIGN KEY (epoch) REFERENCES restores(epoch);
alter table reserved_names add constraint reserved_names_pkey PRIMARY KEY (name);
alter table restores add constraint restores_epoch_check CHECK ((epoch > 0));
alter table restores add constraint restores_pkey PRIMARY KEY (epoch);
alter table retention add constraint retention_only_row_check CHECK (only_row);
alter table retention add constraint retention_pkey PRIMARY KEY (only_row);
alter table retracted_checkpoints add constraint retracted_checkpoints_pkey PRIMARY KEY (hash);
alter table sandbox_days add constraint sandbox_days_pkey PRIMARY KEY (day);
alter table self_serve_days add constraint self_serve_days_pkey PRIMARY KEY (day);
alter table self_serve_tenants add constraint self_serve_tenants_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(org_id);
alter table self_serve_tenants add constraint self_serve_tenants_pkey PRIMARY KEY (org_id);
alter table self_serve_tenants add constraint self_serve_tenants_relying_party_fkey FOREIGN KEY (relying_party) REFERENCES relying_parties(did);
alter table self_serve_tenants add constraint self_serve_tenants_relying_party_key UNIQUE (relying_party);
alter table served_lists add constraint served_lists_pkey PRIMARY KEY (url);
alter table service_dids add constraint service_dids_did_check CHECK ((did ~ '^did:web:[^#[:space:]]+$'::text));
alter table service_dids add constraint service_dids_number_check CHECK ((number > 0));
alter table service_dids add constraint service_dids_pkey PRIMARY KEY (number);
alter table service_key_ends add constraint service_key_ends_kid_fkey FOREIGN KEY (kid) REFERENCES service_keys(kid);
alter table service_key_ends add constraint service_key_ends_pkey PRIMARY KEY (kid, state);
alter table service_key_ends add constraint service_key_ends_state_check CHECK ((state = ANY (ARRAY['retired'::text, 'compromised'::text])));
alter table service_keys add constraint service_keys_pkey PRIMARY KEY (kid);
alter table spent_proofs add constraint spent_proofs_pkey PRIMARY KEY (grant_id, jti);
alter table status_lists add constraint status_lists_check CHECK (((next_ordinal >= 0) AND (next_ordinal <= size_bits)));
alter table status_lists add constraint status_lists_credential_hash_fkey FOREIGN KEY (credential_hash) REFERENCES evidence(hash);
alter table status_lists add constraint status_lists_domain_number_key UNIQUE (domain, number);
alter table status_lists add constraint status_lists_number_check CHECK ((number > 0));
alter table status_lists add constraint status_lists_pkey PRIMARY KEY (url);
alter table status_lists add constraint status_lists_principal_fkey FOREIGN KEY (principal) REFERENCES principals(did);
alter table status_lists add constraint status_lists_size_bits_check CHECK ((size_bits > 0));
alter table usage_by_day add constraint usage_by_day_verifies_check CHECK ((verifies > 0));
alter table usage_by_key add constraint usage_by_key_check CHECK (((production_checks >= 0) AND (production_checks <= verifies)));
alter table usage_by_key add constraint usage_by_key_verifies_check CHECK ((verifies > 0));
alter table usage_by_principal add constraint usage_by_principal_verifies_check CHECK ((verifies > 0));
alter table usage_counts add constraint usage_counts_verifies_check CHECK ((verifies > 0));
alter table usage_monthly add constraint usage_monthly_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric));
alter table usage_monthly add constraint usage_monthly_verifies_check CHECK ((verifies > 0));
alter table usage_monthly_by_principal add constraint usage_monthly_by_principal_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric));
alter table usage_monthly_by_principal add constraint usage_monthly_by_principal_verifies_check CHECK ((verifies > 0));
alter table verifier_searches add constraint verifier_searches_pkey PRIMARY KEY (principal);

CREATE INDEX api_keys_by_subject ON public.api_keys USING btree (subject);
CREATE INDEX api_keys_live ON public.api_keys USING btree (subject, created_at DESC) WHERE (revoked_at IS NULL);
CREATE INDEX api_keys_revoked ON public.api_keys USING btree (subject, revoked_at DESC) WHERE (revoked_at IS NOT NULL);
CREATE INDEX approval_receipts_of_request ON public.approval_receipts USING btree (request_id);
CREATE INDEX approval_requests_due ON public.approval_requests USING btree (expires_at) WHERE (state = 'pending'::text);
CREATE INDEX approval_requests_lately ON public.approval_requests USING btree (principal, requested_at);
CREATE INDEX approval_requests_of_principal ON public.approval_requests USING btree (principal, request_id);
CREATE INDEX approval_requests_old ON public.approval_requests USING btree (requested_at);
CREATE UNIQUE INDEX approval_requests_open ON public.approval_requests USING btree (principal, relying_party, agent, grant_id, action_hash) WHERE (state = 'pending'::text);
CREATE INDEX approval_requests_open_of_rp ON public.approval_requests USING btree (relying_party) WHERE (state = 'pending'::text);
CREATE INDEX approval_requests_texts ON public.approval_requests USING btree (approved_until) WHERE (approved_grant IS NOT NULL);
CREATE INDEX attestations_by_principal ON public.attestations USING btree (principal, evaluated_at) WHERE (principal IS NOT NULL);
CREATE INDEX attestations_by_relying_party ON public.attestations USING btree (relying_party, evaluated_at);
CREATE INDEX attestations_by_time ON public.attestations USING btree (evaluated_at);
CREATE INDEX audit_events_by_action ON public.audit_events USING btree (action, event_id DESC);
CREATE INDEX audit_events_by_actor ON public.audit_events USING btree (actor_did, event_id DESC) WHERE (actor_did IS NOT NULL);
CREATE INDEX audit_events_by_actor_and_action ON public.audit_events USING btree (actor_did, action, event_id DESC) WHERE (actor_did IS NOT NULL);
CREATE INDEX audit_events_by_org ON public.audit_events USING btree (org_id, event_id DESC) WHERE (org_id IS NOT NULL);
CREATE INDEX audit_events_by_org_and_action ON public.audit_events USING btree (org_id, action, event_id DESC) WHERE (org_id IS NOT NULL);
CREATE INDEX audit_events_by_target ON public.audit_events USING btree (target, event_id DESC) WHERE (target IS NOT NULL);
CREATE INDEX audit_events_by_time ON public.audit_events USING btree (occurred_at DESC, event_id DESC);
CREATE INDEX audit_events_dated_otherwise ON public.audit_events USING btree (event_id DESC) WHERE (NOT svc_is_dated_by_id(event_id, occurred_at));
CREATE INDEX audit_events_transfers ON public.audit_events USING btree (target, action, occurred_at) WHERE ((details ->> 'claim'::text) = 'transferred'::text);
CREATE INDEX cold_days_problem ON public.cold_days USING btree (day) WHERE (problem IS NOT NULL);
CREATE INDEX cold_manifests_day ON public.cold_manifests USING btree (day);
CREATE INDEX cold_manifests_to_purge ON public.cold_manifests USING btree (replaced_at) WHERE (purged_at IS NULL);
CREATE INDEX conformance_runs_by_key ON public.conformance_runs USING btree (key_id, created_at);
CREATE INDEX conformance_runs_finished ON public.conformance_runs USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE UNIQUE INDEX conformance_runs_one_running ON public.conformance_runs USING btree (account) WHERE (status = 'running'::text);
CREATE INDEX conformance_runs_open_of_org ON public.conformance_runs USING btree (org) WHERE (status = 'running'::text);
CREATE INDEX conformance_runs_waiting ON public.conformance_runs USING btree (created_at) WHERE (status = 'running'::text);
CREATE INDEX contesting_claims_by_expiry ON public.contesting_claims USING btree (expires_at);
CREATE INDEX contesting_claims_by_org ON public.contesting_claims USING btree (org_id);
CREATE INDEX event_behind_in_turn ON public.event_behind USING btree (line, turn);
CREATE INDEX event_deliveries_by_position ON public.event_deliveries USING btree ("position");
CREATE INDEX event_deliveries_in_order ON public.event_deliveries USING btree (subscription_id, order_key, "position") WHERE ((state = 'waiting'::text) AND (order_key IS NOT NULL));
CREATE INDEX event_deliveries_next ON public.event_deliveries USING btree (subscription_id, next_attempt_at, "position") WHERE ((state = 'waiting'::text) AND is_next);
CREATE INDEX event_deliveries_under_way ON public.event_deliveries USING btree (taken_until) WHERE ((state = 'waiting'::text) AND (taken_until IS NOT NULL));
CREATE INDEX event_deliveries_waiting ON public.event_deliveries USING btree (subscription_id, "position") WHERE (state = 'waiting'::text);
CREATE INDEX event_due_in_turn ON public.event_due USING btree (fails, whose, look_at);
CREATE INDEX event_due_longest ON public.event_due USING btree (fails, look_at);
CREATE INDEX event_log_by_audience ON public.event_log USING btree (audience, "position");
CREATE UNIQUE INDEX event_log_by_event ON public.event_log USING btree (event_id, audience);
CREATE INDEX event_log_by_time ON public.event_log USING btree (logged_at, "position");
CREATE INDEX event_outbox_in_order ON public.event_outbox USING btree (xid, seq);
CREATE INDEX event_subscriptions_by_audience ON public.event_subscriptions USING btree (audience);
CREATE INDEX event_subscriptions_disabled ON public.event_subscriptions USING btree (disabled_at) WHERE (disabled_at IS NOT NULL);
CREATE INDEX event_subscriptions_failing ON public.event_subscriptions USING btree (failing_since) WHERE ((failing_since IS NOT NULL) AND (disabled_at IS NULL));
CREATE INDEX event_wants_by_subscription ON public.event_wants USING btree (subscription_id);
CREATE UNIQUE INDEX fence_notes_by_turn ON public.fence_notes USING btree (((kind <> 'revoked'::text)), seq);
CREATE INDEX grants_active ON public.grants USING btree (principal, id DESC) WHERE (revocation_recorded_at IS NULL);
CREATE INDEX grants_by_agent ON public.grants USING btree (agent, id DESC);
CREATE INDEX grants_by_principal ON public.grants USING btree (principal, id DESC);
CREATE INDEX grants_revoked ON public.grants USING btree (principal, id DESC) WHERE (revocation_recorded_at IS NOT NULL);
CREATE INDEX grants_unstamped ON public.grants USING btree (revocation_recorded_at) WHERE ((revocation_recorded_at IS NOT NULL) AND (revoked_at IS NULL));
CREATE INDEX grants_unstamped_by_principal ON public.grants USING btree (principal, revocation_recorded_at) WHERE ((revocation_recorded_at IS NOT NULL) AND (revoked_at IS NULL));
CREATE INDEX grants_withheld ON public.grants USING btree (id) WHERE (withheld_by IS NOT NULL);
CREATE INDEX loose_evidence_unused ON public.loose_evidence USING btree (unused_since) WHERE (unused_since IS NOT NULL);
CREATE INDEX merkle_tiles_by_first ON public.merkle_tiles USING btree (day, (first_receipt_ids[1])) WHERE (level = 1);
CREATE INDEX pauses_in_force ON public.pauses USING btree (owner, scope) WHERE is_paused;
CREATE INDEX pauses_in_order ON public.pauses USING btree (scope, seq DESC) WHERE is_paused;
CREATE INDEX pauses_of_owner_in_order ON public.pauses USING btree (owner, scope, seq DESC) WHERE is_paused;
CREATE INDEX pauses_unstamped ON public.pauses USING btree (changed_at) WHERE (visible_at IS NULL);
CREATE INDEX principal_keys_by_principal ON public.principal_keys USING btree (principal);
CREATE INDEX principals_by_document ON public.principals USING btree (document_hash) WHERE (document_hash IS NOT NULL);
CREATE INDEX principals_by_org ON public.principals USING btree (org_id) WHERE (org_id IS NOT NULL);
CREATE INDEX principals_check_due ON public.principals USING btree (svc_check_due(verification_state, last_checked_at, last_proven_at), did) WHERE (kind = 'hosted'::text);
CREATE INDEX principals_check_due_in_turn ON public.principals USING btree (hashtext(COALESCE(org_id, did)), svc_check_due(verification_state, last_checked_at, last_proven_at), did) WHERE (kind = 'hosted'::text);
CREATE INDEX principals_claimed ON public.principals USING btree (claim_expires_at) WHERE (claim_expires_at IS NOT NULL);
CREATE INDEX principals_due ON public.principals USING btree (last_checked_at NULLS FIRST) WHERE (kind = 'hosted'::text);
CREATE INDEX receipts_by_principal ON ONLY public.receipts USING btree (hashtext(principal), hashtext(relying_party), hashtext(grant_id));
CREATE INDEX receipts_by_reason ON ONLY public.receipts USING btree (reason, relying_party) WHERE (reason IS NOT NULL);
CREATE INDEX receipts_by_relying_party ON ONLY public.receipts USING btree (relying_party, receipt_id DESC, hashtext(key_id)) INCLUDE (production_check);
CREATE INDEX receipts_by_unverified_grant ON ONLY public.receipts USING btree (hashtext(grant_id)) WHERE ((principal IS NULL) AND (grant_id IS NOT NULL));
CREATE INDEX released_status_lists_by_domain ON public.released_status_lists USING btree (domain, number DESC);
CREATE INDEX relying_parties_by_hash ON public.relying_parties USING btree (hashtext(did));
CREATE INDEX relying_parties_by_org ON public.relying_parties USING btree (org_id) WHERE (org_id IS NOT NULL);
CREATE INDEX relying_parties_claimed ON public.relying_parties USING btree (claim_expires_at) WHERE (claim_expires_at IS NOT NULL);
CREATE INDEX status_lists_by_credential ON public.status_lists USING btree (credential_hash);
CREATE INDEX status_lists_by_principal ON public.status_lists USING btree (principal, number DESC);
CREATE INDEX status_lists_by_signer ON public.status_lists USING btree (split_part(credential, '.'::text, 1), url);
CREATE UNIQUE INDEX usage_by_day_key ON public.usage_by_day USING btree (day, reason) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX usage_by_grant_key ON public.usage_by_grant USING btree (grant_id, principal) NULLS NOT DISTINCT;
CREATE INDEX usage_by_key_by_id ON public.usage_by_key USING btree (key_id, day);
CREATE UNIQUE INDEX usage_by_key_key ON public.usage_by_key USING btree (relying_party, day, key_id, reason) NULLS NOT DISTINCT;
CREATE INDEX usage_by_principal_by_day ON public.usage_by_principal USING btree (day);
CREATE UNIQUE INDEX usage_by_principal_key ON public.usage_by_principal USING btree (principal, day, reason) NULLS NOT DISTINCT;
CREATE INDEX usage_counts_by_principal ON public.usage_counts USING btree (principal, relying_party, day) INCLUDE (key_id, reason, verifies) WHERE (principal IS NOT NULL);
CREATE UNIQUE INDEX usage_counts_key ON public.usage_counts USING btree (relying_party, day, principal, key_id, reason) INCLUDE (verifies) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX usage_monthly_key ON public.usage_monthly USING btree (relying_party, month, principal, reason) INCLUDE (verifies) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX usage_monthly_by_principal_key ON public.usage_monthly_by_principal USING btree (month, principal, reason) NULLS NOT DISTINCT;

CREATE TRIGGER note_revoked AFTER UPDATE OF disabled_at ON public.agents FOR EACH ROW WHEN (((new.disabled_at IS NOT NULL) AND (old.disabled_at IS NULL))) EXECUTE FUNCTION svc_note_agent();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.allowed_grants FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.allowed_grants FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER note_deleted AFTER DELETE ON public.api_keys FOR EACH ROW EXECUTE FUNCTION svc_note_row('revoked', 'key_id', 'api-key:');
CREATE TRIGGER note_revoked AFTER UPDATE OF revoked_at ON public.api_keys FOR EACH ROW WHEN (((new.revoked_at IS NOT NULL) AND (old.revoked_at IS NULL))) EXECUTE FUNCTION svc_note_row('revoked', 'key_id', 'api-key:');
CREATE TRIGGER emit_event AFTER UPDATE OF state ON public.approval_requests FOR EACH ROW WHEN (((old.state = 'pending'::text) AND (new.state = ANY (ARRAY['approved'::text, 'denied'::text, 'expired'::text])))) EXECUTE FUNCTION svc_emit_approval();
CREATE TRIGGER emit_first_event AFTER INSERT ON public.approval_requests FOR EACH ROW WHEN ((new.state = 'pending'::text)) EXECUTE FUNCTION svc_emit_approval();
CREATE TRIGGER refuse_second_decision BEFORE UPDATE ON public.approval_requests FOR EACH ROW EXECUTE FUNCTION svc_refuse_second_decision();
CREATE TRIGGER emit_event AFTER INSERT ON public.attestations FOR EACH ROW EXECUTE FUNCTION svc_emit_outcome();
CREATE TRIGGER mark_unverified BEFORE INSERT ON public.attestations FOR EACH ROW EXECUTE FUNCTION svc_mark_unverified();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.attestations FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.attestations FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER emit_event AFTER INSERT ON public.audit_events FOR EACH ROW WHEN ((new.action = 'agent.disable'::text)) EXECUTE FUNCTION svc_emit_agent_disabled();
CREATE TRIGGER forget_transferred AFTER INSERT ON public.audit_events FOR EACH ROW WHEN (((new.action = ANY (ARRAY['principal.verify'::text, 'relying_party.update'::text])) AND ((new.details ->> 'claim'::text) = 'transferred'::text))) EXECUTE FUNCTION svc_forget_transferred();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.audit_events FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.audit_events FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER emit_event AFTER INSERT ON public.checkpoints FOR EACH ROW EXECUTE FUNCTION svc_emit_checkpoint();
CREATE TRIGGER note_checkpoint AFTER INSERT ON public.checkpoints FOR EACH ROW EXECUTE FUNCTION svc_note_row('checkpoint', 'day');
CREATE TRIGGER note_retracted AFTER DELETE ON public.checkpoints FOR EACH ROW EXECUTE FUNCTION svc_note_row('checkpoint', 'day');
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.checkpoints FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.checkpoints FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.closed_days FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.closed_days FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER keep_former_manifest AFTER UPDATE ON public.cold_days FOR EACH ROW WHEN (((old.manifest_hash IS NOT NULL) AND (new.manifest_hash IS DISTINCT FROM old.manifest_hash))) EXECUTE FUNCTION svc_keep_former_manifest();
CREATE TRIGGER refuse_all_but_state BEFORE INSERT OR UPDATE ON public.cold_days FOR EACH ROW EXECUTE FUNCTION svc_refuse_all_but_state();
CREATE TRIGGER refuse_change BEFORE DELETE ON public.cold_days FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_other_manifests BEFORE INSERT OR UPDATE ON public.cold_days FOR EACH ROW EXECUTE FUNCTION svc_refuse_other_manifests();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.cold_days FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_all_but_purge BEFORE UPDATE ON public.cold_manifests FOR EACH ROW EXECUTE FUNCTION svc_refuse_all_but_purge();
CREATE TRIGGER refuse_change BEFORE DELETE ON public.cold_manifests FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.cold_manifests FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_change BEFORE DELETE ON public.cold_verifications FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.cold_verifications FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.consumption_events FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.consumption_events FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.deployment FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.deployment FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER note_revoked AFTER INSERT OR UPDATE OF production, production_until, check_cap, cap_since, reason, as_of ON public.entitlements FOR EACH ROW EXECUTE FUNCTION svc_note_row('revoked', 'org_id', 'entitlement:');
CREATE TRIGGER note_logged AFTER INSERT ON public.event_log REFERENCING NEW TABLE AS logged FOR EACH STATEMENT EXECUTE FUNCTION svc_note_logged();
CREATE CONSTRAINT TRIGGER note_begun AFTER INSERT ON public.event_subscriptions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION svc_note_reading();
CREATE TRIGGER note_due AFTER UPDATE ON public.event_subscriptions FOR EACH ROW WHEN (((new.disabled_at IS NULL) AND ((old.disabled_at IS NOT NULL) OR (old.method <> new.method) OR ((old.failing_since IS NULL) <> (new.failing_since IS NULL))))) EXECUTE FUNCTION svc_note_due_change();
CREATE CONSTRAINT TRIGGER note_reading AFTER UPDATE ON public.event_subscriptions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((new.read_to < old.read_to) OR ((old.disabled_at IS NOT NULL) AND (new.disabled_at IS NULL)))) EXECUTE FUNCTION svc_note_reading();
CREATE TRIGGER refuse_all_but_collection BEFORE DELETE ON public.evidence FOR EACH ROW EXECUTE FUNCTION svc_refuse_all_but_collection();
CREATE TRIGGER refuse_change BEFORE UPDATE ON public.evidence FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.evidence FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER emit_event AFTER UPDATE OF revoked_at ON public.grants FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION svc_emit_grant_revoked();
CREATE TRIGGER note_unlisted AFTER UPDATE ON public.grants REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION svc_note_unlisted();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.merkle_tiles FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.merkle_tiles FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER note_name AFTER INSERT ON public.orgs FOR EACH ROW EXECUTE FUNCTION svc_note_row('name', 'slug', 'org:');
CREATE TRIGGER refuse_reserved BEFORE INSERT ON public.orgs FOR EACH ROW EXECUTE FUNCTION svc_refuse_reserved('slug', 'org:');
CREATE TRIGGER emit_event AFTER UPDATE OF is_paused ON public.pauses FOR EACH ROW WHEN ((old.is_paused IS DISTINCT FROM new.is_paused)) EXECUTE FUNCTION svc_emit_pause();
CREATE TRIGGER emit_first_event AFTER INSERT ON public.pauses FOR EACH ROW WHEN (new.is_paused) EXECUTE FUNCTION svc_emit_pause();
CREATE TRIGGER note_revoked AFTER INSERT OR DELETE OR UPDATE OF is_paused ON public.pauses FOR EACH ROW EXECUTE FUNCTION svc_note_pause();
CREATE TRIGGER emit_event AFTER UPDATE OF state ON public.principal_keys FOR EACH ROW WHEN (((old.state IS DISTINCT FROM new.state) AND (new.state = ANY (ARRAY['retired'::text, 'compromised'::text])))) EXECUTE FUNCTION svc_emit_key_state();
CREATE TRIGGER note_revoked AFTER UPDATE OF state ON public.principal_keys FOR EACH ROW WHEN ((new.state IS DISTINCT FROM old.state)) EXECUTE FUNCTION svc_note_row('revoked', 'kid', 'key:');
CREATE TRIGGER emit_event AFTER UPDATE OF verification_state ON public.principals FOR EACH ROW WHEN ((old.verification_state IS DISTINCT FROM new.verification_state)) EXECUTE FUNCTION svc_emit_verification();
CREATE TRIGGER emit_first_event AFTER INSERT ON public.principals FOR EACH ROW WHEN ((new.verification_state = 'verified'::text)) EXECUTE FUNCTION svc_emit_verification();
CREATE TRIGGER forget_approvals AFTER DELETE ON public.principals FOR EACH ROW EXECUTE FUNCTION svc_forget_approvals();
CREATE TRIGGER forget_pauses AFTER DELETE ON public.principals FOR EACH ROW EXECUTE FUNCTION svc_forget_pauses('grant', 'agent', 'principal');
CREATE TRIGGER forget_released AFTER DELETE ON public.principals FOR EACH ROW EXECUTE FUNCTION svc_forget_released('principal');
CREATE TRIGGER note_name AFTER INSERT OR DELETE OR UPDATE OF org_id ON public.principals FOR EACH ROW EXECUTE FUNCTION svc_note_row('name', 'did');
CREATE TRIGGER pause_with_org BEFORE INSERT OR UPDATE OF org_id ON public.principals FOR EACH ROW EXECUTE FUNCTION svc_pause_with_org();
CREATE TRIGGER refuse_reserved BEFORE INSERT ON public.principals FOR EACH ROW EXECUTE FUNCTION svc_refuse_reserved('did');
CREATE TRIGGER refuse_all_but_clearing BEFORE UPDATE ON public.receipts FOR EACH ROW EXECUTE FUNCTION svc_refuse_all_but_clearing();
CREATE TRIGGER refuse_change BEFORE DELETE ON public.receipts FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.receipts FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER forget_approvals AFTER DELETE ON public.relying_parties FOR EACH ROW EXECUTE FUNCTION svc_forget_approvals();
CREATE TRIGGER forget_pauses AFTER DELETE ON public.relying_parties FOR EACH ROW EXECUTE FUNCTION svc_forget_pauses('relying_party');
CREATE TRIGGER forget_released AFTER DELETE ON public.relying_parties FOR EACH ROW EXECUTE FUNCTION svc_forget_released('rp');
CREATE TRIGGER note_name AFTER INSERT OR DELETE OR UPDATE OF org_id, proof_window_seconds, verify_rate_limit_per_minute, profile ON public.relying_parties FOR EACH ROW EXECUTE FUNCTION svc_note_row('name', 'did');
CREATE TRIGGER pause_with_org BEFORE INSERT OR UPDATE OF org_id ON public.relying_parties FOR EACH ROW EXECUTE FUNCTION svc_pause_with_org();
CREATE TRIGGER refuse_reserved BEFORE INSERT ON public.relying_parties FOR EACH ROW EXECUTE FUNCTION svc_refuse_reserved('did');
CREATE TRIGGER register_beside_pause BEFORE INSERT ON public.relying_parties FOR EACH ROW EXECUTE FUNCTION svc_register_beside_pause();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.restores FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.restores FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.retracted_checkpoints FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.retracted_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.service_dids FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.service_dids FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER note_revoked AFTER INSERT ON public.service_key_ends FOR EACH ROW EXECUTE FUNCTION svc_note_row('revoked', 'kid', 'service-key:');
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.service_key_ends FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.service_key_ends FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.service_keys FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.service_keys FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER note_list AFTER INSERT OR UPDATE OF credential ON public.status_lists FOR EACH ROW EXECUTE FUNCTION svc_note_list();

CREATE OR REPLACE FUNCTION public.svc_actions_kept_since()
 RETURNS timestamp with time zone
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select (clock_timestamp() at time zone 'UTC' - interval '7 years') at time zone 'UTC';
$function$;
CREATE OR REPLACE FUNCTION public.svc_audiences_of(p_subscription event_subscriptions)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select array[p_subscription.audience, 'everyone', 'subscription ' || p_subscription.subscription_id];
$function$;
CREATE OR REPLACE FUNCTION public.svc_await_commits(p_node_ms bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_deadline timestamptz := clock_timestamp() + interval '2 seconds';
  v_waiting text[];
  v_now timestamptz;
begin
  select array_agg(virtualtransaction) into v_waiting from svc_commits_under_way();
  while v_waiting is not null loop
    if clock_timestamp() >= v_deadline then
      raise exception 'commits were under way for 2 seconds' using errcode = 'lock_not_available';
    end if;
    perform pg_sleep(0.002);
    select array_agg(virtualtransaction)
    into v_waiting
    from svc_commits_under_way()
    where virtualtransaction = any (v_waiting);
  end loop;
  v_now := greatest(svc_instant(p_node_ms - 5000), least(svc_instant(p_node_ms + 5000), svc_now()));
  return svc_ms(
    greatest(
      v_now,
      (
        select max(evaluated_at)
        from receipts
        where receipt_id >= svc_lowest_receipt_id(v_now) and decision = 'ALLOW'
      )
    )
  );
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_balances_version(p_grant_id text)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (select coalesce(max(version), 0) from consumption_events where grant_id = p_grant_id);
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_barrier_instant(p_principal text, p_node_ms bigint)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_seqscan TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_now timestamptz := greatest(
    svc_instant(p_node_ms - 5000),
    least(svc_instant(p_node_ms + 5000), svc_now())
  );
  v_last timestamptz;
begin
  select max(evaluated_at)
  into v_last
  from receipts
  where receipt_id >= svc_lowest_receipt_id(v_now) and principal = p_principal and decision = 'ALLOW';
  return greatest(v_now, v_last);
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_beat(p_seq bigint, p_nonce text, p_next_nonce text, OUT verdict text, OUT seq bigint, OUT at_ms bigint, OUT age_ms double precision, OUT epoch integer, OUT quarantine_ms double precision)
 RETURNS record
 LANGUAGE plpgsql
 SET lock_timeout TO '300ms'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_now timestamptz;
  v_head fence_beats;
  v_last fence_beats;
begin
  -- What the fence will name must survive a crash of the server.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  perform pg_advisory_xact_lock(10, 0);
  v_now := clock_timestamp();
  select * into v_last from fence_beats as b order by b.seq desc limit 1;
  select * into v_head from fence_beats as b where b.seq = p_seq and b.nonce = p_nonce;
  select coalesce(max(r.epoch), 0) into epoch from restores as r;
  quarantine_ms := extract(epoch from greatest(svc_quarantined_until(), v_now) - v_now) * 1000;
  verdict := case
    when p_seq is null
    and v_last.seq is not null then 'gone'
    when p_seq is null
    or v_head.seq is not null then null
    when p_seq > coalesce(v_last.seq, 0) then 'behind'
    when p_seq < (select min(b.seq) from fence_beats as b) then 'forgotten'
    else 'diverged'
  end;
  if
    verdict is null
    and v_head.seq is not null
    and v_now between v_last.at and v_last.at + interval '200 milliseconds'
  then
    verdict := 'known';
  end if;
  if verdict is null then
    verdict := 'next';
    insert into fence_beats (seq, nonce, at)
    values (coalesce(v_last.seq, 0) + 1, p_next_nonce, v_now)
    returning *
    into v_head;
    -- An older head than these is that of a fence which was set back itself.
    delete from fence_beats as b where b.seq < v_head.seq - 50000;
  end if;
  seq := v_head.seq;
  at_ms := svc_ms(v_head.at);
  age_ms := greatest(extract(epoch from v_now - v_head.at) * 1000, 0);
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_begin_anew(p_subscription_id text)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  update event_deliveries
  set
    attempts = 0,
    early_attempts = 0,
    scheduled_at = null,
    next_attempt_at = svc_now()
  where subscription_id = p_subscription_id and state = 'waiting';
  select
    svc_find_next(
      p_subscription_id,
      array(
        select distinct order_key
        from event_deliveries
        where subscription_id = p_subscription_id and state = 'waiting' and order_key is not null
      )
    );
$function$;
CREATE OR REPLACE FUNCTION public.svc_bind_grants(p_decisions svc_decision[], p_missed integer[], p_outcomes text[])
 RETURNS text[]
 LANGUAGE plpgsql
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
declare
  v_outcomes text[];
begin
  insert into allowed_grants (grant_id, grant_hash)
  select distinct on (d.spend_grant_id) d.spend_grant_id, d.binds_grant_hash
  from unnest(p_decisions) as d
  where d.binds_grant_hash is not null and p_outcomes[d.ordinal] is null
  order by d.spend_grant_id, d.ordinal
  on conflict (grant_id) do nothing;
  -- A statement of its own: its snapshot has what the session has bound that was waited for.
  select
    array_agg(
      case
        when d.binds_grant_hash is not null
        and p_outcomes[d.ordinal] is null
        and a.grant_hash is distinct from d.binds_grant_hash then 'STALE'
        else p_outcomes[d.ordinal]
      end
      order by d.ordinal
    )
  into v_outcomes
  from
    unnest(p_decisions) as d
    left join allowed_grants as a on a.grant_id = d.spend_grant_id;
  if v_outcomes is not distinct from p_outcomes then
    return v_outcomes;
  end if;
  perform svc_release_keys(p_decisions, p_outcomes, v_outcomes);
  v_outcomes := svc_release_proofs(p_decisions, p_outcomes, v_outcomes);
  return svc_settle_budgets(p_decisions, p_missed, v_outcomes);
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_check_due(p_state text, p_checked_at timestamp with time zone, p_proven_at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    case
      when p_checked_at is null then '-infinity'::timestamptz
      when p_state != 'verified' then p_checked_at + interval '24 hours'
      when p_proven_at is null then '-infinity'::timestamptz
      when p_proven_at < p_checked_at then least(
        p_checked_at + interval '1 hour',
        p_proven_at + interval '72 hours'
      )
      else least(p_checked_at + interval '24 hours', p_proven_at + interval '72 hours')
    end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_claim_keys(p_decisions svc_decision[], p_outcomes text[])
 RETURNS text[]
 LANGUAGE plpgsql
AS $function$
declare
  v_now timestamptz := clock_timestamp();
  v_outcomes text[];
begin
  with
    candidate as (
      select distinct on (d.relying_party, d.idempotency_key)
        d.relying_party,
        d.idempotency_key as key,
        d.idempotency_body_hash as body_hash,
        d.receipt_id
      from unnest(p_decisions) as d
      where d.idempotency_key is not null and p_outcomes[d.ordinal] is null
      order by d.relying_party, d.idempotency_key, d.ordinal
    ),
    claimed as (
      insert into idempotency_keys as stored (relying_party, key, body_hash, receipt_id, created_at)
      select c.relying_party, c.key, c.body_hash, c.receipt_id, v_now
      from candidate as c
      order by c.relying_party, c.key
      on conflict (relying_party, key) do update
        set
          body_hash = excluded.body_hash,
          receipt_id = excluded.receipt_id,
          created_at = excluded.created_at
        where stored.created_at < v_now - interval '10 minutes'
      returning stored.receipt_id
    )
  select
    array_agg(
      case
        when d.idempotency_key is not null
        and p_outcomes[d.ordinal] is null
        and c.receipt_id is null then 'IDEMPOTENCY_TAKEN'
        else p_outcomes[d.ordinal]
      end
      order by d.ordinal
    )
  into v_outcomes
  from
    unnest(p_decisions) as d
    left join claimed as c on c.receipt_id = d.receipt_id;
  return v_outcomes;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_clear_old_actions(p_limit integer, p_node_ms bigint, OUT passed integer, OUT cleared integer)
 RETURNS record
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_custom_plan'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_from text;
  v_end text := svc_lowest_receipt_id(
    least(svc_actions_kept_since(), svc_instant(p_node_ms) - interval '7 years')
  );
  v_last text;
begin
  passed := 0;
  cleared := 0;
  select actions_cleared_before into v_from from retention for update skip locked;
  if v_from is null or v_from >= v_end then
    return;
  end if;
  select count(*), max(r.receipt_id) into passed, v_last from (
    select receipt_id from receipts where receipt_id >= v_from and receipt_id < v_end
    order by receipt_id limit p_limit
  ) r;
  if passed > 0 then
    update receipts set action_type = null, amount = null, currency = null, resource = null, method = null
      where receipt_id >= v_from and receipt_id <= v_last
        and num_nonnulls(action_type, amount, currency, resource, method) > 0;
    get diagnostics cleared = row_count;
  end if;
  update retention set actions_cleared_before = case when passed < p_limit then v_end else v_last end;
end
$function$;
CREATE OR REPLACE FUNCTION public.svc_clear_table_of_day(p_day date, p_limit integer, p_node_ms bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '2s'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  v_state text;
  v_from text;
  v_last text;
  v_passed integer;
  v_end text := svc_lowest_receipt_id((p_day + 1)::timestamp at time zone 'UTC');
  v_table regclass;
begin
  select state, coalesce(cleared_before, svc_lowest_receipt_id(p_day::timestamp at time zone 'UTC'))
  into v_state, v_from
  from cold_days
  where day = p_day and state in ('recorded', 'cold', 'unpacked') and cleared_at is null
  for update;
  if v_from is null or v_from >= v_end or not svc_is_day_to_clear(p_day, p_node_ms) then
    return true;
  end if;
  v_table := svc_find_table_of_day(p_day, v_state);
  if v_table is not null then
    execute
      format(
        'select count(*), max(receipt_id) from (
          select receipt_id from %s where receipt_id >= $1 and receipt_id < $2 order by receipt_id limit $3) as r',
        v_table
      )
    into v_passed, v_last
    using v_from, v_end, p_limit;
    if v_passed > 0 then
      if v_state = 'cold' then
        execute format('alter table %s disable trigger refuse_change', v_table);
      end if;
      execute
        format(
          'update %s set action_type = null, amount = null, currency = null, resource = null, method = null
          where receipt_id >= $1 and receipt_id <= $2
            and num_nonnulls(action_type, amount, currency, resource, method) > 0',
          v_table
        )
      using v_from, v_last;
      if v_state = 'cold' then
        execute format('alter table %s enable trigger refuse_change', v_table);
      end if;
    end if;
  end if;
  if coalesce(v_passed, 0) < p_limit then
    v_last := v_end;
  end if;
  update cold_days set cleared_before = v_last where day = p_day;
  return v_last >= v_end;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_close_day(p_day date)
 RETURNS boolean
 LANGUAGE plpgsql
 SET lock_timeout TO '2s'
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform pg_advisory_xact_lock(2, p_day - date '1970-01-01');
  if clock_timestamp() < (p_day + 1)::timestamp at time zone 'UTC' then
    return false;
  end if;
  insert into closed_days (day) values (p_day) on conflict do nothing;
  return true;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_collect_evidence(p_limit integer, p_node_ms bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_now timestamptz := least(svc_now(), svc_instant(p_node_ms));
  v_collected bigint;
  v_named_before text;
begin
  update loose_evidence as l
  set unused_since = case when not s.is_in_force then v_now end
  from
    (
      select
        o.hash,
        exists (select from principals as p where p.document_hash = o.hash)
        or exists (select from status_lists as t where t.credential_hash = o.hash) as is_in_force
      from loose_evidence as o
    ) as s
  where s.hash = l.hash and s.is_in_force = (l.unused_since is not null);
  select named_before into strict v_named_before from evidence_naming;
  delete from evidence
  where
    hash in (
      select hash from loose_evidence
      where
        unused_since < v_now - interval '1 hour'
        and svc_lowest_receipt_id(unused_since + interval '10 minutes') <= v_named_before
      order by unused_since
      limit p_limit
      for update skip locked
    );
  get diagnostics v_collected = row_count;
  return v_collected;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_commit_decisions(p_decisions svc_decision[], p_jws text[])
 RETURNS text[]
 LANGUAGE plpgsql
 SET lock_timeout TO '400ms'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_outcomes text[];
  v_any record;
  v_missed integer[];
begin
  perform svc_prepare_commit();
  select
    bool_or(is_capped) as caps,
    count(balances_grant_id) > 0 as balances,
    count(idempotency_key) > 0 as keys,
    count(spend_jti) > 0 as proofs,
    count(binds_grant_hash) > 0 as binds,
    exists (select from event_wants) as wants
  into v_any
  from unnest(p_decisions);

  v_outcomes := svc_take_locks(p_decisions, clock_timestamp() + interval '400 milliseconds');
  if v_any.balances then
    v_missed := svc_try_balances(p_decisions);
  end if;
  v_outcomes := svc_judge(p_decisions, v_outcomes);
  if v_any.caps then
    v_outcomes := svc_judge_caps(p_decisions, v_outcomes);
  end if;
  if v_any.balances then
    v_outcomes := svc_judge_budgets(p_decisions, v_missed, v_outcomes);
  end if;
  if v_any.keys then
    v_outcomes := svc_claim_keys(p_decisions, v_outcomes);
  end if;
  if v_any.proofs then
    v_outcomes := svc_spend_proofs(p_decisions, v_outcomes);
  end if;
  if v_any.balances then
    v_outcomes := svc_settle_budgets(p_decisions, v_missed, v_outcomes);
  end if;
  if v_any.binds then
    v_outcomes := svc_bind_grants(p_decisions, v_missed, v_outcomes);
  end if;
  if v_any.balances then
    perform svc_consume(p_decisions, v_outcomes);
  end if;
  perform svc_store(p_decisions, p_jws, v_outcomes);
  if v_any.wants then
    perform svc_emit_decisions(p_decisions, v_outcomes);
  end if;
  if v_any.wants and v_any.balances then
    perform svc_emit_low_budgets(p_decisions, v_outcomes);
  end if;
  if v_any.caps then
    v_outcomes := svc_settle_caps(p_decisions, v_outcomes);
    perform svc_count_caps(p_decisions, v_outcomes);
  end if;
  return array_replace(v_outcomes, null, 'STORED');
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_commits_under_way()
 RETURNS TABLE(virtualtransaction text)
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select distinct l.virtualtransaction
  from pg_locks as l
  where
    l.locktype = 'advisory'
    and l.classid = 2::oid
    and l.objsubid = 2
    and l.mode = 'ShareLock'
    and l.granted
    and l.database = (select oid from pg_database where datname = current_database());
$function$;
CREATE OR REPLACE FUNCTION public.svc_consume(p_decisions svc_decision[], p_outcomes text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  v_budgets integer;
  v_moved integer;
begin
  perform svc_log_consumption(p_decisions, p_outcomes);
  with
    movement as (select * from svc_sum_consumption(p_decisions, p_outcomes)),
    moved as (
      insert into consumption_balances as stored
      select m.*
      from movement as m
      where
        svc_is_within(0, m.spent_total, m.limit_total)
        and svc_is_within(0, m.spent_in_period, m.limit_per_period)
        and svc_is_within(0, m.uses_spent, m.limit_uses)
      on conflict (grant_id, key) do update
        set
          spent_total = stored.spent_total + excluded.spent_total,
          spent_in_period = excluded.spent_in_period + case
            when stored.period_start is not distinct from excluded.period_start then stored.spent_in_period
            else 0
          end,
          period_start = excluded.period_start,
          uses_spent = stored.uses_spent + excluded.uses_spent,
          limit_total = excluded.limit_total,
          limit_per_period = excluded.limit_per_period,
          limit_uses = excluded.limit_uses,
          updated_at = excluded.updated_at
        where
          svc_is_within(stored.spent_total, excluded.spent_total, excluded.limit_total)
          and svc_is_within(stored.uses_spent, excluded.uses_spent, excluded.limit_uses)
          and svc_is_within(
            case
              when stored.period_start is not distinct from excluded.period_start then stored.spent_in_period
              else 0
            end,
            excluded.spent_in_period,
            excluded.limit_per_period
          )
      returning 1
    )
  select (select count(*) from movement), (select count(*) from moved)
  into strict v_budgets, v_moved;
  if v_moved != v_budgets then
    raise exception 'a budget would be overdrawn' using errcode = 'integrity_constraint_violation';
  end if;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_count_caps(p_decisions svc_decision[], p_outcomes text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  update entitlements as e
  set checks_since_cap = e.checks_since_cap + stored.checks
  from
    (
      select d.org_id, count(*) as checks
      from
        unnest(p_decisions) as d
        join entitlements as e
          on e.org_id = d.org_id and e.cap_since <= to_timestamp(d.evaluated_at_ms / 1000.0)
      where p_outcomes[d.ordinal] is null and e.check_cap is not null
      group by d.org_id
    ) as stored
  where e.org_id = stored.org_id;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_count_sealed_checks(p_org_id text, p_since timestamp with time zone, OUT checks bigint, OUT sealed_before text)
 RETURNS record
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    svc_count_stored_checks(p_org_id, b.since, least(b.first_day, s.sealed_before)) + svc_count_stored_checks(
      p_org_id,
      greatest(b.first_day, c.counted_before),
      s.sealed_before
    ) + (
      select coalesce(sum(u.production_checks), 0)::bigint
      from
        relying_parties as rp
        join usage_by_key as u on u.relying_party = rp.did
      where rp.org_id = p_org_id and u.day >= d.first_day
    ),
    s.sealed_before
  from
    ledger_seal as s,
    ledger_count as c,
    lateral (select (p_since at time zone 'UTC' - interval '1 microsecond')::date + 1 as first_day) as d,
    lateral (
      select
        svc_lowest_receipt_id(p_since) as since,
        svc_lowest_receipt_id(d.first_day::timestamp at time zone 'UTC') as first_day
    ) as b;
$function$;
CREATE OR REPLACE FUNCTION public.svc_count_stored_checks(p_org_id text, p_first text, p_end text)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_custom_plan'
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  return (
    select count(*)
    from
      relying_parties as rp
      join receipts as r on r.relying_party = rp.did
    where rp.org_id = p_org_id and r.production_check and r.receipt_id >= p_first and r.receipt_id < p_end
  );
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_count_usage(p_limit integer)
 RETURNS bigint
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_custom_plan'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_from text;
  v_to text;
  v_sealed_before text;
  v_counted bigint;
begin
  select counted_before into v_from from ledger_count for update skip locked;
  if v_from is null then
    return 0;
  end if;
  select sealed_before into strict v_sealed_before from ledger_seal;
  select receipt_id
  into v_to
  from receipts
  where receipt_id >= v_from and receipt_id < v_sealed_before
  order by receipt_id
  offset p_limit
  limit 1;
  v_to := coalesce(v_to, v_sealed_before);
  if v_to <= v_from then
    return 0;
  end if;
  with
    counted as (
      select
        (evaluated_at at time zone 'UTC')::date as day,
        relying_party,
        principal,
        key_id,
        reason,
        count(*) as verifies,
        count(*) filter (where production_check) as production_checks
      from receipts
      where receipt_id >= v_from and receipt_id < v_to
      group by 1, 2, 3, 4, 5
    ),
    finest as (
      insert into usage_counts as u (day, relying_party, principal, key_id, reason, verifies)
      select day, relying_party, principal, key_id, reason, verifies from counted
      on conflict (relying_party, day, principal, key_id, reason) do update
        set verifies = u.verifies + excluded.verifies
    ),
    by_key as (
      insert into usage_by_key as u (day, relying_party, key_id, reason, verifies, production_checks)
      select day, relying_party, key_id, reason, sum(verifies), sum(production_checks)
      from counted
      group by 1, 2, 3, 4
      on conflict (relying_party, day, key_id, reason) do update
        set
          verifies = u.verifies + excluded.verifies,
          production_checks = u.production_checks + excluded.production_checks
    ),
    by_principal as (
      insert into usage_by_principal as u (day, principal, reason, verifies)
      select day, principal, reason, sum(verifies) from counted group by 1, 2, 3
      on conflict (principal, day, reason) do update set verifies = u.verifies + excluded.verifies
    ),
    monthly as (
      insert into usage_monthly as u (month, relying_party, principal, reason, verifies)
      select date_trunc('month', day)::date, relying_party, principal, reason, sum(verifies)
      from counted
      group by 1, 2, 3, 4
      on conflict (relying_party, month, principal, reason) do update
        set verifies = u.verifies + excluded.verifies
    ),
    monthly_by_principal as (
      insert into usage_monthly_by_principal as u (month, principal, reason, verifies)
      select date_trunc('month', day)::date, principal, reason, sum(verifies) from counted group by 1, 2, 3
      on conflict (month, principal, reason) do update set verifies = u.verifies + excluded.verifies
    ),
    by_grant as (
      insert into usage_by_grant as u (grant_id, principal, days)
      select grant_id, principal, days
      from
        (
          select grant_id, principal, range_agg(daterange(day, day + 1)) as days
          from
            (
              select distinct grant_id, principal, (evaluated_at at time zone 'UTC')::date as day
              from receipts
              where receipt_id >= v_from and receipt_id < v_to and grant_id is not null
            ) as named
          group by 1, 2
        ) as g
      where
        not exists (
          select
          from usage_by_grant as k
          where k.grant_id = g.grant_id and k.principal is not distinct from g.principal and k.days @> g.days
        )
      on conflict (grant_id, principal) do update set days = u.days + excluded.days
    ),
    by_day as (
      insert into usage_by_day as u (day, reason, verifies)
      select day, reason, sum(verifies) from counted group by 1, 2
      on conflict (day, reason) do update set verifies = u.verifies + excluded.verifies
    )
  select coalesce(sum(verifies), 0)
  into v_counted
  from counted;
  update ledger_count set counted_before = v_to;
  return v_counted;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_day_number(p_ms bigint)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select (p_ms / 86400000)::integer;
$function$;
CREATE OR REPLACE FUNCTION public.svc_days_to_clear(p_node_ms bigint, p_limit integer)
 RETURNS SETOF date
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select d.day
  from
    cold_days as d
    join checkpoints as p using (day)
  where
    d.state in ('recorded', 'cold', 'unpacked')
    and d.cleared_at is null
    and p.tree_size > 0
    and svc_is_day_to_clear(d.day, p_node_ms)
  order by d.day
  limit p_limit;
$function$;
CREATE OR REPLACE FUNCTION public.svc_days_to_pack(p_hot_days integer, p_node_ms bigint, p_limit integer)
 RETURNS SETOF date
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select o.day
  from
    (
      select p.day
      from
        checkpoints as p
        join content_checks as k using (day)
        left join cold_days as d using (day)
      where
        p.day + 1 + p_hot_days <= (least(svc_now(), svc_instant(p_node_ms)) at time zone 'UTC')::date
        and k.is_intact
        and k.checked_at > svc_now() - interval '36 hours'
        and (
          d.day is null
          or (d.state = 'broken' and coalesce(d.again_at, d.recorded_at + interval '24 hours') < svc_now())
        )
        and not exists (select from restores as r where p.day = any (r.reinstated_days))
      order by p.day
      limit p_limit
    ) as o
  where svc_is_day_read(o.day)
  order by o.day;
$function$;
CREATE OR REPLACE FUNCTION public.svc_deliveries_due(p_methods text[], p_limit integer, p_at_once integer, p_of_tenant integer, p_now timestamp with time zone)
 RETURNS TABLE(subscription_id text, "position" bigint, due_at timestamp with time zone, is_newcomer boolean, place bigint)
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_seqscan TO 'off'
 SET search_path TO 'public', 'pg_temp'
 SET enable_hashjoin TO 'on'
 SET enable_mergejoin TO 'on'
AS $function$
#variable_conflict use_column
begin
  return query select
    e.subscription_id,
    d.position,
    d.due_at,
    e.is_newcomer,
    e.busy_of_tenant + row_number() over (partition by e.tenant order by e.busy + d.place, d.due_at, d.position)
  from
    svc_endpoints_in_turn(p_methods, p_limit, p_at_once, p_of_tenant, p_now) as e
    cross join lateral (
      select
        w.position,
        w.next_attempt_at as due_at,
        row_number() over (order by w.next_attempt_at, w.position) as place
      from event_deliveries as w
      where
        w.subscription_id = e.subscription_id
        and w.state = 'waiting'
        and w.is_next
        and w.next_attempt_at <= p_now
        and (w.taken_until is null or w.taken_until <= p_now)
      order by w.next_attempt_at, w.position
      limit e.room
    ) as d;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_deliveries_in_turn(p_methods text[], p_limit integer, p_places integer, p_newcomers integer, p_others integer, p_at_once integer, p_of_tenant integer, p_now timestamp with time zone)
 RETURNS TABLE(subscription_id text, "position" bigint, is_newcomer boolean)
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'on'
 SET enable_mergejoin TO 'on'
AS $function$
  with
    due as materialized (
      select
        d.*,
        row_number() over (
          partition by d.is_newcomer
          order by d.place, d.due_at, d.position
        ) as turn
      from svc_deliveries_due(p_methods, p_limit, p_at_once, p_of_tenant, p_now) as d
      where d.place <= p_of_tenant
    ),
    newcomers as materialized (
      select d.*
      from
        due as d,
        (select (p_places + 1) / 2 as places) as half
      where
        d.is_newcomer
        and p_newcomers + d.turn <= half.places
        and d.place <= svc_share(p_newcomers + d.turn, half.places, p_of_tenant)
    ),
    others as (
      select d.*
      from
        due as d,
        (select p_places - p_newcomers - count(*)::integer as places from newcomers) as rest
      where not d.is_newcomer and d.place <= svc_share(p_others + d.turn, rest.places, p_of_tenant)
    )
  select a.subscription_id, a.position, a.is_newcomer
  from
    (
      select * from newcomers
      union all
      select * from others
    ) as a
  order by a.place, a.due_at, a.position
  limit p_limit;
$function$;
CREATE OR REPLACE FUNCTION public.svc_detach_day(p_day date)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '1500ms'
AS $function$
declare
  v_state text;
  v_kept_before text;
  v_name text := 'receipts_' || to_char(p_day, 'YYYYMMDD');
begin
  select state, kept_before into v_state, v_kept_before from cold_days where day = p_day for update;
  if
    v_state is distinct from 'recorded'
    or v_kept_before is null
    or v_kept_before < svc_lowest_receipt_id((p_day + 1)::timestamp at time zone 'UTC')
  then
    return false;
  end if;
  if to_regclass(v_name) is not null then
    execute format('lock table only %I in share update exclusive mode', v_name);
  end if;
  perform set_config('lock_timeout', '100ms', true);
  -- A repair of the clock may have them begin again below the day: it waits, or this does.
  perform from ledger_count for share;
  perform from evidence_naming for share;
  if not svc_is_day_read(p_day) then
    return false;
  end if;
  if to_regclass(v_name) is not null then
    execute format('alter table receipts detach partition %I', v_name);
    execute format('alter table %I rename to %I', v_name, 'detached_' || v_name);
    execute
      format(
        'create trigger refuse_change before insert or update or delete on %I
        for each row execute function svc_refuse_change()',
        'detached_' || v_name
      );
  end if;
  update cold_days
  set
    state = 'cold',
    detached_at = svc_now()
  where day = p_day;
  return true;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_direct_stream(p_subscription_id text, p_method text, p_url text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  update event_subscriptions
  set
    method = p_method,
    url = p_url,
    failing_since = null,
    failures = 0,
    last_problem = null,
    not_before = svc_now(),
    asked_until = null
  where subscription_id = p_subscription_id and (method != p_method or url != p_url);
  if not found then
    return;
  end if;
  perform svc_begin_anew(p_subscription_id);
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_disable_failing(p_after interval, p_node_ms bigint)
 RETURNS TABLE(subscription_id text, url text, method text, audience text, last_problem text)
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select f.subscription_id, f.url, f.method, f.audience, f.last_problem
  from svc_disable_failing(array['webhook', 'push'], 1, p_after, p_node_ms) as f;
$function$;
CREATE OR REPLACE FUNCTION public.svc_disable_failing(p_methods text[], p_limit integer, p_after interval, p_node_ms bigint)
 RETURNS TABLE(subscription_id text, url text, method text, audience text, last_problem text)
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with
    failed as (
      select f.subscription_id
      from event_subscriptions as f
      where
        f.disabled_at is null
        and f.failing_since is not null
        and f.method = any (p_methods)
        and svc_has_failed(f.failing_since, f.failing_days, least(svc_now(), svc_instant(p_node_ms)), p_after)
      order by f.failing_since
      limit p_limit
      for no key update skip locked
    )
  update event_subscriptions as s
  set
    disabled_at = svc_now(),
    disabled_because = 'failing'
  from failed
  where s.subscription_id = failed.subscription_id
  returning s.subscription_id, s.url, s.method, s.audience, s.last_problem;
$function$;
CREATE OR REPLACE FUNCTION public.svc_drop_detached_day(p_day date, p_grace_days integer, p_node_ms bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
begin
  perform from cold_days
  where
    day = p_day
    and state = 'cold'
    and dropped_at is null
    and detached_at < least(svc_now(), svc_instant(p_node_ms)) - make_interval(days => greatest(p_grace_days, 1))
  for update;
  if not found then
    return false;
  end if;
  execute format('drop table if exists %I', 'detached_receipts_' || to_char(p_day, 'YYYYMMDD'));
  update cold_days set dropped_at = svc_now() where day = p_day;
  return true;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_due_since(p_methods text[])
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select min(f.due_at)
  from
    (select svc_now() as at offset 0) as now
    join event_due as e on not e.fails and e.look_at <= now.at
    join event_subscriptions as s on s.subscription_id = e.subscription_id
    cross join lateral (
      select d.next_attempt_at as due_at
      from event_deliveries as d
      where
        d.subscription_id = s.subscription_id
        and d.state = 'waiting'
        and d.is_next
        and d.next_attempt_at <= now.at
        and d.taken_until is null
      order by d.next_attempt_at
      limit 1
    ) as f
  where
    s.disabled_at is null
    and s.failing_since is null
    and s.method = any (p_methods)
    and (s.asked_until is null or s.asked_until <= now.at);
$function$;
CREATE OR REPLACE FUNCTION public.svc_emit_agent_disabled()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform
    svc_emit_event(
      'agent.disabled',
      new.target,
      new.details ->> 'principal',
      null,
      new.occurred_at,
      json_build_object('agent', new.target, 'principal', new.details ->> 'principal')
    );
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_emit_approval()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
        when v_is_asked then (
          select p.did from principals as p where p.did = new.principal and svc_may_hear_decisions(p)
        )
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
$function$;
CREATE OR REPLACE FUNCTION public.svc_emit_checkpoint()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if exists (select from event_wants where type = 'checkpoint.published') then
    perform
      svc_emit_to(
        array['everyone'],
        'checkpoint.published',
        'checkpoints',
        new.created_at,
        json_build_object('day', new.day)
      );
  end if;
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_emit_decisions(p_decisions svc_decision[], p_outcomes text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
begin
  insert into event_outbox (event_id, audience, type, order_key, occurred_at, data)
  select
    'evt_' || substr(d.receipt_id, 5),
    w.audience,
    d.type,
    d.grant_id,
    to_timestamp(d.evaluated_at_ms / 1000.0),
    json_build_object(
      'receipt_id',
      d.receipt_id,
      'relying_party',
      d.relying_party,
      'principal',
      d.principal,
      'grant_id',
      d.grant_id,
      'agent',
      d.agent
    )::text
  from
    (select s.*, 'decision.' || lower(s.decision) as type from unnest(p_decisions) as s) as d
    left join principals as p on p.did = d.principal and svc_may_hear_decisions(p)
    left join relying_parties as r on r.did = d.relying_party
    cross join lateral (
      select distinct w.audience
      from event_wants as w
      where
        w.type = d.type
        and w.audience = any (
          array['rp ' || d.relying_party, 'org ' || r.org_id, 'principal ' || p.did, 'org ' || p.org_id]
        )
    ) as w
  where p_outcomes[d.ordinal] is null
  order by d.ordinal;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_emit_event(p_type text, p_order_key text, p_principal text, p_relying_party text, p_occurred_at timestamp with time zone, p_data json, p_percent integer DEFAULT NULL::integer)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into event_outbox (event_id, audience, type, order_key, occurred_at, percent, data)
  select e.event_id, w.audience, p_type, p_order_key, p_occurred_at, p_percent, p_data::text
  from
    (select 'evt_' || replace(gen_random_uuid()::text, '-', '') as event_id offset 0) as e,
    (
      select distinct w.audience
      from event_wants as w
      where
        w.type = p_type
        and (p_percent is null or w.budget_low_percent = p_percent)
        and w.audience in (
          'principal ' || p_principal,
          'rp ' || p_relying_party,
          'org ' || (select org_id from principals where did = p_principal),
          'org ' || (select org_id from relying_parties where did = p_relying_party)
        )
    ) as w;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_emit_grant_revoked()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_data json := json_build_object('grant_id', new.id, 'principal', new.principal, 'agent', new.agent);
begin
  if not exists (select from event_wants where type = 'grant.revoked') then
    return null;
  end if;
  perform
    svc_emit_to(
      -- Who has verified it is looked up when the log is read: a revocation does not wait for that.
      array(
        select distinct w.audience
        from event_wants as w
        where
          w.type = 'grant.revoked'
          and w.audience in (
            'principal ' || new.principal,
            'org ' || (select org_id from principals where did = new.principal)
          )
      ) || array['verifiers'],
      'grant.revoked',
      new.id,
      new.revoked_at,
      v_data
    );
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_emit_key_state()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform
    svc_emit_event(
      'key.' || new.state,
      new.kid,
      new.principal,
      null,
      new.since,
      json_build_object('kid', new.kid, 'principal', new.principal)
    );
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_emit_low_budgets(p_decisions svc_decision[], p_outcomes text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
begin
  perform
    svc_emit_event(
      'budget.low',
      low.grant_id,
      low.principal,
      null,
      low.at,
      json_build_object(
        'grant_id',
        low.grant_id,
        'principal',
        low.principal,
        'key',
        low.key,
        'percent',
        low.percent
      ),
      low.percent
    )
  from
    (
      select distinct c.grant_id, c.principal, c.key, c.at, w.budget_low_percent as percent
      from
        (
          select
            d.balances_grant_id as grant_id,
            d.budget_key as key,
            max(d.principal) as principal,
            max(to_timestamp(d.evaluated_at_ms / 1000.0)) as at,
            sum(d.delta_total) as delta
          from unnest(p_decisions) as d
          where p_outcomes[d.ordinal] is null and d.budget_key is not null
          group by d.balances_grant_id, d.budget_key
        ) as c
        join consumption_balances as b on b.grant_id = c.grant_id and b.key = c.key
        join principals as p on p.did = c.principal and svc_may_hear_decisions(p)
        join event_wants as w
          on w.type = 'budget.low' and w.audience = any (array['principal ' || p.did, 'org ' || p.org_id])
      where
        b.limit_total is not null
        and (b.limit_total - b.spent_total) * 100 <= b.limit_total * w.budget_low_percent::numeric
        and (b.limit_total - b.spent_total + c.delta) * 100 > b.limit_total * w.budget_low_percent::numeric
    ) as low;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_emit_outcome()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_grant_id text;
begin
  if not exists (select from event_wants where type = 'outcome.reported') then
    return null;
  end if;
  select grant_id into v_grant_id from receipts where receipt_id = new.receipt_id;
  if not found then
    v_grant_id := nullif(current_setting('svc.grant_of_cold_receipt', true), '');
  end if;
  perform
    svc_emit_event(
      'outcome.reported',
      v_grant_id,
      (
        select p.did
        from principals as p
        where
          p.did = new.principal
          and svc_may_hear_decisions(p)
          and new.receipt_id >= svc_lowest_receipt_id(svc_held_since(p))
      ),
      new.relying_party,
      new.recorded_at,
      json_build_object(
        'attestation_id',
        new.attestation_id,
        'receipt_id',
        new.receipt_id,
        'relying_party',
        new.relying_party,
        'principal',
        new.principal,
        'grant_id',
        v_grant_id
      )
    );
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_emit_pause()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_data json := json_build_object('scope', new.scope, 'subject', new.subject, 'paused', new.is_paused);
  v_audiences text[];
begin
  if new.scope in ('org', 'service') then
    v_audiences := array(
      select distinct audience
      from event_wants
      where type = 'pause.changed' and (new.scope = 'service' or audience = 'org ' || new.owner)
    );
    if new.scope = 'service' and cardinality(v_audiences) > 0 then
      v_audiences := array['everyone'];
    end if;
    perform svc_emit_to(v_audiences, 'pause.changed', new.subject, new.changed_at, v_data);
  else
    perform
      svc_emit_event(
        'pause.changed',
        new.subject,
        case
          when new.scope != 'relying_party' then new.owner
        end,
        case
          when new.scope = 'relying_party' then new.owner
        end,
        new.changed_at,
        v_data
      );
  end if;
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_emit_to(p_audiences text[], p_type text, p_order_key text, p_occurred_at timestamp with time zone, p_data json)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_event_id text := 'evt_' || replace(gen_random_uuid()::text, '-', '');
begin
  insert into event_outbox (event_id, audience, type, order_key, occurred_at, data)
  select v_event_id, audience, p_type, p_order_key, p_occurred_at, p_data::text
  from unnest(p_audiences) as audience;
  return v_event_id;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_emit_verification()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform
    svc_emit_event(
      'principal.' || new.verification_state,
      new.did,
      new.did,
      null,
      svc_now(),
      json_build_object('principal', new.did)
    );
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_end_subscription(p_subscription_id text)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  update event_subscriptions
  set
    audience = 'rp deleted',
    url = '',
    description = null,
    disabled_at = coalesce(disabled_at, svc_now()),
    disabled_because = coalesce(disabled_because, 'owner')
  where subscription_id = p_subscription_id and audience != 'rp deleted';
  if not found then
    return false;
  end if;
  delete from event_wants where subscription_id = p_subscription_id;
  delete from event_secrets where subscription_id = p_subscription_id;
  update event_streams
  set authorization_root = null, authorization_sealed = null
  where subscription_id = p_subscription_id;
  return true;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_endpoints_at_work(p_methods text[], p_limit integer, p_at_once integer, p_now timestamp with time zone)
 RETURNS TABLE(subscription_id text, busy integer, room integer, due_at timestamp with time zone, "position" bigint)
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query with
    busy as materialized (
      select d.subscription_id, count(*)::integer as count
      from event_deliveries as d
      where d.state = 'waiting' and d.taken_until > p_now
      group by d.subscription_id
    ),
    firsts as materialized (
      select s.subscription_id, case when s.failing_since is null then p_at_once else 1 end as most, f.*
      from
        svc_looked_at(p_limit, p_now) as due
        join event_subscriptions as s on s.subscription_id = due.subscription_id
        cross join lateral (
          select d.next_attempt_at as due_at, d.position
          from event_deliveries as d
          where
            d.subscription_id = s.subscription_id
            and d.state = 'waiting'
            and d.is_next
            and d.next_attempt_at <= p_now
            and (d.taken_until is null or d.taken_until <= p_now)
          order by d.next_attempt_at, d.position
          limit 1
        ) as f
      where s.disabled_at is null and s.not_before <= p_now and s.method = any (p_methods)
    )
  select
    coalesce(f.subscription_id, b.subscription_id),
    coalesce(b.count, 0),
    greatest(coalesce(f.most, 0) - coalesce(b.count, 0), 0),
    f.due_at,
    f.position
  from firsts as f full join busy as b on b.subscription_id = f.subscription_id;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_endpoints_in_turn(p_methods text[], p_limit integer, p_at_once integer, p_of_tenant integer, p_now timestamp with time zone)
 RETURNS TABLE(subscription_id text, tenant text, is_newcomer boolean, busy integer, busy_of_tenant integer, room integer)
 LANGUAGE sql
 STABLE
 SET enable_seqscan TO 'off'
 SET search_path TO 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_hashjoin TO 'on'
 SET enable_mergejoin TO 'on'
AS $function$
  with
    at_work as materialized (select * from svc_endpoints_at_work(p_methods, p_limit, p_at_once, p_now)),
    of_tenants as (
      select
        w.*,
        t.tenant,
        t.is_newcomer,
        sum(w.busy) over (partition by t.tenant)::integer as busy_of_tenant,
        row_number() over (
          partition by t.tenant
          order by w.room = 0, w.busy, w.due_at, w.position
        ) as place
      from
        at_work as w
        join svc_tenants_of(array(select subscription_id from at_work)) as t
          on t.subscription_id = w.subscription_id
    ),
    of_crowds as (
      select
        o.*,
        row_number() over (
          partition by o.is_newcomer
          order by o.busy_of_tenant + o.place, o.due_at, o.position
        ) as turn
      from of_tenants as o
      where o.room > 0 and o.busy_of_tenant + o.place <= p_of_tenant
    )
  select c.subscription_id, c.tenant, c.is_newcomer, c.busy, c.busy_of_tenant, c.room
  from of_crowds as c
  where c.turn <= p_limit;
$function$;
CREATE OR REPLACE FUNCTION public.svc_ensure_receipt_partitions(p_first date, p_last date)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_day date;
  v_name text;
  v_start timestamptz;
  v_end timestamptz;
  v_created integer := 0;
begin
  if p_last - p_first > 400 then
    raise exception 'partitions for more than 400 days at once';
  end if;
  perform pg_advisory_xact_lock(3, 0);
  for v_day in select d::date from generate_series(p_first, p_last, interval '1 day') as d loop
    v_name := 'receipts_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass(v_name) is not null;
    v_start := v_day::timestamp at time zone 'UTC';
    v_end := (v_day + 1)::timestamp at time zone 'UTC';
    execute
      format(
        'create table %I (like receipts including all,
         constraint evaluated_within_day check (evaluated_at >= %L and evaluated_at < %L))
       with (toast_tuple_target = 8160)',
        v_name,
        v_start,
        v_end
      );
    execute
      format(
        'create trigger refuse_truncate before truncate on %I
      for each statement execute function svc_refuse_change()',
        v_name
      );
    perform svc_share_day(v_name::regclass);
    execute
      format(
        'alter table receipts attach partition %I for values from (%L) to (%L)',
        v_name,
        svc_lowest_receipt_id(v_start),
        svc_lowest_receipt_id(v_end)
      );
    v_created := v_created + 1;
  end loop;
  return v_created;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_evidence_of(p_jws text)
 RETURNS SETOF text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select m[1]
  from
    (select translate(split_part(p_jws, '.', 2), '-_', '+/') as payload) as p,
    regexp_matches(
      case
        when p.payload ~ '^[A-Za-z0-9+/]*$'
        and length(p.payload) % 4 != 1 then encode(
          decode(rpad(p.payload, (length(p.payload) + 3) / 4 * 4, '='), 'base64'),
          'escape'
        )
        else ''
      end,
      '"(?:did_document_hash|credential_hash)":"(sha256:[0-9a-f]{64})"',
      'g'
    ) as m;
$function$;
CREATE OR REPLACE FUNCTION public.svc_failing_days(p_subscription event_subscriptions)
 RETURNS integer
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    case
      when p_subscription.failing_since is null then 1
      when p_subscription.failing_day_at <= svc_now(

      ) - interval '20 hours' then p_subscription.failing_days + 1
      else p_subscription.failing_days
    end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_find_manifest_problem(p_day date, p_manifest text, p_hash text)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_part text := translate(split_part(p_manifest, '.', 2), '-_', '+/');
  v_day jsonb;
  v_published checkpoints;
begin
  if p_hash is distinct from 'sha256:' || encode(sha256(convert_to(p_manifest, 'UTF8')), 'hex') then
    return 'its hash is another';
  end if;
  begin
    v_day := convert_from(decode(rpad(v_part, (length(v_part) + 3) / 4 * 4, '='), 'base64'), 'UTF8')::jsonb;
  exception when others then
    return 'it is no compact JWS of JSON';
  end;
  select * into v_published from checkpoints where day = p_day;
  return case
    when v_day ->> 'day' is distinct from p_day::text then 'it is of another day'
    when v_day ->> 'checkpoint_hash' is distinct from v_published.hash then 'it is of another checkpoint'
    when v_day ->> 'root' is distinct from v_published.root
    or v_day ->> 'content_root' is distinct from v_published.content_root
    or v_day -> 'tree_size' is distinct from to_jsonb(
      v_published.tree_size
    ) then 'it has other roots than were published'
    when (
      select coalesce(sum((object ->> 'rows')::numeric), 0)
      from jsonb_path_query(v_day, '$.tables.receipts[*]') as objects (object)
    ) != v_published.tree_size then 'its objects have more or fewer Receipts'
    when exists (
      select
      from jsonb_path_query(v_day, '$.tables.*[*]') as objects (object)
      where starts_with(object ->> 'name', p_day::text || '/') is not true
    ) then 'it names objects of another day'
  end;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_find_next(p_subscription_id text, p_order_keys text[])
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with
    firsts as (
      select
        k.order_key,
        (
          select min(e.position)
          from event_deliveries as e
          where e.subscription_id = p_subscription_id and e.order_key = k.order_key and e.state = 'waiting'
        ) as position
      from (select distinct unnest(p_order_keys) as order_key) as k
    )
  update event_deliveries as d
  set is_next = d.position = f.position
  from firsts as f
  where
    d.subscription_id = p_subscription_id
    and d.order_key = f.order_key
    and d.state = 'waiting'
    and d.is_next != (d.position = f.position);
  select svc_note_due(p_subscription_id);
$function$;
CREATE OR REPLACE FUNCTION public.svc_find_search(p_principal text)
 RETURNS verifier_searches
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_search verifier_searches;
begin
  select * into v_search from verifier_searches where principal = p_principal;
  if not found then
    insert into verifier_searches (principal, up_to)
    select p_principal, max(position)
    from
      (
        select position
        from event_log
        where audience = 'verifiers ' || p_principal
        order by position
        limit 16
      ) as first
    having count(*) > 0
    returning *
    into v_search;
  end if;
  return v_search;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_find_table_of_day(p_day date, p_state text)
 RETURNS regclass
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    to_regclass(
      'public.' || case p_state
        when 'cold' then 'detached_'
        else ''
      end || 'receipts_' || to_char(p_day, 'YYYYMMDD')
    );
$function$;
CREATE OR REPLACE FUNCTION public.svc_first_due(p_fails boolean, p_from integer, p_tenants integer, p_limit integer, p_now timestamp with time zone)
 RETURNS TABLE(subscription_id text, noted bigint)
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
  v_after bigint := p_from::bigint - 1;
  v_is_around boolean := false;
  v_first record;
  v_hashes integer[] := '{}';
begin
  for i in 1..p_tenants loop
    select whose, look_at into v_first
    from event_due
    where fails = p_fails and whose > v_after
    order by whose, look_at
    limit 1;
    if not found and not v_is_around then
      v_is_around := true;
      v_after := -2147483649;
      continue;
    end if;
    exit when v_first is null or v_is_around and v_first.whose >= p_from;
    if v_first.look_at <= p_now then
      v_hashes := v_hashes || v_first.whose;
    end if;
    v_after := v_first.whose;
  end loop;
  return query select f.subscription_id, f.noted
    from
      unnest(v_hashes) as h (hash)
      cross join lateral (
        select e.subscription_id, e.noted
        from event_due as e
        where e.fails = p_fails and e.whose = h.hash and e.look_at <= p_now
        order by e.look_at
        limit greatest(1, p_limit / cardinality(v_hashes))
      ) as f;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_first_hosts_due(p_from integer, p_limit integer, p_now timestamp with time zone)
 RETURNS SETOF text
 LANGUAGE plpgsql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_after bigint := p_from::bigint - 1;
  v_is_around boolean := false;
  v_first record;
  v_hashes integer[] := '{}';
begin
  for i in 1..p_limit loop
    select
      hashtext(coalesce(org_id, did)) as hash,
      svc_check_due(verification_state, last_checked_at, last_proven_at) as due_at
    into v_first
    from principals
    where kind = 'hosted' and hashtext(coalesce(org_id, did)) > v_after
    order by
      hashtext(coalesce(org_id, did)),
      svc_check_due(verification_state, last_checked_at, last_proven_at),
      did
    limit 1;
    if not found and not v_is_around then
      v_is_around := true;
      v_after := -2147483649;
      continue;
    end if;
    exit when v_first is null or v_is_around and v_first.hash >= p_from;
    if v_first.due_at < p_now then
      v_hashes := v_hashes || v_first.hash;
    end if;
    v_after := v_first.hash;
  end loop;
  return query select f.did
    from
      unnest(v_hashes) as h (hash)
      cross join lateral (
        select p.did
        from principals as p
        where
          p.kind = 'hosted'
          and hashtext(coalesce(p.org_id, p.did)) = h.hash
          and svc_check_due(p.verification_state, p.last_checked_at, p.last_proven_at) < p_now
        order by svc_check_due(p.verification_state, p.last_checked_at, p.last_proven_at), p.did
        limit p_limit / greatest(1, cardinality(v_hashes))
      ) as f;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_forget_approvals()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if tg_table_name = 'principals' then
    delete from approval_requests where principal = old.did;
  else
    delete from approval_requests where relying_party = old.did;
  end if;
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_forget_audience(p_audience text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform svc_end_subscription(subscription_id) from event_subscriptions where audience = p_audience;
  -- Waits for whoever is moving them: then they are in the log.
  delete from event_outbox where audience = p_audience;
  insert into event_floors as f (audience, position)
  select p_audience, max(position)
  from event_log
  where audience = p_audience
  having max(position) is not null
  on conflict (audience) do update
    set position = greatest(f.position, excluded.position);
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_forget_deliveries(p_positions bigint[], p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_ids text[];
  v_positions bigint[];
  v_removed integer := 0;
  v_left record;
begin
  select array_agg(g.subscription_id), array_agg(g.position)
  into v_ids, v_positions
  from
    (
      (
        select e.subscription_id, e.position
        from event_deliveries as e
        where e.position < coalesce((select min(position) from event_log), 9223372036854775807)
        order by e.position
        limit p_limit
      )
      union all
      select d.subscription_id, d.position
      from
        unnest(p_positions) as p (position)
        cross join lateral (
          select e.subscription_id, e.position
          from event_deliveries as e
          where e.position = p.position
          limit p_limit
        ) as d
      limit p_limit
    ) as g;
  -- What is next in order is found with the rows of the subscriptions.
  perform
  from event_subscriptions
  where subscription_id = any (v_ids)
  order by subscription_id
  for no key update;
  for v_left in with
    removed as (
      delete from event_deliveries as d
      using unnest(v_ids, v_positions) as g (subscription_id, position)
      where d.subscription_id = g.subscription_id and d.position = g.position
      returning d.subscription_id, d.order_key, d.state
    )
  select
    subscription_id,
    count(*)::integer as count,
    array_agg(distinct order_key) filter (where state = 'waiting' and order_key is not null) as order_keys
  from removed
  group by subscription_id loop
    v_removed := v_removed + v_left.count;
    if v_left.order_keys is not null then
      perform svc_find_next(v_left.subscription_id, v_left.order_keys);
    end if;
  end loop;
  return v_removed;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_forget_domains()
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  update principals
  set
    verification_state = 'unverified',
    verified_since = null,
    last_checked_at = null,
    document_resolved_at = case
      when document_resolved_at is not null then 'epoch'::timestamptz
    end,
    version = version + 1
  where kind = 'hosted';
$function$;
CREATE OR REPLACE FUNCTION public.svc_forget_ended(p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_removed integer;
begin
  delete from event_deliveries as d
  using
    (
      select s.subscription_id, e.position
      from
        event_subscriptions as s
        cross join lateral (
          select position from event_deliveries where subscription_id = s.subscription_id order by position limit p_limit
        ) as e
      where s.audience = 'rp deleted'
      limit p_limit
    ) as ended
  where d.subscription_id = ended.subscription_id and d.position = ended.position;
  get diagnostics v_removed = row_count;
  delete from event_subscriptions as s
  where s.audience = 'rp deleted' and not exists (
    select from event_deliveries as d where d.subscription_id = s.subscription_id
  );
  return v_removed;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_forget_events(p_limit integer, p_kept interval, p_node_ms bigint)
 RETURNS integer
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_before timestamptz := least(svc_now(), svc_instant(p_node_ms)) - p_kept;
  v_old bigint[];
  v_deliveries integer;
  v_events integer;
begin
  delete from event_wants
  where
    subscription_id in (
      select s.subscription_id
      from event_subscriptions as s
      where
        s.disabled_at < v_before and exists (select from event_wants as w where w.subscription_id = s.subscription_id)
      limit p_limit
      for no key update skip locked
    );
  v_old := array(
    select position from event_log where logged_at < v_before order by logged_at limit p_limit
  );
  v_deliveries := svc_forget_deliveries(v_old, p_limit);
  -- One that is opened at this moment is deleted as one without its event.
  delete from event_log as l
  where
    l.position = any (v_old) and not exists (select from event_deliveries as d where d.position = l.position);
  get diagnostics v_events = row_count;
  return greatest(v_deliveries, v_events, svc_forget_floors(p_limit), svc_forget_ended(p_limit));
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_forget_floors(p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_removed integer;
begin
  delete from event_log
  where
    position in (
      select l.position
      from
        event_floors as f
        cross join lateral (
          select e.position
          from event_log as e
          where e.audience = f.audience and e.position <= f.position
          order by e.position
          limit p_limit
        ) as l
      limit p_limit
    );
  get diagnostics v_removed = row_count;
  delete from event_floors as f
  where not exists (select from event_log as l where l.audience = f.audience and l.position <= f.position);
  return v_removed;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_forget_pauses()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  delete from pauses where owner = old.did and scope = any (tg_argv);
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_forget_released()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform svc_forget_audience(tg_argv[0] || ' ' || old.did);
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_forget_transferred()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
$function$;
CREATE OR REPLACE FUNCTION public.svc_grant_cold_days(p_role name)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  execute format('revoke all on cold_days, cold_manifests, cold_verifications from %I', p_role);
  execute format('revoke execute on function svc_drop_detached_day from %I', p_role);
  execute
    format(
      'grant execute on function svc_keep_verifiers, svc_detach_day, svc_clear_table_of_day, svc_record_cleared_day,
        svc_note_purged to %I',
      p_role
    );
  execute format('grant select on cold_days, cold_manifests, cold_verifications to %I', p_role);
  execute
    format(
      'grant insert (day, state, manifest, manifest_hash, problem, again_at),
        update (state, manifest, manifest_hash, problem, recorded_at, proven_at, again_at) on cold_days to %I',
      p_role
    );
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_grant_is_paused(p_grant_id text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    exists (
      select
      from
        grants as g
        join principals as p on p.did = g.principal
        cross join lateral (
          values
            ('grant', g.principal, g.id),
            ('agent', g.principal, g.agent),
            ('principal', g.principal, g.principal),
            ('org', p.org_id, p.org_id)
        ) as wanted (scope, owner, subject)
        join pauses as x
          on x.owner = wanted.owner and x.scope = wanted.scope and x.subject = wanted.subject and x.is_paused
      where g.id = p_grant_id
    );
$function$;
CREATE OR REPLACE FUNCTION public.svc_grant_runner(p_role name)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_table regclass;
begin
  execute format('grant usage on schema public to %I', p_role);
  for v_table in select c.oid::regclass
  from pg_class as c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') loop
    execute format('revoke all on %s from %I', v_table, p_role);
  end loop;
  execute format('grant select on migrations, service_dids, conformance_runs to %I', p_role);
  execute
    format(
      'grant update (status, finished_at, requests, vectors_sha256, conformance_version, error, report, lease, leased_until)
      on conformance_runs to %I',
      p_role
    );
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_grant_service(p_role name)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_table record;
begin
  execute format('grant usage on schema public to %I', p_role);
  for v_table in select c.oid::regclass as name, c.relname, coalesce(bit_or(t.tgtype::integer), 0) as refused
  from
    pg_class as c
    left join pg_trigger as t on t.tgrelid = c.oid and t.tgname = 'refuse_change'
  where
    c.relnamespace = 'public'::regnamespace
    and c.relkind in ('r', 'p')
    and not c.relispartition
    and c.relname !~ '^detached_receipts_\d{8}$'
  group by c.oid, c.relname loop
    execute format('revoke all on %s from %I', v_table.name, p_role);
    execute
      format(
        'grant select%s%s%s on %s to %I',
        case
          when v_table.relname != 'migrations' then ', insert'
        end,
        -- Of a trigger's type 16 is update, 8 is delete.
        case
          when v_table.relname != 'migrations'
          and v_table.refused & 16 = 0 then ', update'
        end,
        case
          when v_table.relname != 'migrations'
          and v_table.refused & 8 = 0 then ', delete'
        end,
        v_table.name,
        p_role
      );
  end loop;
  perform svc_grant_cold_days(p_role);
  perform svc_share_days();
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_has_failed(p_failing_since timestamp with time zone, p_failing_days integer, p_now timestamp with time zone, p_after interval)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select p_failing_since <= p_now - p_after and p_failing_days >= 3;
$function$;
CREATE OR REPLACE FUNCTION public.svc_has_verified(p_relying_parties text[], p_principal text, p_grant_id text)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_from text := (
    select svc_lowest_receipt_id(allocated_at - interval '1 minute') from grants where id = p_grant_id
  );
begin
  return exists (
    select
    from
      unnest(p_relying_parties) as rp (did)
      -- In the order of receipts_by_principal: whatever is known of the tables when this is planned, no other index has it, by which all that is
      -- of the Grant or of the relying party would be read.
      cross join lateral (
        select r.principal, r.relying_party, r.grant_id
        from receipts as r
        where
          r.receipt_id >= v_from
          and hashtext(r.principal) = hashtext(p_principal)
          and hashtext(r.relying_party) = hashtext(rp.did)
          and hashtext(r.grant_id) between hashtext(p_grant_id) and hashtext(p_grant_id)
        order by hashtext(r.grant_id)
        offset 0
      ) as r
    where r.principal = p_principal and r.relying_party = rp.did and r.grant_id = p_grant_id
  )
  or exists (
    select
    from cold_verifications as c
    where
      c.grant_id = p_grant_id
      and c.principal = p_principal
      and c.relying_party = any (p_relying_parties)
      and c.latest_receipt_id >= v_from
  );
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_heat_days(p_today date)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '10s'
AS $function$
declare
  v_day date;
  v_state text;
  v_dropped_at timestamptz;
  v_name text;
  v_has_receipts boolean;
begin
  perform from cold_days where day >= p_today order by day for update;
  if not found then
    return;
  end if;
  perform from ledger_count for update;
  for v_day, v_state, v_dropped_at in
    select day, state, dropped_at from cold_days where day >= p_today order by day
  loop
    continue when v_state != 'cold';
    if v_dropped_at is not null then
      raise exception '% is not over and has been removed from the database: bring it back with svc-admin ledger unpack %, then repair the clock',
        v_day,
        v_day
        using errcode = 'object_not_in_prerequisite_state';
    end if;
    v_name := 'receipts_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass('public.detached_' || v_name) is null;
    -- One that was made since for days to come. Nothing is stored into a closed day.
    if to_regclass('public.' || v_name) is not null then
      execute format('select exists (select from %I)', v_name) into v_has_receipts;
      if v_has_receipts then
        raise exception '% has Receipts, although % has left the ledger', v_name, v_day
          using errcode = 'object_not_in_prerequisite_state';
      end if;
      execute format('drop table %I', v_name);
    end if;
    execute format('drop trigger refuse_change on %I', 'detached_' || v_name);
    execute format('alter table %I rename to %I', 'detached_' || v_name, v_name);
    execute
      format(
        'alter table receipts attach partition %I for values from (%L) to (%L)',
        v_name,
        svc_lowest_receipt_id(v_day::timestamp at time zone 'UTC'),
        svc_lowest_receipt_id((v_day + 1)::timestamp at time zone 'UTC')
      );
  end loop;
  alter table cold_manifests disable trigger refuse_change;
  delete from cold_manifests where day >= p_today;
  alter table cold_manifests enable trigger refuse_change;
  alter table cold_days disable trigger refuse_change;
  delete from cold_days where day >= p_today;
  alter table cold_days enable trigger refuse_change;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_held_since(p_principal principals)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    greatest(
      p_principal.created_at,
      (
        select max(occurred_at)
        from audit_events
        where
          target = p_principal.did
          and action = 'principal.verify'
          and details ->> 'claim' = 'transferred'
      )
    );
$function$;
CREATE OR REPLACE FUNCTION public.svc_hold_days()
 RETURNS void
 LANGUAGE plpgsql
 SET lock_timeout TO '200ms'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_today integer := svc_day_number(svc_ms(clock_timestamp()));
begin
  for v_day in v_today - 1..v_today + 1 loop
    perform pg_advisory_xact_lock(2, v_day);
  end loop;
  perform set_config('idle_in_transaction_session_timeout', '300', true);
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_hold_reader(p_subscription_id text)
 RETURNS event_subscriptions
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_subscription event_subscriptions;
begin
  select *
  into v_subscription
  from event_subscriptions
  where subscription_id = p_subscription_id
  for no key update skip locked;
  if found and v_subscription.disabled_at is null then
    return v_subscription;
  end if;
  delete from event_behind as b
  where
    b.subscription_id = p_subscription_id
    and (
      v_subscription.disabled_at is not null
      or not exists (select from event_subscriptions as s where s.subscription_id = b.subscription_id)
    );
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_hosts_due(p_limit integer, p_from integer)
 RETURNS TABLE(did text, org_id text, due_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
  v_now timestamptz := svc_now();
begin
  return query
    with
      longest as materialized (
        select p.did
        from principals as p
        where
          p.kind = 'hosted' and svc_check_due(p.verification_state, p.last_checked_at, p.last_proven_at) < v_now
        order by svc_check_due(p.verification_state, p.last_checked_at, p.last_proven_at), p.did
        limit p_limit
      ),
      due as (
        select l.did from longest as l
        union
        select f.did
        from
          (select count(*) as count from longest) as l
          cross join lateral svc_first_hosts_due(p_from, p_limit, v_now) as f (did)
        where l.count = p_limit
      )
    select d.did, p.org_id, svc_check_due(p.verification_state, p.last_checked_at, p.last_proven_at)
    from due as d join principals as p on p.did = d.did;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_instant(p_ms bigint)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select to_timestamp(p_ms / 1000.0);
$function$;
CREATE OR REPLACE FUNCTION public.svc_is_dated_by_id(p_event_id text, p_occurred_at timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select
    abs(
      extract(
        epoch from p_occurred_at - to_timestamp(
          (
            ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 5, 1)) - 1)::bigint << 45) + (
              (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 6, 1)) - 1)::bigint << 40
            ) + ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 7, 1)) - 1)::bigint << 35) + (
              (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 8, 1)) - 1)::bigint << 30
            ) + ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 9, 1)) - 1)::bigint << 25) + (
              (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 10, 1)) - 1)::bigint << 20
            ) + (
              (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 11, 1)) - 1)::bigint << 15
            ) + (
              (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 12, 1)) - 1)::bigint << 10
            ) + ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 13, 1)) - 1)::bigint << 5) + (
              (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 14, 1)) - 1)::bigint << 0
            )
          ) / 1000.0::float8
        )
      )
    ) <= 3600;
$function$;
CREATE OR REPLACE FUNCTION public.svc_is_day_read(p_day date)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    c.counted_before >= b.day_end and e.named_before >= b.day_end
  from
    ledger_count as c,
    evidence_naming as e,
    lateral (select svc_lowest_receipt_id((p_day + 1)::timestamp at time zone 'UTC') as day_end) as b;
$function$;
CREATE OR REPLACE FUNCTION public.svc_is_day_to_clear(p_day date, p_node_ms bigint)
 RETURNS boolean
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    (p_day + 1)::timestamp at time zone 'UTC' <= least(
      svc_actions_kept_since(),
      svc_instant(p_node_ms) - interval '7 years'
    );
$function$;
CREATE OR REPLACE FUNCTION public.svc_is_early(p_scheduled_at timestamp with time zone, p_taken_at timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select coalesce(p_scheduled_at > p_taken_at, false);
$function$;
CREATE OR REPLACE FUNCTION public.svc_is_within(p_spent bigint, p_delta bigint, p_limit bigint)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select p_delta = 0 or p_limit is null or p_spent + p_delta <= p_limit;
$function$;
CREATE OR REPLACE FUNCTION public.svc_judge(p_decisions svc_decision[], p_outcomes text[])
 RETURNS text[]
 LANGUAGE plpgsql
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
AS $function$
declare
  v_now timestamptz := clock_timestamp();
  v_sealed_before text;
  v_is_paused boolean;
begin
  select sealed_before, is_paused into strict v_sealed_before, v_is_paused from ledger_seal;
  return (
    select
      array_agg(
        case
          when p_outcomes[d.ordinal] is not null then p_outcomes[d.ordinal]
          when d.spend_grant_id is distinct from (
            case d.decision
              when 'ALLOW' then d.grant_id
            end
          )
          or (d.decision = 'ALLOW' and (d.grant_id is null or d.used_grant_id is distinct from d.grant_id))
          or (d.decision != 'ALLOW' and d.binds_grant_hash is not null) then 'REFUSED'
          when to_timestamp(d.evaluated_at_ms / 1000.0) not between v_now - interval '2 seconds' and v_now
          or d.receipt_id < v_sealed_before then 'CLOCK'
          when k.key_hash is null
          or k.revoked_at is not null then 'KEY_REVOKED'
          when c.day is not null
          or r.version is distinct from d.relying_party_version
          or (d.used_principal is not null and p.version is distinct from d.used_principal_version)
          or (d.org_id is not null and coalesce(e.version, 0) is distinct from d.entitlement_version)
          -- The lock that was taken must be the lock of this Grant's Principal.
          or (
            d.used_grant_id is not null
            and (
              g.revocation_recorded_at is not null
              or g.principal is null
              or g.principal is distinct from d.used_principal
            )
          )
          -- The versions say so too, to whoever knows of pauses. A node that does not, or is wrong, never allows.
          or (
            d.decision = 'ALLOW'
            and (v_is_paused or r.is_paused or (p.has_pauses and svc_grant_is_paused(d.used_grant_id)))
          ) then 'STALE'
          when d.is_enforced
          and (
            e.production is distinct from 'allowed'
            or e.production_until <= to_timestamp(d.evaluated_at_ms / 1000.0)
          ) then 'PLAN_REQUIRED'
        end
        order by d.ordinal
      )
    from
      unnest(p_decisions) as d
      left join closed_days as c on c.day = date '1970-01-01' + svc_day_number(d.evaluated_at_ms)
      left join relying_parties as r on r.did = d.relying_party
      left join api_keys as k on k.key_hash = decode(d.key_hash, 'hex')
      left join principals as p on p.did = d.used_principal
      left join entitlements as e on e.org_id = d.org_id
      left join grants as g on g.id = d.used_grant_id
  );
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_judge_budgets(p_decisions svc_decision[], p_missed integer[], p_outcomes text[])
 RETURNS text[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    with
      decision as (
        select
          d.ordinal,
          p_outcomes[d.ordinal] as outcome,
          d.balances_grant_id as grant_id,
          d.balances_version as version,
          d.budget_key is not null as consumes
        from unnest(p_decisions) as d
      ),
      present as (
        select grant_id, svc_balances_version(grant_id) as version
        from decision
        where hashtext(grant_id) != all (p_missed)
        group by grant_id
      ),
      placed as (
        select
          d.*,
          d.outcome is null
          and d.version is not distinct from p.version + count(*)
            filter (where d.consumes)
            over ahead as holds
        from
          decision as d
          left join present as p using (grant_id)
        window
          ahead as (
            partition by d.grant_id
            order by d.ordinal
            rows between unbounded preceding and 1 preceding
          )
      )
    select
      array_agg(
        case
          when p.grant_id is not null
          and p.outcome is null
          and not (p.holds and p.ordinal <= coalesce(p.first_lost, p.ordinal)) then 'OVERTAKEN'
          else p.outcome
        end
        order by p.ordinal
      )
    from
      (
        select
          *,
          min(ordinal) filter (where consumes and not holds) over (partition by grant_id) as first_lost
        from placed
      ) as p
  );
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_judge_caps(p_decisions svc_decision[], p_outcomes text[])
 RETURNS text[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select
      array_agg(
        case
          when d.is_enforced
          and d.outcome is null
          and d.place > d.room then 'ABOVE_CAP'
          else d.outcome
        end
        order by d.ordinal
      )
    from
      (
        select
          d.ordinal,
          p_outcomes[d.ordinal] as outcome,
          d.is_enforced,
          e.check_cap - e.checks_since_cap as room,
          count(*)
            filter (where p_outcomes[d.ordinal] is null and e.org_id is not null)
            over (
              partition by d.org_id
              order by d.ordinal
            ) as place
        from
          unnest(p_decisions) as d
          left join entitlements as e
            on e.org_id = d.org_id and e.cap_since <= to_timestamp(d.evaluated_at_ms / 1000.0)
      ) as d
  );
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_keep_former_manifest()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into cold_manifests (manifest_hash, day, manifest, recorded_at)
  values (old.manifest_hash, old.day, old.manifest, old.recorded_at)
  on conflict do nothing;
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_keep_served_list(p_url text, p_hash text, p_node_ms bigint)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if not exists (select from loose_evidence where hash = p_hash) then
    return;
  end if;
  insert into served_lists as s (url, kept_at)
  values (p_url, least(svc_now(), svc_instant(p_node_ms)))
  on conflict (url) do update
    set kept_at = excluded.kept_at
    where s.kept_at < excluded.kept_at - interval '1 minute';
  if found then
    delete from loose_evidence where hash = p_hash;
  end if;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_keep_verifiers(p_day date, p_limit integer)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  v_from text;
  v_to text;
  v_end text := svc_lowest_receipt_id((p_day + 1)::timestamp at time zone 'UTC');
begin
  select coalesce(kept_before, svc_lowest_receipt_id(p_day::timestamp at time zone 'UTC'))
  into v_from
  from cold_days
  where day = p_day and state = 'recorded'
  for update;
  if v_from is null or v_from >= v_end then
    return true;
  end if;
  select receipt_id
  into v_to
  from receipts
  where receipt_id >= v_from and receipt_id < v_end
  order by receipt_id
  offset p_limit
  limit 1;
  v_to := coalesce(v_to, v_end);
  insert into cold_verifications as c (grant_id, principal, relying_party, latest_receipt_id)
  select grant_id, principal, relying_party, max(receipt_id)
  from receipts
  where receipt_id >= v_from and receipt_id < v_to and grant_id is not null and principal is not null
  group by 1, 2, 3
  on conflict (grant_id, principal, relying_party) do update
    set latest_receipt_id = excluded.latest_receipt_id
    where c.latest_receipt_id < excluded.latest_receipt_id;
  update cold_days set kept_before = v_to where day = p_day;
  return v_to >= v_end;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_kept_name(p_did text, p_version bigint)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    json_build_object(
      'principal',
      (
        select json_build_object('org_id', org_id, 'since_ms', svc_ms(created_at))
        from principals
        where did = p_did
      ),
      'relying_party',
      (
        select
          json_build_object(
            'org_id',
            org_id,
            'since_ms',
            svc_ms(created_at),
            'proof_window_seconds',
            proof_window_seconds,
            'verify_rate_limit_per_minute',
            verify_rate_limit_per_minute,
            'profile',
            profile
          )
        from relying_parties
        where did = p_did
      ),
      'version',
      svc_note_version(p_version)
    )::text;
$function$;
CREATE OR REPLACE FUNCTION public.svc_kept_pause(p_name text, p_version bigint)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    json_build_object(
      'scope',
      x.scope,
      'owner',
      x.owner,
      'subject',
      x.subject,
      'is_paused',
      x.is_paused,
      'reason',
      x.reason,
      'changed_at_ms',
      svc_ms(x.changed_at),
      'since_ms',
      svc_ms(svc_pause_owner_since(x.scope, x.owner)),
      'version',
      svc_note_version(p_version)
    )::text
  from pauses as x
  where
    x.owner = split_part(p_name, ' ', 2)
    and x.scope = split_part(substr(p_name, 7), ' ', 1)
    and x.subject = split_part(p_name, ' ', 3);
$function$;
CREATE OR REPLACE FUNCTION public.svc_kept_revoked(p_name text, p_version bigint)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    case split_part(p_name, ':', 1)
      when 'key' then (
        select
          json_build_object(
            'principal',
            k.principal,
            'since_ms',
            svc_ms(p.created_at),
            'state',
            k.state,
            'public_key_multibase',
            k.public_key_multibase,
            'version',
            svc_note_version(p_version)
          )::text
        from
          principal_keys as k
          join principals as p on p.did = k.principal
        where 'key:' || k.kid = p_name
      )
      when 'agent' then (
        select
          json_build_object(
            'principal',
            a.principal,
            'since_ms',
            svc_ms(p.created_at),
            'agent',
            a.did,
            'version',
            svc_note_version(p_version)
          )::text
        from
          agents as a
          join principals as p on p.did = a.principal
        where a.principal = split_part(substr(p_name, 7), ' ', 1) and a.did = split_part(p_name, ' ', 2)
      )
      when 'entitlement' then (
        select
          json_build_object(
            'org_id',
            e.org_id,
            'production',
            e.production,
            'production_until_ms',
            svc_ms(e.production_until),
            'check_cap',
            e.check_cap,
            'cap_since_ms',
            svc_ms(e.cap_since),
            'reason',
            e.reason,
            'as_of_ms',
            svc_ms(e.as_of),
            'version',
            svc_note_version(p_version)
          )::text
        from entitlements as e
        where 'entitlement:' || e.org_id = p_name
      )
      when 'service-key' then (
        select
          json_build_object(
            'public_key',
            k.public_key,
            'ends',
            (select json_agg(e.state) from service_key_ends as e where e.kid = k.kid),
            'version',
            svc_note_version(p_version)
          )::text
        from service_keys as k
        where 'service-key:' || k.kid = p_name
      )
    end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_kept_text(p_kind text, p_name text, p_version bigint)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    case p_kind
      when 'status-list' then (
        select
          json_build_object(
            'url',
            l.url,
            'domain',
            l.domain,
            'number',
            l.number,
            'version',
            l.version,
            'credential',
            l.credential
          )::text
        from status_lists as l
        where l.url = p_name
      )
      when 'checkpoint' then (
        select to_json(c)::text
        from checkpoints as c
        where c.day = p_name::date
      )
      when 'name' then case
        when p_name like 'did:%' then svc_kept_name(p_name, p_version)
      end
      when 'revoked' then case
        when p_name like 'pause:%' then svc_kept_pause(p_name, p_version)
        when p_name like 'unlisted:%' then svc_kept_unlisted(
          split_part(substr(p_name, 10), ' ', 1),
          p_version
        )
        else svc_kept_revoked(p_name, p_version)
      end
    end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_kept_unlisted(p_url text, p_version bigint)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    json_build_object(
      'url',
      l.url,
      'bits',
      (
        select
          translate(
            encode(
              decode(
                rpad(
                  string_agg(repeat('00', b.byte - b.byte_before - 1) || lpad(to_hex(b.bits), 2, '0'), '' order by b.byte),
                  l.size_bits / 4,
                  '0'
                ),
                'hex'
              ),
              'base64'
            ),
            e'\n',
            ''
          )
        from
          (
            select
              e.byte,
              e.bits,
              lag(e.byte, 1, -1) over (order by e.byte) as byte_before
            from
              (
                select g.status_index / 8 as byte, bit_or(128 >> (g.status_index % 8)) as bits
                from grants as g
                where
                  g.status_list_url = p_url
                  and g.revocation_recorded_at is not null
                  and g.revoked_at is null
                group by 1
              ) as e
          ) as b
      ),
      'version',
      svc_note_version(p_version)
    )::text
  from status_lists as l
  where
    l.url = p_url
    and exists (
      select
      from grants as g
      where g.status_list_url = p_url and g.revocation_recorded_at is not null and g.revoked_at is null
    );
$function$;
CREATE OR REPLACE FUNCTION public.svc_lock_approvals(p_principal text, p_relying_party text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform pg_advisory_xact_lock(12, hashtext(p_relying_party));
  perform pg_advisory_xact_lock(13, hashtext(p_principal));
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_lock_balances(p_grant_ids text[], p_wait interval)
 RETURNS text[]
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_deadline timestamptz := clock_timestamp() + p_wait;
  v_wanted record;
  v_missed text[] := '{}';
begin
  for v_wanted in select
    hashtext(grant_id) as key,
    array_agg(distinct grant_id) as grant_ids
  from unnest(p_grant_ids) as grant_id
  group by hashtext(grant_id)
  order by 1 loop
    if not svc_take_lock(9, v_wanted.key, true, v_deadline) then
      v_missed := v_missed || v_wanted.grant_ids;
    end if;
  end loop;
  return v_missed;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_lock_pause_owner(p_scope text, p_owner text)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  case p_scope
    when 'service' then
      -- In the order in which an org takes its members, and before the row that whoever registers one shares.
      perform from relying_parties order by did for no key update;
      -- Nobody registers meanwhile (svc_register_beside_pause).
      perform from ledger_seal for update;
    when 'org' then
      -- The row of the org comes first: nobody joins meanwhile (svc_pause_with_org).
      perform from orgs where org_id = p_owner for update;
      if not found then
        return false;
      end if;
      perform from principals where org_id = p_owner order by did for no key update;
      perform from relying_parties where org_id = p_owner order by did for no key update;
      return true;
    when 'relying_party' then
      perform from relying_parties where did = p_owner for no key update;
    else
      perform from principals where did = p_owner for no key update;
  end case;
  return found;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_lock_revocations(p_principal text, p_grant_ids text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform
  from grants as g
  where g.id = any (p_grant_ids) and g.principal = p_principal and g.revocation_recorded_at is null
  order by g.id
  for update;
  perform
  from status_lists as l
  where
    l.url in (
      select g.status_list_url from grants as g where g.id = any (p_grant_ids) and g.principal = p_principal
    )
  order by l.url
  for update;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_log_consumption(p_decisions svc_decision[], p_outcomes text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  insert into consumption_events
    (
      grant_id,
      version,
      key,
      delta_total,
      delta_period,
      delta_uses,
      period_start,
      cause,
      cause_id,
      receipt_id,
      recorded_at
    )
  select
    d.balances_grant_id,
    d.balances_version + 1,
    d.budget_key,
    d.delta_total,
    d.delta_period,
    d.delta_uses,
    to_timestamp(d.period_start_ms / 1000.0),
    'consume',
    d.receipt_id,
    d.receipt_id,
    to_timestamp(d.evaluated_at_ms / 1000.0)
  from unnest(p_decisions) as d
  where p_outcomes[d.ordinal] is null and d.budget_key is not null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_log_events(p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_moved integer;
begin
  with
    -- Of this server, then of the one that this database is a dump of.
    ready as (
      select seq
      from
        (
          (
            select o.xid, o.seq
            from event_outbox as o
            where o.xid < pg_snapshot_xmin(pg_current_snapshot())
            order by o.xid, o.seq
            limit p_limit
          )
          union all
          (
            select o.xid, o.seq
            from event_outbox as o
            where o.xid >= pg_snapshot_xmax(pg_current_snapshot())
            order by o.xid, o.seq
            limit p_limit
          )
        ) as r
      order by r.xid, r.seq
      limit p_limit
    ),
    taken as (delete from event_outbox where seq in (select seq from ready) returning *),
    logged as (
      insert into event_log (event_id, audience, type, order_key, occurred_at, percent, data)
      select
        event_id,
        case
          when audience = 'verifiers' then 'verifiers ' || (data::json ->> 'principal')
          else audience
        end,
        type,
        order_key,
        occurred_at,
        percent,
        data
      from taken
      order by xid, seq
      on conflict do nothing
    )
  select count(*)
  into v_moved
  from taken;
  return v_moved;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_looked_at(p_limit integer, p_now timestamp with time zone)
 RETURNS TABLE(subscription_id text, noted bigint)
 LANGUAGE sql
 STABLE
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with
    longest as materialized (
      select k.fails, e.subscription_id, e.noted
      from
        unnest(array[false, true]) as k (fails)
        cross join lateral (
          select subscription_id, noted
          from event_due
          where fails = k.fails and look_at <= p_now
          order by look_at
          limit 1024
        ) as e
    )
  select subscription_id, noted
  from longest
  union
  select f.subscription_id, f.noted
  from
    (select fails from longest group by fails having count(*) = 1024) as l
    cross join lateral svc_first_due(
      l.fails,
      hashtext(p_now::text),
      greatest(p_limit, 256),
      1024,
      p_now
    ) as f;
$function$;
CREATE OR REPLACE FUNCTION public.svc_lowest_receipt_id(instant timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    'drc_' || string_agg(
      substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((svc_ms(instant) >> (5 * i)) & 31)::integer + 1, 1),
      ''
      order by i desc
    ) || repeat('0', 16)
  from generate_series(0, 9) as i;
$function$;
CREATE OR REPLACE FUNCTION public.svc_mark_unverified()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
$function$;
CREATE OR REPLACE FUNCTION public.svc_may_hear_decisions(p_principal principals)
 RETURNS boolean
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select p_principal.kind != 'hosted' or svc_verification_state(p_principal) = 'verified';
$function$;
CREATE OR REPLACE FUNCTION public.svc_move_events(p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if not pg_try_advisory_xact_lock(11, 1) then
    return 0;
  end if;
  return svc_log_events(p_limit) + svc_note_everyone(1000);
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_ms(instant timestamp with time zone)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select floor(extract(epoch from instant) * 1000)::bigint;
$function$;
CREATE OR REPLACE FUNCTION public.svc_name_evidence(p_limit integer)
 RETURNS bigint
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_custom_plan'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_from text;
  v_to text;
  v_sealed_before text;
  v_read bigint;
begin
  select named_before into v_from from evidence_naming for update skip locked;
  if v_from is null then
    return 0;
  end if;
  select sealed_before into strict v_sealed_before from ledger_seal;
  select receipt_id
  into v_to
  from receipts
  where receipt_id >= v_from and receipt_id < v_sealed_before
  order by receipt_id
  offset p_limit
  limit 1;
  v_to := coalesce(v_to, v_sealed_before);
  if v_to <= v_from then
    return 0;
  end if;
  select count(*) into v_read from receipts where receipt_id >= v_from and receipt_id < v_to;
  delete from loose_evidence
  where hash in (select svc_evidence_of(jws) from receipts where receipt_id >= v_from and receipt_id < v_to);
  update evidence_naming set named_before = v_to;
  return v_read;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_next_relying_party(p_principal text, p_from text, p_after bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  return (
    select hashtext(relying_party)
    from receipts
    where
      receipt_id >= p_from
      and hashtext(principal) = hashtext(p_principal)
      and hashtext(relying_party) > p_after
    order by hashtext(relying_party)
    limit 1
  );
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_next_to_tell(p_after text)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET enable_seqscan TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    substr(
      coalesce(
        (
          select audience
          from event_log
          where
            audience > 'verifiers ' || p_after
            and audience >= 'verifiers did:'
            and audience < 'verifiers did;'
          order by audience
          limit 1
        ),
        (
          select audience
          from event_log
          where audience >= 'verifiers did:' and audience < 'verifiers did;'
          order by audience
          limit 1
        )
      ),
      11
    );
$function$;
CREATE OR REPLACE FUNCTION public.svc_not_after(p_at timestamp with time zone, p_now timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    case
      when p_at > p_now then p_now
      else p_at
    end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note(p_kind text, p_name text)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  insert into fence_notes (kind, name)
  values (p_kind, p_name)
  on conflict (kind, name) do update set version = default;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_agent()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform svc_note('revoked', 'agent:' || new.principal || ' ' || new.did);
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_attempt(p_subscription_id text, p_position bigint, p_is_delivered boolean, p_status integer, p_problem text, p_retry_s double precision)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_order_key text;
begin
  update event_deliveries
  set
    state = case
      when p_is_delivered then 'delivered'
      when p_retry_s is null then 'failed'
      else 'waiting'
    end,
    attempts = attempts + 1,
    early_attempts = early_attempts + svc_is_early(scheduled_at, taken_at)::integer,
    next_attempt_at = case
      when svc_is_early(scheduled_at, taken_at) then scheduled_at
      else svc_now() + make_interval(secs => coalesce(p_retry_s, 0))
    end,
    scheduled_at = case
      when svc_is_early(scheduled_at, taken_at) then scheduled_at
    end,
    taken_until = null,
    last_attempt_at = svc_now(),
    last_status = p_status,
    last_problem = p_problem
  where subscription_id = p_subscription_id and position = p_position and state = 'waiting'
  returning order_key
  into v_order_key;
  if v_order_key is null or not (p_is_delivered or p_retry_s is null) then
    return;
  end if;
  update event_deliveries
  set is_next = true
  where
    subscription_id = p_subscription_id
    and position = (
      select min(position)
      from event_deliveries
      where subscription_id = p_subscription_id and order_key = v_order_key and state = 'waiting'
    );
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_delivery(p_subscription_id text, p_position bigint, p_is_delivered boolean, p_is_gone boolean, p_status integer, p_problem text, p_retry_s double precision, p_disable_after interval)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_was event_subscriptions;
  v_failing_days integer;
  v_because text;
  v_taken_at timestamptz;
  v_taken_until timestamptz;
begin
  select * into v_was
  from event_subscriptions
  where subscription_id = p_subscription_id
  for no key update;
  if not found then
    return null;
  end if;
  select taken_at, taken_until
  into v_taken_at, v_taken_until
  from event_deliveries
  where subscription_id = p_subscription_id and position = p_position
  for no key update;
  perform svc_note_attempt(p_subscription_id, p_position, p_is_delivered, p_status, p_problem, p_retry_s);
  if not p_is_delivered then
    v_failing_days := svc_failing_days(v_was);
    v_because := case
      when v_was.disabled_at is not null then null
      when p_is_gone then 'gone'
      when svc_has_failed(v_was.failing_since, v_failing_days, svc_now(), p_disable_after) then 'failing'
    end;
    perform svc_note_failure(
      p_subscription_id,
      coalesce(v_taken_at >= v_was.not_before, true),
      p_problem,
      v_failing_days,
      v_because
    );
  elsif v_was.failing_since is not null then
    perform svc_note_recovery(p_subscription_id, v_taken_at);
  end if;
  -- It was not under way any more, so a look may have put the endpoint off.
  if v_taken_until is null then
    perform svc_note_due(p_subscription_id);
  end if;
  return v_because;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_due(p_subscription_id text)
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into event_due as e (subscription_id, fails, whose, look_at)
  select
    s.subscription_id,
    s.failing_since is not null,
    -- As svc_tenants_of has it.
    hashtext(
      coalesce(
        'org ' || case split_part(s.audience, ' ', 1)
          when 'rp' then (
            select r.org_id from relying_parties as r where r.did = split_part(s.audience, ' ', 2)
          )
          when 'principal' then (
            select p.org_id from principals as p where p.did = split_part(s.audience, ' ', 2)
          )
          else split_part(s.audience, ' ', 2)
        end,
        s.audience
      )
    ),
    '-infinity'
  from event_subscriptions as s
  where
    s.subscription_id = p_subscription_id
    and s.disabled_at is null
    and s.method != 'poll'
    and exists (
      select
      from event_deliveries as d
      where d.subscription_id = p_subscription_id and d.state = 'waiting' and d.is_next
    )
  on conflict (subscription_id) do update
    set
      fails = excluded.fails,
      whose = excluded.whose,
      look_at = excluded.look_at,
      noted = default;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_due_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform svc_note_due(new.subscription_id);
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_everyone(p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_everyone event_everyone;
  v_next text[];
begin
  select * into v_everyone from event_everyone where noted_to is not null;
  if not found then
    return 0;
  end if;
  v_next := array(
    select subscription_id
    from event_subscriptions
    where subscription_id > v_everyone.noted_to
    order by subscription_id
    limit p_limit
  );
  insert into event_behind as b (subscription_id, up_to, line)
  select subscription_id, v_everyone.up_to, 'rest'
  from event_subscriptions
  where subscription_id = any (v_next) and audience != 'rp deleted' and read_to < v_everyone.up_to
  on conflict (subscription_id) do update
    set up_to = greatest(b.up_to, excluded.up_to);
  update event_everyone
  set noted_to = case
    when cardinality(v_next) = p_limit then v_next[p_limit]
  end;
  return cardinality(v_next);
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_failure(p_subscription_id text, p_is_news boolean, p_problem text, p_failing_days integer, p_because text)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  update event_subscriptions
  set
    failing_since = coalesce(failing_since, svc_now()),
    failing_day_at = case
      when failing_since is null
      or p_failing_days > failing_days then svc_now()
      else failing_day_at
    end,
    failing_days = p_failing_days,
    last_problem = p_problem,
    failures = case
      when p_is_news then least(failures + 1, 1000)
      else failures
    end,
    -- Two seconds, four, eight, ten minutes at most; less by up to a half.
    not_before = case
      when p_is_news then svc_now() + least(power(2, least(failures + 1, 20)), 600) * (
        0.5 + random() / 2
      ) * interval '1 second'
      else not_before
    end,
    disabled_at = case
      when p_because is null then disabled_at
      else svc_now()
    end,
    disabled_because = coalesce(p_because, disabled_because)
  where subscription_id = p_subscription_id;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_list()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform svc_note('status-list', new.url);
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_logged()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into event_behind as b (subscription_id, up_to)
  select h.subscription_id, max(l.up_to)
  from
    (select audience, max(position) as up_to from logged group by audience) as l
    cross join lateral (
      select s.subscription_id
      from event_subscriptions as s
      where s.audience = l.audience
      union all
      select substr(l.audience, 14)
      where l.audience like 'subscription %'
    ) as h
  group by h.subscription_id
  on conflict (subscription_id) do update
    set
      up_to = greatest(b.up_to, excluded.up_to),
      line = case
        when b.line = 'full' then 'full'
        else 'news'
      end;
  update event_everyone as e
  set
    up_to = l.up_to,
    noted_to = ''
  from (select max(position) as up_to from logged where audience = 'everyone') as l
  where l.up_to is not null;
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_pause()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform svc_note('revoked', svc_pause_name(coalesce(new, old)));
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_purged(p_manifest_hash text, p_grace_days integer, p_node_ms bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  update cold_manifests
  set purged_at = svc_now()
  where
    manifest_hash = p_manifest_hash
    and purged_at is null
    and replaced_at < least(svc_now(), svc_instant(p_node_ms)) - make_interval(
      days => greatest(p_grace_days, 1)
    );
  return found;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_push(p_url text, p_subscription_id text, p_position bigint, p_is_delivered boolean, p_is_gone boolean, p_status integer, p_problem text, p_retry_s double precision, p_disable_after interval)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform from event_subscriptions
  where subscription_id = p_subscription_id and (p_is_delivered or (method = 'push' and url = p_url))
  for no key update;
  if not found then
    update event_deliveries
    set taken_until = null
    where subscription_id = p_subscription_id and position = p_position and state = 'waiting';
    return null;
  end if;
  return svc_note_delivery(
    p_subscription_id,
    p_position,
    p_is_delivered,
    p_is_gone,
    p_status,
    p_problem,
    p_retry_s,
    p_disable_after
  );
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_reading()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into event_behind as b (subscription_id, up_to, line)
  select new.subscription_id, max(position), 'rest'
  from event_log
  having max(position) > new.read_to
  on conflict (subscription_id) do update
    set up_to = greatest(b.up_to, excluded.up_to);
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_recovery(p_subscription_id text, p_taken_at timestamp with time zone)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  update event_subscriptions
  set
    failing_since = null,
    failures = 0,
    last_problem = null,
    not_before = case
      when asked_until > coalesce(p_taken_at, svc_now()) then greatest(asked_until, svc_now())
      else svc_now()
    end
  where subscription_id = p_subscription_id;
  update event_deliveries
  set
    scheduled_at = coalesce(scheduled_at, next_attempt_at),
    next_attempt_at = svc_now() + random() * interval '1 minute'
  where
    subscription_id = p_subscription_id
    and state = 'waiting'
    and next_attempt_at > svc_now() + interval '1 minute'
    and (scheduled_at is null or last_attempt_at <= svc_now() - interval '1 hour');
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_row()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform
    svc_note(
      tg_argv[0],
      coalesce(tg_argv[2], '') || (
        case tg_op
          when 'DELETE' then to_jsonb(old)
          else to_jsonb(new)
        end ->> tg_argv[1]
      )
    );
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_unlisted()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_url text;
  v_bits bytea;
  v_version bigint;
begin
  for v_url in select distinct status_list_url
  from changed
  where revocation_recorded_at is not null and revoked_at is null
  order by status_list_url loop
    -- Read once, and not anew for each Grant.
    select bits || ''::bytea, version into v_bits, v_version from status_lists where url = v_url;
    -- Entry 0 is the highest bit of the first byte, which get_bit counts from the lowest.
    continue when
      not exists (
        select
        from changed
        where
          status_list_url = v_url
          and revocation_recorded_at is not null
          and revoked_at is null
          and get_bit(v_bits, status_index + 7 - 2 * (status_index % 8)) = 0
      );
    perform
      svc_note(
        'revoked',
        concat_ws(
          ' ',
          'unlisted:' || v_url,
          v_version,
          case
            when not pg_try_advisory_xact_lock(14, hashtext(v_url)) then pg_current_xact_id()
          end
        )
      );
  end loop;
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_note_version(p_version bigint)
 RETURNS bigint
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select coalesce(max(epoch), 0)::bigint * 1099511627776 + p_version from restores;
$function$;
CREATE OR REPLACE FUNCTION public.svc_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$
  select date_trunc('milliseconds', clock_timestamp());
$function$;
CREATE OR REPLACE FUNCTION public.svc_open_deliveries(p_subscription_id text, p_window integer)
 RETURNS integer
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select opened from svc_open_for(p_subscription_id, p_window);
$function$;
CREATE OR REPLACE FUNCTION public.svc_open_for(p_subscription_id text, p_window integer, OUT opened integer, OUT has_more boolean)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_subscription event_subscriptions := svc_hold_reader(p_subscription_id);
  v_up_to bigint;
  v_room integer;
  v_next record;
begin
  opened := 0;
  has_more := false;
  if v_subscription.subscription_id is null then
    return;
  end if;
  select up_to into v_up_to from event_behind where subscription_id = p_subscription_id;
  select p_window - count(*)
  into v_room
  from event_deliveries
  where subscription_id = p_subscription_id and state = 'waiting';
  if v_room <= 0 then
    update event_behind
    set line = 'full'
    where subscription_id = p_subscription_id and line != 'full';
    return;
  end if;
  select * into v_next from svc_open_next(v_subscription, v_room);
  perform svc_find_next(p_subscription_id, array_remove(v_next.order_keys, null));
  v_subscription.read_to := greatest(v_subscription.read_to, coalesce(v_next.read_to, v_up_to));
  update event_subscriptions
  set read_to = v_subscription.read_to
  where subscription_id = p_subscription_id;
  -- What was noted meanwhile stays.
  delete from event_behind
  where subscription_id = p_subscription_id and up_to <= v_subscription.read_to;
  opened := v_next.opened;
  has_more := coalesce(v_up_to > v_subscription.read_to, false) and opened < v_room;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_open_next(p_subscription event_subscriptions, p_room integer, OUT read_to bigint, OUT order_keys text[], OUT opened integer)
 RETURNS record
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with
    next as (
      select l.*
      from
        unnest(svc_audiences_of(p_subscription)) as a (audience),
        lateral (
          select e.*
          from event_log as e
          where e.audience = a.audience and e.position > p_subscription.read_to
          order by e.position
          limit p_room
        ) as l
      order by l.position
      limit p_room
    ),
    opened as (
      insert into event_deliveries as d (subscription_id, position, event_id, type, order_key, is_next)
      select p_subscription.subscription_id, n.position, n.event_id, n.type, n.order_key, n.order_key is null
      from next as n
      where
        (n.type = any (p_subscription.types) or n.audience like 'subscription %')
        and (n.percent is null or n.percent = p_subscription.budget_low_percent)
      -- Replayed.
      on conflict (subscription_id, position) do update
        set
          state = 'waiting',
          attempts = 0,
          early_attempts = 0,
          scheduled_at = null,
          next_attempt_at = svc_now(),
          taken_until = null,
          is_next = d.order_key is null
        where d.state != 'waiting'
      returning d.order_key
    )
  select (select max(position) from next), array_agg(order_key), count(*)::integer
  from opened;
$function$;
CREATE OR REPLACE FUNCTION public.svc_pass_barrier(p_principal text, p_node_ms bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 SET lock_timeout TO '2s'
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform pg_advisory_xact_lock(1, hashtext(p_principal));
  return svc_ms(svc_barrier_instant(p_principal, p_node_ms));
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_pause_name(p_pause pauses)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select 'pause:' || p_pause.scope || ' ' || p_pause.owner || ' ' || p_pause.subject;
$function$;
CREATE OR REPLACE FUNCTION public.svc_pause_owner_since(p_scope text, p_owner text)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    case p_scope
      when 'relying_party' then (select created_at from relying_parties where did = p_owner)
      when 'org' then (select created_at from orgs where org_id = p_owner)
      when 'service' then timestamptz 'epoch'
      else (select created_at from principals where did = p_owner)
    end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_pause_with_org()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform from orgs where org_id = new.org_id for key share;
  if tg_table_name = 'principals' then
    new.has_pauses := svc_principal_has_pauses(new.did, new.org_id);
  else
    new.is_paused := svc_relying_party_is_paused(new.did, new.org_id);
  end if;
  if tg_op = 'UPDATE' then
    new.version := greatest(new.version, old.version + 1);
  end if;
  return new;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_prepare_commit()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if current_setting('transaction_isolation') != 'read committed' then
    raise exception 'decisions are committed under READ COMMITTED only'
      using errcode = 'invalid_transaction_state';
  end if;
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_principal_has_pauses(p_principal text, p_org_id text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    exists (
      select from pauses where owner = p_principal and scope in ('grant', 'agent', 'principal') and is_paused
    )
    or exists (select from pauses where owner = p_org_id and scope = 'org' and is_paused);
$function$;
CREATE OR REPLACE FUNCTION public.svc_put_entitlement(p_org_id text, p_production text, p_production_until timestamp with time zone, p_check_cap bigint, p_cap_since timestamp with time zone, p_reason text, p_as_of timestamp with time zone, p_cold_checks bigint DEFAULT NULL::bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '1s'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  v_stored entitlements;
  v_begins_cap boolean;
  v_is_counted boolean;
  v_since timestamptz := greatest(p_cap_since, to_timestamp(0));
  v_counted_before text := svc_lowest_receipt_id(v_since);
  v_checks bigint := 0;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'entitlements are pushed under READ COMMITTED only' using errcode = 'invalid_transaction_state';
  end if;
  -- What is sealed takes no more receipts. It may be long, so it is counted before the lock, while decisions go on.
  select * into v_stored from entitlements where org_id = p_org_id;
  v_begins_cap := p_check_cap is not null and (v_stored.check_cap is null or v_stored.cap_since <> p_cap_since);
  v_is_counted := v_begins_cap;
  if v_begins_cap then
    select checks, greatest(sealed_before, v_counted_before) into v_checks, v_counted_before
    from svc_count_sealed_checks(p_org_id, v_since);
    -- Looked at afterwards: a day that has left since was counted, and is not counted twice.
    if
      (p_cold_checks is not null) <> exists (
        select from cold_days as c
        where
          c.state = 'cold'
          and c.day = (v_since at time zone 'UTC')::date
          and v_since <> (c.day::timestamp at time zone 'UTC')
      )
    then
      raise exception 'the day of % has moved', v_since using errcode = 'undefined_table';
    end if;
    v_checks := v_checks + coalesce(p_cold_checks, 0);
  end if;

  perform pg_advisory_xact_lock(8, hashtext(p_org_id));
  select * into v_stored from entitlements where org_id = p_org_id;
  if v_stored.as_of > p_as_of then
    return false;
  end if;
  v_begins_cap := p_check_cap is not null and (v_stored.check_cap is null or v_stored.cap_since <> p_cap_since);
  -- Another push came between: what is sealed, or cold, has not been counted for this cap. The push is made again.
  if v_begins_cap and not v_is_counted then
    raise exception 'the entitlement of % has changed meanwhile', p_org_id using errcode = 'undefined_table';
  end if;
  if p_check_cap is null then
    v_checks := null;
  elsif v_begins_cap then
    v_checks := v_checks + svc_count_stored_checks(p_org_id, v_counted_before, 'drc_~');
  else
    v_checks := v_stored.checks_since_cap;
  end if;
  insert into entitlements as stored
    (org_id, production, production_until, check_cap, cap_since, reason, as_of, checks_since_cap)
  values (p_org_id, p_production, p_production_until, p_check_cap, p_cap_since, p_reason, p_as_of, v_checks)
  on conflict (org_id) do update set
    production = excluded.production, production_until = excluded.production_until,
    check_cap = excluded.check_cap, cap_since = excluded.cap_since,
    reason = excluded.reason, as_of = excluded.as_of, updated_at = svc_now(),
    checks_since_cap = excluded.checks_since_cap,
    version = stored.version + (
      (stored.production, stored.production_until, stored.check_cap, stored.cap_since) is distinct from
      (excluded.production, excluded.production_until, excluded.check_cap, excluded.cap_since))::integer;
  return true;
end
$function$;
CREATE OR REPLACE FUNCTION public.svc_put_loose_evidence(p_hash text, p_content_type text, p_body bytea)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  update loose_evidence set unused_since = null where hash = p_hash;
  insert into evidence (hash, content_type, body)
  values (p_hash, p_content_type, p_body)
  on conflict (hash) do nothing;
  if found then
    insert into loose_evidence (hash) values (p_hash);
  end if;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_quarantine_spent_proofs(p_mark timestamp with time zone, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_until timestamptz := p_now + interval '313 seconds';
begin
  -- The mark is a few seconds behind the clocks that it tells of.
  if p_mark <= p_now + interval '50 minutes' or p_mark is null then
    return;
  end if;
  update fence_quarantine set quarantined_until = v_until where quarantined_until < v_until;
  perform svc_seal_until(v_until);
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_quarantined_until()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    greatest((select max(quarantined_until) from restores), (select quarantined_until from fence_quarantine));
$function$;
CREATE OR REPLACE FUNCTION public.svc_read_manifest(p_manifest text)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_part text := translate(split_part(p_manifest, '.', 2), '-_', '+/');
begin
  return convert_from(decode(rpad(v_part, (length(v_part) + 3) / 4 * 4, '='), 'base64'), 'UTF8')::jsonb;
exception when others then
  return null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_read_revocations(p_principal text, p_grant_ids text[])
 RETURNS TABLE(grant_id text, list_url text, status_index integer, recorded_at timestamp with time zone, revoked_at timestamp with time zone, bits bytea, version bigint)
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    g.id,
    g.status_list_url,
    g.status_index,
    g.revocation_recorded_at,
    g.revoked_at,
    case
      when g.is_first then l.bits
    end,
    case
      when g.is_first then l.version
    end
  from
    (
      select
        of.*,
        of.revocation_recorded_at is null
        and row_number() over (
          partition by of.status_list_url, of.revocation_recorded_at is null
          order by of.id
        ) = 1 as is_first
      from grants as of
      where of.id = any (p_grant_ids) and of.principal = p_principal
    ) as g
    join status_lists as l on l.url = g.status_list_url
  order by g.id;
$function$;
CREATE OR REPLACE FUNCTION public.svc_record_cleared_day(p_day date, p_manifest text, p_manifest_hash text, p_node_ms bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_former cold_days;
  v_were jsonb;
  v_are jsonb;
begin
  select * into v_former from cold_days where day = p_day for update;
  if
    v_former.state is null
    or v_former.state not in ('recorded', 'cold', 'unpacked')
    or v_former.cleared_at is not null
    or not svc_is_day_to_clear(p_day, p_node_ms)
    or (
      svc_find_table_of_day(p_day, v_former.state) is not null
      and coalesce(v_former.cleared_before, '') < svc_lowest_receipt_id(
        (p_day + 1)::timestamp at time zone 'UTC'
      )
    )
  then
    return false;
  end if;
  if p_manifest_hash is distinct from v_former.manifest_hash then
    v_were := svc_read_manifest(v_former.manifest);
    v_are := svc_read_manifest(p_manifest);
    if
      v_are ->> 'replaces' is distinct from v_former.manifest_hash
      or v_are #> '{tables,attestations}' is distinct from v_were #> '{tables,attestations}'
      or v_are #> '{tables,consumption_events}' is distinct from v_were #> '{tables,consumption_events}'
    then
      raise exception 'the manifest of % is not to be recorded: it is not what is recorded with its action fields cleared',
        p_day
        using errcode = 'insufficient_privilege';
    end if;
    update cold_days
    set
      manifest = p_manifest,
      manifest_hash = p_manifest_hash,
      recorded_at = svc_now(),
      proven_at = svc_now()
    where day = p_day;
  end if;
  update cold_days
  set
    cleared_at = svc_now(),
    problem = null,
    again_at = null
  where day = p_day;
  return true;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_record_revocations(p_principal text, p_grant_ids text[], p_urls text[], p_versions bigint[], p_bits bytea[], p_credentials text[], p_hashes text[], p_valid_from_ms bigint[], p_content_type text, p_events jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform svc_lock_revocations(p_principal, p_grant_ids);
  if
    exists (select from grants as g where g.id = any (p_grant_ids) and g.revocation_recorded_at is not null)
    or exists (
      select
      from
        unnest(p_urls, p_versions) as s (url, version)
        left join status_lists as l on l.url = s.url and l.version = s.version
      where l.url is null
    )
  then
    return false;
  end if;
  perform svc_put_loose_evidence(s.hash, p_content_type, convert_to(s.credential, 'UTF8'))
  from unnest(p_hashes, p_credentials) as s (hash, credential);
  update status_lists as l
  set
    bits = s.bits,
    credential = s.credential,
    credential_hash = s.hash,
    valid_from = to_timestamp(s.valid_from_ms / 1000.0),
    version = l.version + 1
  from
    unnest(p_urls, p_bits, p_credentials, p_hashes, p_valid_from_ms) as s (
      url,
      bits,
      credential,
      hash,
      valid_from_ms
    )
  where l.url = s.url;
  update grants as g set revocation_recorded_at = svc_now() where g.id = any (p_grant_ids);
  insert into audit_events
    (event_id, actor_kind, actor_did, actor_key_id, action, target, request_id, details, org_id)
  select
    e."eventId",
    e.actor ->> 'kind',
    e.actor ->> 'did',
    e.actor ->> 'keyId',
    e.action,
    e.target,
    e."requestId",
    e.details,
    e."orgId"
  from
    jsonb_to_recordset(p_events) as e (
      "eventId" text,
      actor jsonb,
      action text,
      target text,
      "requestId" text,
      details jsonb,
      "orgId" text
    );
  return true;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_refuse_all_but_clearing()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_cleared record := old;
begin
  v_cleared.action_type := null;
  v_cleared.amount := null;
  v_cleared.currency := null;
  v_cleared.resource := null;
  v_cleared.method := null;
  -- Whole rows: a column that is added to the table is covered without a word here.
  if
    old.evaluated_at < svc_actions_kept_since()
    and old is distinct from v_cleared
    and new is not distinct from v_cleared
  then
    return new;
  end if;
  raise exception 'UPDATE on % is refused: the table is append-only', tg_table_name
    using errcode = 'insufficient_privilege';
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_refuse_all_but_collection()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if
    exists (select from loose_evidence where hash = old.hash and unused_since < svc_now() - interval '1 hour')
  then
    return old;
  end if;
  raise exception 'DELETE on % is refused: the table is append-only', tg_table_name
    using errcode = 'insufficient_privilege';
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_refuse_all_but_purge()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_purged cold_manifests := old;
begin
  v_purged.purged_at := new.purged_at;
  if old.purged_at is null and new is not distinct from v_purged then
    return new;
  end if;
  raise exception 'UPDATE on % is refused: what was recorded of a cold day stays', tg_table_name
    using errcode = 'insufficient_privilege';
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_refuse_all_but_state()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_is_owner boolean := pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage');
begin
  if tg_op = 'INSERT' then
    if
      v_is_owner
      or (
        new.state in ('recorded', 'broken')
        and num_nonnulls(
          new.detached_at, new.dropped_at, new.kept_before, new.proven_at, new.cleared_at, new.cleared_before
        ) = 0
      )
    then
      return new;
    end if;
  elsif
    new.day = old.day
    and (
      old.state = 'broken'
      or (v_is_owner and old.state = 'unpacked')
      or (
        (new.manifest, new.manifest_hash, new.recorded_at) is not distinct from
        (old.manifest, old.manifest_hash, old.recorded_at)
        and new.state != 'broken'
      )
      or (
        v_is_owner
        and old.state in ('recorded', 'cold')
        and new.state = old.state
        and svc_read_manifest(new.manifest) ->> 'replaces' = old.manifest_hash
      )
    )
    and (
      v_is_owner
      or (
        (new.detached_at, new.dropped_at, new.kept_before, new.cleared_at, new.cleared_before) is not distinct from
        (old.detached_at, old.dropped_at, old.kept_before, old.cleared_at, old.cleared_before)
        and (new.state = old.state or (old.state = 'broken' and new.state = 'recorded'))
      )
    )
  then
    -- It was read from the ledger at some time before: whether that was cleared by then is told by clearing it.
    if old.state = 'unpacked' and new.state = 'recorded' then
      new.cleared_at := null;
      new.cleared_before := null;
    end if;
    return new;
  end if;
  raise exception '% on % is refused: what is recorded of a cold day stays', tg_op, tg_table_name
    using errcode = 'insufficient_privilege';
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  raise exception '% on % is refused: the table is append-only', tg_op, tg_table_name
    using errcode = 'insufficient_privilege';
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_refuse_other_manifests()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_problem text;
begin
  if
    tg_op = 'INSERT'
    or new.manifest is distinct from old.manifest
    or new.manifest_hash is distinct from old.manifest_hash
  then
    v_problem := svc_find_manifest_problem(new.day, new.manifest, new.manifest_hash);
  end if;
  if new.manifest is null or v_problem is null then
    return new;
  end if;
  raise exception '% on % is refused: the manifest of % is not to be recorded: %',
    tg_op,
    tg_table_name,
    new.day,
    v_problem
    using errcode = 'insufficient_privilege';
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_refuse_reserved()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_name text := coalesce(tg_argv[1], '') || (to_jsonb(new) ->> tg_argv[0]);
begin
  if exists (select from reserved_names as r where r.name = v_name) then
    raise exception 'the name % was registered in a span that a restore lost', v_name
      using errcode = 'unique_violation';
  end if;
  return new;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_refuse_second_decision()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
$function$;
CREATE OR REPLACE FUNCTION public.svc_register_beside_pause()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform from ledger_seal for key share;
  return new;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_release_keys(p_decisions svc_decision[], p_before text[], p_after text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  delete from idempotency_keys as stored
  using unnest(p_decisions) as d
  where
    p_before[d.ordinal] is null
    and p_after[d.ordinal] is not null
    and stored.relying_party = d.relying_party
    and stored.key = d.idempotency_key
    and stored.receipt_id = d.receipt_id;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_release_principal(p_did text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  delete from api_keys where subject = p_did and role = 'principal';
  delete from agents where principal = p_did;
  delete from grants where principal = p_did;
  insert into released_status_lists (url, principal, domain, number)
  select url, principal, domain, number from status_lists where principal = p_did;
  delete from status_lists where principal = p_did;
  delete from principal_keys where principal = p_did;
  delete from principals where did = p_did and kind = 'hosted' and last_proven_at is null;
  if not found then
    raise exception '% is not there, or has proven its domain', p_did
      using errcode = 'integrity_constraint_violation';
  end if;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_release_proofs(p_decisions svc_decision[], p_before text[], p_after text[])
 RETURNS text[]
 LANGUAGE plpgsql
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
begin
  delete from spent_proofs as stored
  using unnest(p_decisions) as d
  where
    p_before[d.ordinal] is null
    and p_after[d.ordinal] is not null
    and stored.grant_id = d.spend_grant_id
    and stored.jti = d.spend_jti;
  return (
    select
      array_agg(
        case
          when p_after[d.ordinal] = 'REPLAY'
          and s.jti is null then 'OVERTAKEN'
          else p_after[d.ordinal]
        end
        order by d.ordinal
      )
    from
      unnest(p_decisions) as d
      left join spent_proofs as s on s.grant_id = d.spend_grant_id and s.jti = d.spend_jti
  );
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_release_relying_party(p_did text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  delete from api_keys where subject = p_did and role = 'rp';
  delete from relying_parties where did = p_did and claim_expires_at is not null;
  if not found then
    raise exception '% is not there, or no claim', p_did using errcode = 'integrity_constraint_violation';
  end if;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_relying_party_is_paused(p_relying_party text, p_org_id text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    exists (select from pauses where owner = p_relying_party and scope = 'relying_party' and is_paused)
    or exists (select from pauses where owner = p_org_id and scope = 'org' and is_paused);
$function$;
CREATE OR REPLACE FUNCTION public.svc_reopen_days(p_today date)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '10s'
AS $function$
declare
  v_day date;
  v_table text;
  v_published integer;
begin
  for v_day in select day from closed_days where day >= p_today order by day loop
    perform pg_advisory_xact_lock(2, v_day - date '1970-01-01');
  end loop;
  perform svc_heat_days(p_today);
  select count(*) into v_published from checkpoints where day >= p_today;
  insert into retracted_checkpoints (hash, day, kid, jws)
  select hash, day, kid, jws
  from checkpoints
  where day >= p_today
  on conflict (hash) do nothing;
  delete from content_checks where day >= p_today;
  foreach v_table in array array['checkpoints', 'merkle_tiles', 'closed_days'] loop
    execute format('alter table %I disable trigger refuse_change', v_table);
    execute format('delete from %I where day >= $1', v_table)
    using p_today;
    execute format('alter table %I enable trigger refuse_change', v_table);
  end loop;
  if exists (select from deployment where first_day > p_today) then
    alter table deployment disable trigger refuse_change;
    update deployment set first_day = p_today;
    alter table deployment enable trigger refuse_change;
  end if;
  return v_published;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_repair_clock(p_operator_ms bigint, p_event_id text, OUT repaired_at timestamp with time zone, OUT reopened_days integer, OUT unsealed boolean, OUT mark_moved_ms bigint)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_mark timestamptz;
begin
  repaired_at := svc_now();
  if abs(svc_ms(repaired_at) - p_operator_ms) > 5000 then
    raise exception 'the clocks of the database (%) and of the operator (%) differ by more than 5 s',
      repaired_at,
      svc_instant(p_operator_ms)
      using errcode = 'invalid_parameter_value';
  end if;
  select marked_at into strict v_mark from clock_mark for update;
  perform svc_quarantine_spent_proofs(v_mark, repaired_at);
  reopened_days := svc_reopen_days((repaired_at at time zone 'UTC')::date);
  unsealed := svc_unseal_ledger(repaired_at);
  perform svc_rewind_evidence(repaired_at);
  perform svc_rewind_events(repaired_at);
  perform svc_rewind_grants(repaired_at);
  perform svc_rewind_principals(repaired_at);
  perform svc_rewind_service_keys(repaired_at);
  perform svc_rewind_approvals(repaired_at);
  perform svc_rewind_terms(repaired_at);
  mark_moved_ms := svc_ms(repaired_at) - svc_ms(coalesce(v_mark, repaired_at));
  update clock_mark
  set
    marked_at = repaired_at,
    resets = resets + 1;
  insert into audit_events (event_id, occurred_at, actor_kind, action, details)
  values
    (
      p_event_id,
      repaired_at,
      'admin',
      'clock.repair',
      jsonb_build_object('reopened_days', reopened_days, 'unsealed', unsealed, 'mark_moved_ms', mark_moved_ms)
    );
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_revocation_listeners(p_limit integer)
 RETURNS integer[]
 LANGUAGE sql
 STABLE
 SET enable_seqscan TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    case
      when count(*) <= p_limit then coalesce(array_agg(hash), '{}')
    end
  from
    (
      select hashtext(r.did) as hash
      from
        event_wants as w
        join relying_parties as r on r.did = substr(w.audience, 4)
      where w.type = 'grant.revoked' and w.audience >= 'rp ' and w.audience < 'rp!'
      union all
      select hashtext(r.did)
      from
        event_wants as w
        join relying_parties as r on r.org_id = substr(w.audience, 5)
      where w.type = 'grant.revoked' and w.audience >= 'org ' and w.audience < 'org!'
      limit p_limit + 1
    ) as l;
$function$;
CREATE OR REPLACE FUNCTION public.svc_rewind_approvals(p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '10s'
AS $function$
begin
  if not exists (select from approval_requests where greatest(requested_at, decided_at) > p_now) then
    return;
  end if;
  alter table approval_requests disable trigger refuse_second_decision;
  update approval_requests
  set
    state = 'expired',
    requested_at = p_now - interval '1 second',
    expires_at = p_now,
    decided_at = p_now
  where state = 'pending' and requested_at > p_now;
  update approval_requests
  set
    requested_at = svc_not_after(requested_at, p_now),
    expires_at = expires_at - (requested_at - svc_not_after(requested_at, p_now)),
    decided_at = svc_not_after(decided_at, p_now)
  where state != 'pending' and greatest(requested_at, decided_at) > p_now;
  alter table approval_requests enable trigger refuse_second_decision;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_rewind_events(p_now timestamp with time zone)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  update event_subscriptions
  set
    not_before = svc_not_after(not_before, p_now),
    asked_until = svc_not_after(asked_until, p_now),
    failing_since = svc_not_after(failing_since, p_now),
    failing_day_at = svc_not_after(failing_day_at, p_now),
    disabled_at = svc_not_after(disabled_at, p_now),
    pings_from = svc_not_after(pings_from, p_now),
    replays_from = svc_not_after(replays_from, p_now)
  where
    greatest(
      not_before,
      asked_until,
      failing_since,
      failing_day_at,
      disabled_at,
      pings_from,
      replays_from
    ) > p_now;
  update event_deliveries
  set
    next_attempt_at = case
      when attempts = 0
      or last_attempt_at is null then p_now
      when last_attempt_at > p_now then p_now + greatest(next_attempt_at - last_attempt_at, interval '0')
      else next_attempt_at
    end,
    scheduled_at = case
      when last_attempt_at > p_now then p_now + (scheduled_at - last_attempt_at)
      else scheduled_at
    end,
    taken_until = p_now + (taken_until - taken_at),
    taken_at = svc_not_after(taken_at, p_now),
    last_attempt_at = svc_not_after(last_attempt_at, p_now)
  where state = 'waiting' and greatest(next_attempt_at, taken_at, last_attempt_at) > p_now;
  -- All of them, also what is not ahead: a look that has begun before may be putting it off.
  update event_due
  set
    look_at = least(look_at, p_now),
    noted = default;
  update event_log set logged_at = p_now where logged_at > p_now;
  update event_streams set verified_at = p_now where verified_at > p_now;
  -- A secret that ends has done so for 24 hours after the rotation at the most.
  update event_secrets
  set
    created_at = svc_not_after(created_at, p_now),
    ends_at = svc_not_after(ends_at, p_now + interval '24 hours')
  where greatest(created_at, ends_at - interval '24 hours') > p_now;
$function$;
CREATE OR REPLACE FUNCTION public.svc_rewind_evidence(p_now timestamp with time zone)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  update evidence_naming
  set named_before = least(named_before, (select sealed_before from ledger_seal));
  update loose_evidence set unused_since = p_now where unused_since > p_now;
  update served_lists set kept_at = p_now where kept_at > p_now;
$function$;
CREATE OR REPLACE FUNCTION public.svc_rewind_grants(p_now timestamp with time zone)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with
    rewound as (
      update grants as g
      set
        allocated_at = case
          when exists (
            select
            from principal_keys as k
            where
              k.principal = g.principal
              and k.state = 'retired'
              and k.since > p_now
              and k.since < g.allocated_at
          ) then p_now + interval '1 millisecond'
          else svc_not_after(g.allocated_at, p_now)
        end,
        revocation_recorded_at = svc_not_after(g.revocation_recorded_at, p_now)
      where greatest(g.allocated_at, g.revocation_recorded_at) > p_now
      returning g.principal
    )
  update principals
  set version = version + 1
  where did in (select principal from rewound);
$function$;
CREATE OR REPLACE FUNCTION public.svc_rewind_principals(p_now timestamp with time zone)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with
    rewound as (
      update principal_keys
      set
        since = svc_not_after(since, p_now),
        withdrawn_at = svc_not_after(withdrawn_at, p_now)
      where greatest(since, withdrawn_at) > p_now
      returning principal
    )
  update principals
  set
    verified_since = svc_not_after(verified_since, p_now),
    last_checked_at = case
      when greatest(
        verified_since,
        last_checked_at,
        last_proven_at,
        document_resolved_at
      ) <= p_now then last_checked_at
    end,
    last_proven_at = svc_not_after(last_proven_at, p_now),
    document_resolved_at = svc_not_after(document_resolved_at, p_now),
    document_changes_since = svc_not_after(document_changes_since, p_now),
    version = version + 1
  where
    did in (select principal from rewound)
    or greatest(
      verified_since,
      last_checked_at,
      last_proven_at,
      document_resolved_at,
      document_changes_since
    ) > p_now;
$function$;
CREATE OR REPLACE FUNCTION public.svc_rewind_service_keys(p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '10s'
AS $function$
begin
  if exists (select from service_keys where first_seen_at > p_now) then
    alter table service_keys disable trigger refuse_change;
    update service_keys set first_seen_at = p_now where first_seen_at > p_now;
    alter table service_keys enable trigger refuse_change;
  end if;
  if exists (select from service_key_ends where ended_at > p_now) then
    alter table service_key_ends disable trigger refuse_change;
    update service_key_ends set ended_at = p_now where ended_at > p_now;
    alter table service_key_ends enable trigger refuse_change;
  end if;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_rewind_terms(p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '10s'
AS $function$
begin
  update idempotency_keys set created_at = p_now where created_at > p_now;
  update conformance_runs
  set
    created_at = svc_not_after(created_at, p_now),
    leased_until = svc_not_after(leased_until, p_now + interval '15 seconds'),
    finished_at = svc_not_after(finished_at, p_now)
  where greatest(created_at, leased_until - interval '15 seconds', finished_at) > p_now;
  update content_checks set checked_at = p_now where checked_at > p_now;
  update entitlements set as_of = p_now where as_of > p_now;
  update replica_marks set marked_at = p_now where marked_at > p_now;
  update cold_days
  set
    detached_at = svc_not_after(detached_at, p_now),
    proven_at = svc_not_after(proven_at, p_now),
    again_at = svc_not_after(again_at, p_now)
  where greatest(detached_at, proven_at, again_at) > p_now;
  if exists (select from cold_manifests where replaced_at > p_now) then
    alter table cold_manifests disable trigger refuse_all_but_purge;
    update cold_manifests set replaced_at = p_now where replaced_at > p_now;
    alter table cold_manifests enable trigger refuse_all_but_purge;
  end if;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_seal_ledger(p_node_ms bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 SET lock_timeout TO '100ms'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_now timestamptz := least(svc_now(), svc_instant(p_node_ms)) - interval '3 seconds';
  v_from timestamptz;
  v_until timestamptz;
begin
  select sealed_until into strict v_from from ledger_seal;
  v_until := least(v_now, v_from + interval '31 days');
  for v_day in svc_ms(v_from) / 86400000..svc_ms(v_until) / 86400000 loop
    perform pg_advisory_xact_lock(2, v_day::integer);
  end loop;
  update ledger_seal set sealed_until = v_until where sealed_until < v_until;
  return v_until = v_now;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_seal_until(p_until timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET lock_timeout TO '10s'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_from timestamptz;
begin
  select sealed_until into strict v_from from ledger_seal;
  for v_day in svc_ms(v_from) / 86400000..svc_ms(p_until) / 86400000 loop
    perform pg_advisory_xact_lock(2, v_day::integer);
  end loop;
  update ledger_seal set sealed_until = p_until where sealed_until < p_until;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_sequence_events(p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_moved integer := svc_move_events(p_limit);
begin
  perform svc_tell_verifiers(svc_next_to_tell(null), interval '100 milliseconds');
  return v_moved;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_set_pause(p_scope text, p_owner text, p_subject text, p_is_paused boolean, p_reason text, p_actor jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if not svc_lock_pause_owner(p_scope, p_owner) then
    return null;
  end if;
  insert into pauses as x (
    scope,
    owner,
    subject,
    is_paused,
    actor_kind,
    actor_did,
    actor_key_id,
    reason,
    changed_at
  )
  select
    p_scope,
    p_owner,
    p_subject,
    p_is_paused,
    p_actor ->> 'kind',
    p_actor ->> 'did',
    p_actor ->> 'keyId',
    p_reason,
    svc_now()
  where
    p_is_paused
    or exists (select from pauses where owner = p_owner and scope = p_scope and subject = p_subject)
  on conflict (owner, scope, subject) do update
    set
      is_paused = excluded.is_paused,
      actor_kind = excluded.actor_kind,
      actor_did = excluded.actor_did,
      actor_key_id = excluded.actor_key_id,
      reason = excluded.reason,
      changed_at = greatest(excluded.changed_at, x.changed_at + interval '1 millisecond'),
      visible_at = null,
      seq = default
    where x.is_paused != excluded.is_paused;
  if not found then
    return false;
  end if;
  perform svc_spread_pause(p_scope, p_owner, p_is_paused);
  return true;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_settle_budgets(p_decisions svc_decision[], p_missed integer[], p_outcomes text[])
 RETURNS text[]
 LANGUAGE plpgsql
AS $function$
declare
  v_outcomes text[] := svc_judge_budgets(p_decisions, p_missed, p_outcomes);
begin
  if v_outcomes is distinct from p_outcomes then
    perform svc_release_keys(p_decisions, p_outcomes, v_outcomes);
    v_outcomes := svc_release_proofs(p_decisions, p_outcomes, v_outcomes);
  end if;
  return v_outcomes;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_settle_caps(p_decisions svc_decision[], p_outcomes text[])
 RETURNS text[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    with
      freed as (
        select
          e.org_id,
          e.check_cap - e.checks_since_cap - count(*) filter (where p_outcomes[d.ordinal] is null) as room
        from
          unnest(p_decisions) as d
          join entitlements as e
            on e.org_id = d.org_id and e.cap_since <= to_timestamp(d.evaluated_at_ms / 1000.0)
        group by e.org_id
      ),
      placed as (
        select
          d.org_id,
          p_outcomes[d.ordinal] as outcome,
          d.ordinal,
          count(*)
            filter (where p_outcomes[d.ordinal] = 'ABOVE_CAP')
            over (
              partition by d.org_id
              order by d.ordinal
            ) as place
        from unnest(p_decisions) as d
      )
    select
      array_agg(
        case
          when p.outcome is distinct from 'ABOVE_CAP' then p.outcome
          when p.place <= f.room then 'STALE'
          else 'PLAN_REQUIRED'
        end
        order by p.ordinal
      )
    from
      placed as p
      left join freed as f using (org_id)
  );
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_settle_due(p_limit integer, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  with
    seen as materialized (
      select
        e.subscription_id,
        e.noted,
        case
          when s.subscription_id is null
          or s.disabled_at is not null
          or s.method = 'poll' then 'infinity'
          -- Under way, also where the time for it is over: until its outcome is noted nothing is put off.
          when e.subscription_id in (
            select b.subscription_id
            from event_deliveries as b
            where b.state = 'waiting' and b.taken_until is not null
          ) then '-infinity'
          when f.due_at is null then 'infinity'
          -- It waits for what signs, not for its receiver: svc_due_since tells for how long.
          when s.failing_since is null
          and (s.asked_until is null or s.asked_until <= p_now) then f.due_at
          else greatest(s.not_before, f.due_at)
        end as wake_at
      from
        svc_looked_at(p_limit, p_now) as e
        left join event_subscriptions as s on s.subscription_id = e.subscription_id
        left join lateral (
          select d.next_attempt_at as due_at
          from event_deliveries as d
          where d.subscription_id = e.subscription_id and d.state = 'waiting' and d.is_next
          order by d.next_attempt_at, d.position
          limit 1
        ) as f
          on true
    ),
    early as materialized (
      select e.subscription_id, n.wake_at
      from
        seen as n
        join event_due as e on e.subscription_id = n.subscription_id and e.noted = n.noted
      where n.wake_at > p_now + interval '2 seconds'
      for update of e skip locked
    ),
    removed as (
      delete from event_due as e
      using early as n
      where e.subscription_id = n.subscription_id and n.wake_at = 'infinity'
    )
  update event_due as e
  set look_at = n.wake_at
  from early as n
  where e.subscription_id = n.subscription_id and n.wake_at < 'infinity';
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_share(p_taken bigint, p_places integer, p_most integer)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select
    case
      when p_taken * 2 <= p_places + 1 then p_most
      when p_taken * 4 <= p_places * 3::bigint then greatest(p_most / 4, 1)
      else 1
    end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_share_day(p_table regclass)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_role name;
begin
  for v_role in select distinct pg_get_userbyid(a.grantee)
  from
    pg_class as c,
    aclexplode(c.relacl) as a
  where c.oid = 'receipts'::regclass and a.privilege_type = 'SELECT' and a.grantee not in (0, c.relowner) loop
    execute format('grant select on %s to %I', p_table, v_role);
  end loop;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_share_days()
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select svc_share_day(oid)
  from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'r' and relname ~ '^(detached_)?receipts_\d{8}$';
$function$;
CREATE OR REPLACE FUNCTION public.svc_spend_proofs(p_decisions svc_decision[], p_outcomes text[])
 RETURNS text[]
 LANGUAGE plpgsql
AS $function$
declare
  v_outcomes text[];
begin
  with
    candidate as (
      select distinct on (d.spend_grant_id, d.spend_jti)
        d.spend_grant_id as grant_id,
        d.spend_jti as jti,
        d.spend_expires_at_ms,
        d.ordinal
      from unnest(p_decisions) as d
      where d.spend_grant_id is not null and p_outcomes[d.ordinal] is null
      order by d.spend_grant_id, d.spend_jti, d.ordinal
    ),
    spent as (
      insert into spent_proofs (grant_id, jti, expires_at)
      select c.grant_id, c.jti, to_timestamp(c.spend_expires_at_ms / 1000.0)
      from candidate as c
      order by c.grant_id, c.jti
      on conflict (grant_id, jti) do nothing
      returning grant_id, jti
    ),
    winner as (
      select c.ordinal
      from
        candidate as c
        join spent using (grant_id, jti)
    )
  select
    array_agg(
      case
        when d.spend_grant_id is not null
        and p_outcomes[d.ordinal] is null
        and w.ordinal is null then 'REPLAY'
        else p_outcomes[d.ordinal]
      end
      order by d.ordinal
    )
  into v_outcomes
  from
    unnest(p_decisions) as d
    left join winner as w on w.ordinal = d.ordinal;
  if v_outcomes is distinct from p_outcomes then
    perform svc_release_keys(p_decisions, p_outcomes, v_outcomes);
  end if;
  return v_outcomes;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_spread_pause(p_scope text, p_owner text, p_is_paused boolean)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  case p_scope
    when 'service' then
      update ledger_seal set is_paused = p_is_paused;
      update relying_parties set version = version + 1;
    when 'org' then
      update principals
      set
        has_pauses = svc_principal_has_pauses(did, org_id),
        version = version + 1
      where org_id = p_owner;
      update relying_parties
      set
        is_paused = svc_relying_party_is_paused(did, org_id),
        version = version + 1
      where org_id = p_owner;
    when 'relying_party' then
      update relying_parties
      set
        is_paused = svc_relying_party_is_paused(did, org_id),
        version = version + 1
      where did = p_owner;
    else
      update principals
      set
        has_pauses = svc_principal_has_pauses(did, org_id),
        version = version + 1
      where did = p_owner;
  end case;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_stamp_revoked(p_principal text, p_grant_ids text[], p_node_ms bigint)
 RETURNS TABLE(grant_id text, revoked_at timestamp with time zone)
 LANGUAGE plpgsql
 SET lock_timeout TO '2s'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_deadline timestamptz := clock_timestamp() + current_setting('lock_timeout')::interval;
  v_stamp timestamptz;
begin
  perform
  from grants as g
  where g.id = any (p_grant_ids) and g.principal = p_principal
  order by g.id
  for no key update;
  perform
    set_config(
      'lock_timeout',
      greatest(300, floor(extract(epoch from v_deadline - clock_timestamp()) * 1000)) || 'ms',
      true
    );
  perform pg_advisory_xact_lock(1, hashtext(p_principal));
  v_stamp := svc_barrier_instant(p_principal, p_node_ms);
  update grants as g
  set
    revoked_at = v_stamp,
    revocation_recorded_at = coalesce(g.revocation_recorded_at, v_stamp)
  where g.id = any (p_grant_ids) and g.principal = p_principal and g.revoked_at is null;
  return query select g.id, g.revoked_at
    from grants as g
    where g.id = any (p_grant_ids) and g.principal = p_principal;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_store(p_decisions svc_decision[], p_jws text[], p_outcomes text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  insert into receipts
    (
      receipt_id,
      relying_party,
      principal,
      grant_id,
      agent,
      key_id,
      decision,
      reason,
      evaluated_at,
      action_type,
      amount,
      currency,
      resource,
      method,
      jws,
      content_hash,
      production_check
    )
  select
    d.receipt_id,
    d.relying_party,
    d.principal,
    d.grant_id,
    d.agent,
    d.key_id,
    d.decision,
    d.reason,
    to_timestamp(d.evaluated_at_ms / 1000.0),
    d.action_type,
    d.amount,
    d.currency,
    d.resource,
    d.method,
    p_jws[d.ordinal],
    sha256(convert_to(p_jws[d.ordinal], 'UTF8')),
    d.org_id is not null
  from unnest(p_decisions) as d
  where p_outcomes[d.ordinal] is null;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_subscriptions_behind()
 RETURNS SETOF text
 LANGUAGE sql
 STABLE
 SET enable_seqscan TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select n.subscription_id
  from
    unnest(array['news', 'rest', 'full']) as l (line)
    cross join lateral (
      select b.subscription_id, b.turn
      from event_behind as b
      where b.line = l.line
      order by b.turn
      limit 1000
    ) as n
  order by
    row_number() over (
      partition by l.line
      order by n.turn
    ),
    l.line;
$function$;
CREATE OR REPLACE FUNCTION public.svc_sum_consumption(p_decisions svc_decision[], p_outcomes text[])
 RETURNS SETOF consumption_balances
 LANGUAGE plpgsql
AS $function$
begin
  return query with
      consumed as (
        select
          d.*,
          last_value(d.period_start_ms) over budget as last_period_start_ms,
          last_value(d.evaluated_at_ms) over budget as last_evaluated_at_ms
        from unnest(p_decisions) as d
        where p_outcomes[d.ordinal] is null and d.budget_key is not null
        window
          budget as (
            partition by d.balances_grant_id, d.budget_key
            order by d.balances_version
            rows between unbounded preceding and unbounded following
          )
      )
    select
      c.balances_grant_id,
      c.budget_key,
      sum(c.delta_total)::bigint,
      sum(c.delta_period) filter (
        where c.period_start_ms is not distinct from c.last_period_start_ms
      )::bigint,
      to_timestamp(c.last_period_start_ms / 1000.0),
      sum(c.delta_uses)::bigint,
      c.limit_total,
      c.limit_per_period,
      c.limit_uses,
      to_timestamp(c.last_evaluated_at_ms / 1000.0)
    from consumed as c
    group by
      c.balances_grant_id,
      c.budget_key,
      c.limit_total,
      c.limit_per_period,
      c.limit_uses,
      c.last_period_start_ms,
      c.last_evaluated_at_ms;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_take_behind(p_limit integer)
 RETURNS SETOF text
 LANGUAGE sql
 SET enable_seqscan TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with
    next as materialized (
      select n.subscription_id, l.line, n.turn
      from
        unnest(array['news', 'rest', 'full']) as l (line)
        cross join lateral (
          select b.subscription_id, b.turn
          from event_behind as b
          where b.line = l.line
          order by b.turn
          limit p_limit
          for no key update skip locked
        ) as n
    ),
    taken as (
      update event_behind as b
      set turn = default
      from next as n
      where b.subscription_id = n.subscription_id
    )
  select subscription_id
  from next
  order by
    row_number() over (
      partition by line
      order by turn
    ),
    line;
$function$;
CREATE OR REPLACE FUNCTION public.svc_take_deliveries(p_limit integer, p_at_once integer, p_for interval)
 RETURNS TABLE(subscription_id text, "position" bigint, url text, event_id text, type text, occurred_at timestamp with time zone, data text, attempts integer)
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select * from svc_take_due(p_limit, p_at_once, 32, p_for);
$function$;
CREATE OR REPLACE FUNCTION public.svc_take_due(p_limit integer, p_at_once integer, p_of_audience integer, p_for interval)
 RETURNS TABLE(subscription_id text, "position" bigint, url text, event_id text, type text, occurred_at timestamp with time zone, data text, attempts integer)
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select subscription_id, position, url, event_id, type, occurred_at, data, attempts
  from svc_take_to_send(array['webhook'], p_limit, p_at_once, p_of_audience, p_for);
$function$;
CREATE OR REPLACE FUNCTION public.svc_take_in_turn(p_methods text[], p_limit integer, p_places integer, p_newcomers integer, p_others integer, p_at_once integer, p_of_tenant integer, p_for interval)
 RETURNS TABLE(subscription_id text, "position" bigint, url text, event_id text, type text, occurred_at timestamp with time zone, data text, attempts integer, method text, audience text, is_newcomer boolean)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
  v_now timestamptz;
begin
  -- Of two at a time both would count what is under way without the other.
  perform pg_advisory_xact_lock(11, 2);
  v_now := clock_timestamp();
  perform svc_settle_due(p_limit, v_now);
  return query
    with
      taken as (
        update event_deliveries as t
        set taken_at = v_now, taken_until = v_now + p_for
        from
          (
            select d.subscription_id, d.position, due.is_newcomer
            from
              svc_deliveries_in_turn(p_methods, p_limit, p_places, p_newcomers, p_others, p_at_once, p_of_tenant, v_now) as due
              join event_deliveries as d on d.subscription_id = due.subscription_id and d.position = due.position
            where d.state = 'waiting' and (d.taken_until is null or d.taken_until <= v_now)
            -- What is being noted at this moment comes with the next look.
            for update of d skip locked
          ) as free
        where t.subscription_id = free.subscription_id and t.position = free.position
        returning t.*, free.is_newcomer
      )
    select
      t.subscription_id,
      t.position,
      s.url,
      l.event_id,
      l.type,
      l.occurred_at,
      l.data,
      greatest(t.attempts - t.early_attempts - svc_is_early(t.scheduled_at, v_now)::integer, 0),
      s.method,
      s.audience,
      t.is_newcomer
    from
      taken as t
      join event_subscriptions as s on s.subscription_id = t.subscription_id
      join event_log as l on l.position = t.position
    order by t.position;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_take_lock(p_space integer, p_key integer, p_is_exclusive boolean, p_deadline timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  v_wait_ms integer;
begin
  if not p_is_exclusive and pg_try_advisory_xact_lock_shared(p_space, p_key) then
    return true;
  end if;
  if p_is_exclusive and pg_try_advisory_xact_lock(p_space, p_key) then
    return true;
  end if;
  v_wait_ms := floor(extract(epoch from p_deadline - clock_timestamp()) * 1000);
  if v_wait_ms < 1 then
    return false;
  end if;
  begin
    perform set_config('lock_timeout', v_wait_ms || 'ms', true);
    if p_is_exclusive then
      perform pg_advisory_xact_lock(p_space, p_key);
    else
      perform pg_advisory_xact_lock_shared(p_space, p_key);
    end if;
    perform set_config('lock_timeout', '400ms', true);
    return true;
  exception when lock_not_available then
    return false;
  end;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_take_locks(p_decisions svc_decision[], p_deadline timestamp with time zone)
 RETURNS text[]
 LANGUAGE plpgsql
AS $function$
declare
  v_outcomes text[] := array_fill(null::text, array[cardinality(p_decisions)]);
  v_lock record;
  v_ordinal integer;
begin
  for v_lock in select
    wanted.space,
    wanted.key,
    bool_or(wanted.is_exclusive) as is_exclusive,
    array_agg(d.ordinal) as ordinals
  from
    unnest(p_decisions) as d,
    lateral (
      values
        (1, hashtext(d.used_principal), false),
        (2, svc_day_number(d.evaluated_at_ms), false),
        (8, hashtext(d.org_id), d.is_capped),
        -- Null unless it binds a Grant.
        (16, hashtext(d.spend_grant_id || left(d.binds_grant_hash, 0)), true),
        (17, hashtext(d.relying_party || ' ' || d.idempotency_key), true)
    ) as wanted (space, key, is_exclusive)
  where wanted.key is not null
  group by wanted.space, wanted.key
  order by wanted.space, wanted.key loop
    if not svc_take_lock(v_lock.space, v_lock.key, v_lock.is_exclusive, p_deadline) then
      foreach v_ordinal in array v_lock.ordinals loop
        v_outcomes[v_ordinal] := 'LOCKED';
      end loop;
    end if;
  end loop;
  return v_outcomes;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_take_to_send(p_methods text[], p_limit integer, p_at_once integer, p_of_audience integer, p_for interval)
 RETURNS TABLE(subscription_id text, "position" bigint, url text, event_id text, type text, occurred_at timestamp with time zone, data text, attempts integer, method text, audience text)
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select subscription_id, position, url, event_id, type, occurred_at, data, attempts, method, audience
  from svc_take_in_turn(p_methods, p_limit, 100000000, 0, 0, p_at_once, p_of_audience, p_for);
$function$;
CREATE OR REPLACE FUNCTION public.svc_tell_next_verifier(p_search verifier_searches, p_from text, p_listeners integer[])
 RETURNS verifier_searches
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_last constant bigint := 2147483647;
  v_next bigint;
  v_listener bigint;
begin
  if p_search.asked_to < v_last then
    v_next := svc_next_relying_party(p_search.principal, p_from, p_search.asked_to);
    v_listener := case
      when p_listeners is null then v_next
      else (select min(hash) from unnest(p_listeners) as hash where hash >= v_next)
    end;
    if v_listener = v_next then
      perform svc_tell_verifier(p_search, did, null) from relying_parties where hashtext(did) = v_next;
    end if;
    p_search.asked_to := case
      when v_listener > v_next then v_listener - 1
      else coalesce(v_listener, v_last)
    end;
    return p_search;
  end if;
  select c.grant_id, c.relying_party
  into p_search.cold_grant_id, p_search.cold_relying_party
  from
    event_log as l
    cross join lateral (
      select v.grant_id, v.relying_party
      from cold_verifications as v
      where
        v.grant_id = l.order_key
        and v.principal = p_search.principal
        and v.relying_party > case
          when l.order_key = p_search.cold_grant_id then p_search.cold_relying_party
          else ''
        end
      order by v.relying_party
      limit 1
    ) as c
  where
    l.audience = 'verifiers ' || p_search.principal
    and l.position <= p_search.up_to
    and l.order_key >= p_search.cold_grant_id
  order by c.grant_id
  limit 1;
  if not found then
    return null;
  end if;
  perform svc_tell_verifier(p_search, p_search.cold_relying_party, p_search.cold_grant_id);
  return p_search;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_tell_verifier(p_search verifier_searches, p_relying_party text, p_grant_id text)
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into event_outbox (event_id, audience, type, order_key, occurred_at, data)
  select event_id, listener, type, order_key, occurred_at, data
  from
    (
      select l.*, a.audience as listener
      from
        relying_parties as r
        cross join lateral (
          values
            ('rp ' || r.did),
            ('org ' || r.org_id)
        ) as a (audience)
        cross join event_log as l
      where
        r.did = p_relying_party
        and exists (select from event_wants as w where w.type = 'grant.revoked' and w.audience = a.audience)
        and l.audience = 'verifiers ' || p_search.principal
        and l.position <= p_search.up_to
        and (p_grant_id is null or l.order_key = p_grant_id)
        -- As one that has its Principal too, or as that of another relying party. What two steps tell twice is in the log once.
        and not exists (
          select from event_log as own where own.event_id = l.event_id and own.audience = a.audience
        )
        and not exists (
          select
          from event_outbox as o
          where
            o.xid = pg_current_xact_id_if_assigned()
            and o.event_id = l.event_id
            and o.audience = a.audience
        )
      offset 0
    ) as untold
  where svc_has_verified(array[p_relying_party], p_search.principal, order_key);
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_tell_verifiers(p_principal text, p_for interval)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_ends timestamptz := clock_timestamp() + p_for;
  v_search verifier_searches;
  v_next verifier_searches;
  v_from text;
  v_listeners integer[];
begin
  if not pg_try_advisory_xact_lock(11, 3) then
    return false;
  end if;
  v_search := svc_find_search(p_principal);
  if v_search.principal is null then
    return false;
  end if;
  select svc_lowest_receipt_id(min(g.allocated_at) - interval '1 minute')
  into v_from
  from
    event_log as l
    join grants as g on g.id = l.order_key
  where l.audience = 'verifiers ' || p_principal and l.position <= v_search.up_to;
  v_listeners := svc_revocation_listeners(200);
  loop
    v_next := svc_tell_next_verifier(v_search, v_from, v_listeners);
    exit when v_next.principal is null;
    v_search := v_next;
    exit when clock_timestamp() >= v_ends;
  end loop;
  if v_next.principal is null then
    delete from verifier_searches where principal = p_principal;
    update event_log
    set audience = 'verifiers told'
    where audience = 'verifiers ' || p_principal and position <= v_search.up_to;
  else
    update verifier_searches
    set
      asked_to = v_search.asked_to,
      cold_grant_id = v_search.cold_grant_id,
      cold_relying_party = v_search.cold_relying_party
    where principal = p_principal;
  end if;
  return true;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_tenants_of(p_subscription_ids text[])
 RETURNS TABLE(subscription_id text, tenant text, is_newcomer boolean)
 LANGUAGE sql
 STABLE
 SET enable_seqscan TO 'off'
 SET search_path TO 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_hashjoin TO 'on'
 SET enable_mergejoin TO 'on'
AS $function$
  select
    o.subscription_id,
    coalesce('org ' || o.org_id, o.audience),
    exists (select from self_serve_tenants as t where t.org_id = o.org_id)
    and not exists (
      select
      from entitlements as e
      where
        e.org_id = o.org_id
        and e.production = 'allowed'
        and e.reason != 'trial'
        and (e.production_until is null or e.production_until > clock_timestamp())
    )
  from
    (
      select
        s.subscription_id,
        s.audience,
        case split_part(s.audience, ' ', 1)
          when 'rp' then (
            select r.org_id from relying_parties as r where r.did = split_part(s.audience, ' ', 2)
          )
          when 'principal' then (
            select p.org_id from principals as p where p.did = split_part(s.audience, ' ', 2)
          )
          else split_part(s.audience, ' ', 2)
        end as org_id
      from event_subscriptions as s
      where s.subscription_id = any (p_subscription_ids)
    ) as o;
$function$;
CREATE OR REPLACE FUNCTION public.svc_try_balances(p_decisions svc_decision[])
 RETURNS integer[]
 LANGUAGE plpgsql
AS $function$
declare
  v_key integer;
  v_missed integer[] := '{}';
begin
  for v_key in select distinct hashtext(d.balances_grant_id)
  from unnest(p_decisions) as d
  where d.balances_grant_id is not null
  order by 1 loop
    if not pg_try_advisory_xact_lock(9, v_key) then
      v_missed := v_missed || v_key;
    end if;
  end loop;
  return v_missed;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_unseal_ledger(p_now timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '10s'
AS $function$
declare
  v_month date := date_trunc('month', p_now at time zone 'UTC')::date;
  v_from date;
  v_counted_before text;
begin
  select counted_before into strict v_counted_before from ledger_count for update;
  update ledger_seal
  set sealed_until = greatest(p_now - interval '3 seconds', svc_quarantined_until())
  where sealed_until > greatest(p_now, svc_quarantined_until());
  if v_counted_before <= (select sealed_before from ledger_seal) then
    return false;
  end if;
  select greatest(v_month, max(day) + 1) into v_from from cold_days where state = 'cold';
  delete from usage_counts where day >= v_from;
  delete from usage_by_key where day >= v_from;
  delete from usage_by_principal where day >= v_from;
  delete from usage_by_day where day >= v_from;
  delete from usage_monthly where month >= v_month;
  delete from usage_monthly_by_principal where month >= v_month;
  insert into usage_monthly (month, relying_party, principal, reason, verifies)
  select date_trunc('month', day)::date, relying_party, principal, reason, sum(verifies)
  from usage_counts
  where day >= v_month
  group by 1, 2, 3, 4;
  insert into usage_monthly_by_principal (month, principal, reason, verifies)
  select date_trunc('month', day)::date, principal, reason, sum(verifies)
  from usage_counts
  where day >= v_month
  group by 1, 2, 3;
  update usage_by_grant
  set days = days - datemultirange(daterange(v_from, null))
  where days && datemultirange(daterange(v_from, null));
  delete from usage_by_grant where isempty(days);
  update ledger_count set counted_before = svc_lowest_receipt_id(v_from::timestamp at time zone 'UTC');
  return true;
end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_verification_state(p_principal principals)
 RETURNS text
 LANGUAGE sql
AS $function$
  select
    case
      when p_principal.kind = 'hosted'
      and coalesce(p_principal.last_proven_at, '-infinity') < clock_timestamp(

      ) - interval '72 hours' then 'unverified'
      else p_principal.verification_state
    end;
$function$;
CREATE OR REPLACE FUNCTION public.svc_want_events(p_subscription_id text)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  insert into event_wants (type, audience, subscription_id, budget_low_percent)
  select unnest(types), audience, subscription_id, budget_low_percent
  from event_subscriptions
  where subscription_id = p_subscription_id
  on conflict do nothing;
$function$;
