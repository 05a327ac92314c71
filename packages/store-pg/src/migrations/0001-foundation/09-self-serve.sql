-- Tenants that signed up by themselves, and how many did on each UTC day, on all nodes together (interface §Self-serve).

create table self_serve_tenants (
  org_id text collate "C" primary key references orgs,
  relying_party text collate "C" not null unique references relying_parties,
  -- For the operator alone; may be erased.
  admin_email text,
  created_at timestamptz not null default svc_now()
);

create table self_serve_days (
  day date primary key,
  sign_ups integer not null
);
