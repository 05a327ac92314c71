-- Tenants that signed up by themselves, and how many did on each UTC day, on all nodes together (interface §Self-serve).

create table self_serve_tenants (
  org_id text collate "C" primary key references orgs,
  relying_party text collate "C" not null unique references relying_parties,
  -- For the operator alone; may be erased.
  admin_email text,
  created_at timestamptz not null default svc_now(),
  -- What it has changed, or was given for trying out, while nobody paid for it (decision 36).
  changes integer not null default 0
);

create table self_serve_days (
  day date primary key,
  sign_ups integer not null
);

-- What anybody stored through the sandbox on each UTC day, on all nodes together.
create table sandbox_days (
  day date primary key,
  calls integer not null
);
