-- Generated from a migrated database; `npx vitest run --project store-pg -u` renews it.

create table agents (
  principal text collate "C" not null,
  did text collate "C" not null,
  created_at timestamp with time zone not null default svc_now(),
  disabled_at timestamp with time zone
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
create table audit_events (
  event_id text collate "C" not null,
  occurred_at timestamp with time zone not null default clock_timestamp(),
  actor_kind text not null,
  actor_did text collate "C",
  actor_key_id text collate "C",
  action text not null,
  target text collate "C",
  request_id text,
  details jsonb not null
);
create table closed_days (
  day date not null,
  closed_at timestamp with time zone not null default svc_now()
);
create table evidence (
  hash text collate "C" not null,
  content_type text not null,
  body bytea not null,
  created_at timestamp with time zone not null default svc_now()
);
create table grants (
  id text collate "C" not null,
  principal text collate "C" not null,
  agent text collate "C" not null,
  status_list_url text collate "C" not null,
  status_index integer not null,
  allocated_at timestamp with time zone not null default svc_now(),
  revocation_recorded_at timestamp with time zone,
  revoked_at timestamp with time zone
);
create table idempotency_keys (
  relying_party text collate "C" not null,
  key text collate "C" not null,
  body_hash text not null,
  receipt_id text collate "C" not null,
  created_at timestamp with time zone not null
);
create table orgs (
  org_id text collate "C" not null,
  slug text collate "C" not null,
  name text not null,
  created_at timestamp with time zone not null default svc_now()
);
create table principal_keys (
  kid text collate "C" not null,
  principal text collate "C" not null,
  public_key_multibase text not null,
  state text not null default 'active'::text,
  since timestamp with time zone not null default svc_now(),
  created_at timestamp with time zone not null default svc_now()
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
  last_proven_at timestamp with time zone
);
create table receipts (
  receipt_id text collate "C" not null,
  relying_party text collate "C" not null,
  principal text collate "C",
  grant_id text collate "C",
  agent text collate "C",
  key_id text collate "C" not null,
  decision text not null,
  reason text,
  evaluated_at timestamp with time zone not null,
  action_type text,
  amount bigint,
  currency text,
  resource text,
  method text,
  jws text not null
) partition by RANGE (receipt_id);
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
  version bigint not null default 1
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
  version bigint not null default 1
);

alter table agents add constraint agents_pkey PRIMARY KEY (principal, did);
alter table agents add constraint agents_principal_fkey FOREIGN KEY (principal) REFERENCES principals(did);
alter table api_keys add constraint api_keys_key_hash_check CHECK ((length(key_hash) = 32));
alter table api_keys add constraint api_keys_key_id_key UNIQUE (key_id);
alter table api_keys add constraint api_keys_pkey PRIMARY KEY (key_hash);
alter table api_keys add constraint api_keys_role_check CHECK ((role = ANY (ARRAY['principal'::text, 'rp'::text, 'org:read'::text, 'org:admin'::text, 'observer'::text])));
alter table audit_events add constraint audit_events_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['admin'::text, 'principal'::text, 'rp'::text, 'org'::text, 'system'::text])));
alter table audit_events add constraint audit_events_pkey PRIMARY KEY (event_id);
alter table closed_days add constraint closed_days_pkey PRIMARY KEY (day);
alter table evidence add constraint evidence_pkey PRIMARY KEY (hash);
alter table evidence add constraint hash_is_of_body CHECK ((hash = ('sha256:'::text || encode(sha256(body), 'hex'::text))));
alter table grants add constraint grants_check CHECK (((revoked_at IS NULL) OR (revocation_recorded_at IS NOT NULL)));
alter table grants add constraint grants_pkey PRIMARY KEY (id);
alter table grants add constraint grants_principal_fkey FOREIGN KEY (principal) REFERENCES principals(did);
alter table grants add constraint grants_status_index_check CHECK ((status_index >= 0));
alter table grants add constraint grants_status_list_url_fkey FOREIGN KEY (status_list_url) REFERENCES status_lists(url);
alter table grants add constraint grants_status_list_url_status_index_key UNIQUE (status_list_url, status_index);
alter table idempotency_keys add constraint idempotency_keys_pkey PRIMARY KEY (relying_party, key);
alter table orgs add constraint orgs_pkey PRIMARY KEY (org_id);
alter table orgs add constraint orgs_slug_key UNIQUE (slug);
alter table principal_keys add constraint principal_keys_pkey PRIMARY KEY (kid);
alter table principal_keys add constraint principal_keys_principal_fkey FOREIGN KEY (principal) REFERENCES principals(did);
alter table principal_keys add constraint principal_keys_state_check CHECK ((state = ANY (ARRAY['active'::text, 'retired'::text, 'compromised'::text])));
alter table principals add constraint principals_check CHECK (((document_hash IS NULL) = (document_resolved_at IS NULL)));
alter table principals add constraint principals_document_hash_fkey FOREIGN KEY (document_hash) REFERENCES evidence(hash);
alter table principals add constraint principals_kind_check CHECK ((kind = ANY (ARRAY['managed'::text, 'hosted'::text])));
alter table principals add constraint principals_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(org_id);
alter table principals add constraint principals_pkey PRIMARY KEY (did);
alter table principals add constraint principals_slug_key UNIQUE (slug);
alter table principals add constraint principals_verification_state_check CHECK ((verification_state = ANY (ARRAY['verified'::text, 'unverified'::text])));
alter table receipts add constraint decision_with_reason CHECK (
CASE decision
    WHEN 'ALLOW'::text THEN (reason IS NULL)
    WHEN 'DENY'::text THEN (reason IS NOT NULL)
    ELSE false
END);
alter table receipts add constraint receipts_pkey PRIMARY KEY (receipt_id);
alter table relying_parties add constraint relying_parties_kind_check CHECK ((kind = ANY (ARRAY['managed'::text, 'hosted'::text])));
alter table relying_parties add constraint relying_parties_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(org_id);
alter table relying_parties add constraint relying_parties_pkey PRIMARY KEY (did);
alter table relying_parties add constraint relying_parties_slug_key UNIQUE (slug);
alter table service_keys add constraint service_keys_pkey PRIMARY KEY (kid);
alter table spent_proofs add constraint spent_proofs_pkey PRIMARY KEY (grant_id, jti);
alter table status_lists add constraint status_lists_check CHECK (((next_ordinal >= 0) AND (next_ordinal <= size_bits)));
alter table status_lists add constraint status_lists_credential_hash_fkey FOREIGN KEY (credential_hash) REFERENCES evidence(hash);
alter table status_lists add constraint status_lists_domain_number_key UNIQUE (domain, number);
alter table status_lists add constraint status_lists_number_check CHECK ((number > 0));
alter table status_lists add constraint status_lists_pkey PRIMARY KEY (url);
alter table status_lists add constraint status_lists_principal_fkey FOREIGN KEY (principal) REFERENCES principals(did);
alter table status_lists add constraint status_lists_size_bits_check CHECK ((size_bits > 0));

CREATE INDEX api_keys_by_subject ON public.api_keys USING btree (subject);
CREATE INDEX audit_events_by_actor ON public.audit_events USING btree (actor_did, event_id DESC) WHERE (actor_did IS NOT NULL);
CREATE INDEX audit_events_by_target ON public.audit_events USING btree (target, event_id DESC) WHERE (target IS NOT NULL);
CREATE INDEX audit_events_by_time ON public.audit_events USING btree (occurred_at DESC, event_id DESC);
CREATE INDEX grants_by_agent ON public.grants USING btree (agent, id DESC);
CREATE INDEX grants_by_principal ON public.grants USING btree (principal, id DESC);
CREATE INDEX grants_unstamped ON public.grants USING btree (revocation_recorded_at) WHERE ((revocation_recorded_at IS NOT NULL) AND (revoked_at IS NULL));
CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING brin (created_at);
CREATE INDEX principal_keys_by_principal ON public.principal_keys USING btree (principal);
CREATE INDEX principals_by_org ON public.principals USING btree (org_id) WHERE (org_id IS NOT NULL);
CREATE INDEX principals_due ON public.principals USING btree (last_checked_at NULLS FIRST) WHERE (kind = 'hosted'::text);
CREATE INDEX receipts_by_principal ON ONLY public.receipts USING btree (principal, receipt_id DESC) WHERE (principal IS NOT NULL);
CREATE INDEX receipts_by_relying_party ON ONLY public.receipts USING btree (relying_party, receipt_id DESC);
CREATE INDEX relying_parties_by_org ON public.relying_parties USING btree (org_id) WHERE (org_id IS NOT NULL);
CREATE INDEX spent_proofs_by_expiry ON public.spent_proofs USING brin (expires_at);
CREATE INDEX status_lists_by_principal ON public.status_lists USING btree (principal, number DESC);

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.audit_events FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.audit_events FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.closed_days FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.closed_days FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.evidence FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.evidence FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.receipts FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.receipts FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.service_keys FOR EACH ROW EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.service_keys FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();

CREATE OR REPLACE FUNCTION public.svc_commit_decisions(p_receipt_id text[], p_jws text[], p_decision text[], p_reason text[], p_evaluated_at_ms bigint[], p_relying_party text[], p_relying_party_version bigint[], p_key_hash text[], p_key_id text[], p_used_principal text[], p_used_principal_version bigint[], p_principal text[], p_grant_id text[], p_agent text[], p_action_type text[], p_amount bigint[], p_currency text[], p_resource text[], p_method text[], p_spend_grant_id text[], p_spend_jti text[], p_spend_expires_at_ms bigint[], p_idempotency_key text[], p_idempotency_body_hash text[])
 RETURNS text[]
 LANGUAGE plpgsql
 SET lock_timeout TO '400ms'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
  -- Null while a decision is still on its way into the ledger.
  v_outcome text[];
  v_deadline timestamptz := clock_timestamp() + interval '400 milliseconds';
  v_now timestamptz;
  v_key integer;
  v_missed_principals integer[] := '{}';
  v_missed_days integer[] := '{}';
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'decisions are committed under READ COMMITTED only' using errcode = 'invalid_transaction_state';
  end if;
  -- An acknowledged decision must survive a crash, however the server is configured.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;

  for v_key in select distinct hashtext(did) from unnest(p_used_principal) as did where did is not null order by 1 loop
    if not svc_lock_shared(1, v_key, v_deadline) then
      v_missed_principals := v_missed_principals || v_key;
    end if;
  end loop;
  for v_key in select distinct (ms / 86400000)::integer from unnest(p_evaluated_at_ms) as ms order by 1 loop
    if not svc_lock_shared(2, v_key, v_deadline) then
      v_missed_days := v_missed_days || v_key;
    end if;
  end loop;

  v_now := clock_timestamp();
  select array_agg(
    case
      when hashtext(d.used_principal) = any (v_missed_principals) or (d.ms / 86400000)::integer = any (v_missed_days)
        then 'LOCKED'
      when d.spend_grant_id is distinct from (case d.decision when 'ALLOW' then d.grant_id end)
        or (d.decision = 'ALLOW' and d.grant_id is null)
        then 'REFUSED'
      when to_timestamp(d.ms / 1000.0) > v_now or to_timestamp(d.ms / 1000.0) < v_now - interval '2 seconds'
        then 'CLOCK'
      when k.key_hash is null or k.revoked_at is not null
        then 'KEY_REVOKED'
      when c.day is not null
        or r.version is distinct from d.relying_party_version
        or (d.used_principal is not null and p.version is distinct from d.used_principal_version)
        -- The lock that was taken must be the lock of this Grant's Principal.
        or (d.spend_grant_id is not null and (g.revocation_recorded_at is not null
            or g.principal is null or g.principal is distinct from d.used_principal))
        then 'STALE'
    end order by d.ordinal)
  into v_outcome
  from unnest(p_evaluated_at_ms, p_decision, p_relying_party, p_relying_party_version, p_key_hash,
      p_used_principal, p_used_principal_version, p_grant_id, p_spend_grant_id)
    with ordinality as d (ms, decision, relying_party, relying_party_version, key_hash,
      used_principal, used_principal_version, grant_id, spend_grant_id, ordinal)
  left join closed_days c on c.day = date '1970-01-01' + (d.ms / 86400000)::integer
  left join relying_parties r on r.did = d.relying_party
  left join api_keys k on k.key_hash = decode(d.key_hash, 'hex')
  left join principals p on p.did = d.used_principal
  left join grants g on g.id = d.spend_grant_id;

  if cardinality(array_remove(p_idempotency_key, null)) > 0 then
    with candidate as (
      select distinct on (d.relying_party, d.key) d.relying_party, d.key, d.body_hash, d.receipt_id
      from unnest(p_relying_party, p_idempotency_key, p_idempotency_body_hash, p_receipt_id, v_outcome)
        with ordinality as d (relying_party, key, body_hash, receipt_id, outcome, ordinal)
      where d.key is not null and d.outcome is null
      order by d.relying_party, d.key, d.ordinal
    ), claimed as (
      insert into idempotency_keys as stored (relying_party, key, body_hash, receipt_id, created_at)
      select c.relying_party, c.key, c.body_hash, c.receipt_id, v_now from candidate c order by c.relying_party, c.key
      on conflict (relying_party, key) do update
        set body_hash = excluded.body_hash, receipt_id = excluded.receipt_id, created_at = excluded.created_at
        where stored.created_at < v_now - interval '10 minutes'
      returning stored.receipt_id
    )
    select array_agg(
      case when d.key is not null and d.outcome is null and c.receipt_id is null then 'IDEMPOTENCY_TAKEN'
      else d.outcome end order by d.ordinal)
    into v_outcome
    from unnest(p_idempotency_key, p_receipt_id, v_outcome) with ordinality as d (key, receipt_id, outcome, ordinal)
    left join claimed c on c.receipt_id = d.receipt_id;
  end if;

  if cardinality(array_remove(p_spend_jti, null)) > 0 then
    with candidate as (
      select distinct on (d.grant_id, d.jti) d.grant_id, d.jti, d.expires_at_ms, d.ordinal
      from unnest(p_spend_grant_id, p_spend_jti, p_spend_expires_at_ms, v_outcome)
        with ordinality as d (grant_id, jti, expires_at_ms, outcome, ordinal)
      where d.grant_id is not null and d.outcome is null
      order by d.grant_id, d.jti, d.ordinal
    ), claimed as (
      insert into spent_proofs (grant_id, jti, expires_at)
      select c.grant_id, c.jti, to_timestamp(c.expires_at_ms / 1000.0) from candidate c order by c.grant_id, c.jti
      on conflict (grant_id, jti) do nothing
      returning grant_id, jti
    ), winner as (
      select c.ordinal from candidate c join claimed using (grant_id, jti)
    )
    select array_agg(
      case when d.grant_id is not null and d.outcome is null and w.ordinal is null then 'REPLAY'
      else d.outcome end order by d.ordinal)
    into v_outcome
    from unnest(p_spend_grant_id, v_outcome) with ordinality as d (grant_id, outcome, ordinal)
    left join winner w on w.ordinal = d.ordinal;

    if cardinality(array_remove(p_idempotency_key, null)) > 0 and 'REPLAY' = any (v_outcome) then
      delete from idempotency_keys stored
      using unnest(p_relying_party, p_idempotency_key, p_receipt_id, v_outcome)
        as d (relying_party, key, receipt_id, outcome)
      where d.outcome = 'REPLAY' and stored.relying_party = d.relying_party and stored.key = d.key
        and stored.receipt_id = d.receipt_id;
    end if;
  end if;

  if array_position(v_outcome, null) is not null then
    insert into receipts (receipt_id, relying_party, principal, grant_id, agent, key_id, decision, reason,
      evaluated_at, action_type, amount, currency, resource, method, jws)
    select d.receipt_id, d.relying_party, d.principal, d.grant_id, d.agent, d.key_id, d.decision, d.reason,
      to_timestamp(d.evaluated_at_ms / 1000.0), d.action_type, d.amount, d.currency, d.resource, d.method, d.jws
    from unnest(p_receipt_id, p_relying_party, p_principal, p_grant_id, p_agent, p_key_id, p_decision, p_reason,
        p_evaluated_at_ms, p_action_type, p_amount, p_currency, p_resource, p_method, p_jws, v_outcome)
      as d (receipt_id, relying_party, principal, grant_id, agent, key_id, decision, reason,
        evaluated_at_ms, action_type, amount, currency, resource, method, jws, outcome)
    where d.outcome is null;
  end if;
  return array_replace(v_outcome, null, 'STORED');
end
$function$;
CREATE OR REPLACE FUNCTION public.svc_ensure_receipt_partitions(p_first date, p_last date)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  v_day date;
  v_name text;
  v_start timestamptz;
  v_end timestamptz;
  v_created integer := 0;
begin
  perform pg_advisory_xact_lock(3, 0);
  for v_day in select d::date from generate_series(p_first, p_last, interval '1 day') as d loop
    v_name := 'receipts_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass(v_name) is not null;
    v_start := v_day::timestamp at time zone 'UTC';
    v_end := (v_day + 1)::timestamp at time zone 'UTC';
    execute format(
      'create table %I (like receipts including all,
         constraint evaluated_within_day check (evaluated_at >= %L and evaluated_at < %L))
       with (toast_tuple_target = 8160)', v_name, v_start, v_end);
    execute format('create trigger refuse_truncate before truncate on %I
      for each statement execute function svc_refuse_change()', v_name);
    execute format('alter table receipts attach partition %I for values from (%L) to (%L)',
      v_name, svc_lowest_receipt_id(v_start), svc_lowest_receipt_id(v_end));
    v_created := v_created + 1;
  end loop;
  return v_created;
end
$function$;
CREATE OR REPLACE FUNCTION public.svc_lock_shared(p_space integer, p_key integer, p_deadline timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  v_wait_ms integer;
begin
  if pg_try_advisory_xact_lock_shared(p_space, p_key) then
    return true;
  end if;
  v_wait_ms := floor(extract(epoch from p_deadline - clock_timestamp()) * 1000);
  if v_wait_ms < 1 then
    return false;
  end if;
  begin
    perform set_config('lock_timeout', v_wait_ms || 'ms', true);
    perform pg_advisory_xact_lock_shared(p_space, p_key);
    perform set_config('lock_timeout', '400ms', true);
    return true;
  exception when lock_not_available then
    return false;
  end;
end
$function$;
CREATE OR REPLACE FUNCTION public.svc_lowest_receipt_id(instant timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select 'drc_'
    || string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((svc_ms(instant) >> (5 * i)) & 31)::integer + 1, 1), '' order by i desc)
    || repeat('0', 16)
  from generate_series(0, 9) as i
$function$;
CREATE OR REPLACE FUNCTION public.svc_ms(instant timestamp with time zone)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select floor(extract(epoch from instant) * 1000)::bigint $function$;
CREATE OR REPLACE FUNCTION public.svc_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$ select date_trunc('milliseconds', clock_timestamp()) $function$;
CREATE OR REPLACE FUNCTION public.svc_pass_barrier(p_principal text)
 RETURNS bigint
 LANGUAGE plpgsql
 SET lock_timeout TO '2s'
AS $function$
begin
  perform pg_advisory_xact_lock(1, hashtext(p_principal));
  return svc_ms(clock_timestamp());
end
$function$;
CREATE OR REPLACE FUNCTION public.svc_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% on % is refused: the table is append-only', tg_op, tg_table_name
    using errcode = 'insufficient_privilege';
end
$function$;
CREATE OR REPLACE FUNCTION public.svc_stamp_revoked(p_principal text, p_grant_ids text[])
 RETURNS TABLE(grant_id text, revoked_at timestamp with time zone)
 LANGUAGE plpgsql
 SET lock_timeout TO '2s'
AS $function$
declare
  v_stamp timestamptz;
begin
  perform pg_advisory_xact_lock(1, hashtext(p_principal));
  v_stamp := svc_now();
  update grants g
    set revoked_at = v_stamp, revocation_recorded_at = coalesce(g.revocation_recorded_at, v_stamp)
    where g.id = any (p_grant_ids) and g.principal = p_principal and g.revoked_at is null;
  return query
    select g.id, g.revoked_at from grants g where g.id = any (p_grant_ids) and g.principal = p_principal;
end
$function$;
