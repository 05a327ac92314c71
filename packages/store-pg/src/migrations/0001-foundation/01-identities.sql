-- Who takes part: organisations, Principals with their keys, Relying Parties, API keys. Evidence comes first
-- because a Principal points at the DID document in force for it.
--
-- Identifiers are compared byte by byte (COLLATE "C"): no locale can make two of them equal or reorder them.
-- Instants are stamped by the database, floored to milliseconds, so that what a client reads back is exact.

create function svc_now()
returns timestamptz
language sql
volatile
as $$
  select date_trunc('milliseconds', clock_timestamp());
$$;

create function svc_ms(instant timestamptz)
returns bigint
language sql
immutable
parallel safe
as $$
  select floor(extract(epoch from instant) * 1000)::bigint;
$$;

create table evidence (
  hash text collate "C" primary key,
  content_type text not null,
  body bytea not null,
  created_at timestamptz not null default svc_now(),
  constraint hash_is_of_body check (hash = 'sha256:' || encode(sha256(body), 'hex'))
);

create table orgs (
  org_id text collate "C" primary key,
  slug text collate "C" not null unique,
  name text not null,
  created_at timestamptz not null default svc_now()
);

create table principals (
  did text collate "C" primary key,
  kind text not null check (kind in ('managed', 'hosted')),
  domain text collate "C" not null,
  -- Unique as a part of the DID: after a change of the service's domain it can be given again.
  slug text collate "C",
  verification_state text not null check (verification_state in ('verified', 'unverified')),
  verified_since timestamptz,
  last_checked_at timestamptz,
  verification_token text not null,
  org_id text collate "C" references orgs,
  may_be_named boolean not null,
  created_at timestamptz not null default svc_now(),
  version bigint not null default 1,
  document_hash text collate "C" references evidence,
  document_resolved_at timestamptz,
  check ((document_hash is null) = (document_resolved_at is null))
);
create index principals_by_org on principals (org_id) where org_id is not null;

create table principal_keys (
  kid text collate "C" primary key,
  principal text collate "C" not null references principals,
  public_key_multibase text not null,
  state text not null default 'active' check (state in ('active', 'retired', 'compromised')),
  since timestamptz not null default svc_now(),
  created_at timestamptz not null default svc_now(),
  -- Since when the hosted document in force does not list it. Null: it does, or the service hosts the document.
  withdrawn_at timestamptz
);
create index principal_keys_by_principal on principal_keys (principal);

create table relying_parties (
  did text collate "C" primary key,
  kind text not null check (kind in ('managed', 'hosted')),
  slug text collate "C",
  name text not null,
  proof_window_seconds integer not null,
  verify_rate_limit_per_minute integer not null,
  profile text not null,
  org_id text collate "C" references orgs,
  created_at timestamptz not null default svc_now(),
  version bigint not null default 1
);
create index relying_parties_by_org on relying_parties (org_id) where org_id is not null;

create table api_keys (
  key_hash bytea primary key check (length(key_hash) = 32),
  key_id text collate "C" not null unique,
  role text not null check (role in ('principal', 'rp', 'org:read', 'org:admin', 'observer')),
  subject text collate "C" not null,
  label text,
  created_at timestamptz not null default svc_now(),
  revoked_at timestamptz
);
create index api_keys_by_subject on api_keys (subject);
