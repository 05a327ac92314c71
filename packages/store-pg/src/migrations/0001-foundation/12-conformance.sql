-- Conformance runs (interface §Conformance run). A row is `running` from its start on and waits until a runner puts its
-- lease on it, once and for good: a run whose lease lapses ends as `error` and is not taken again, so no endpoint is
-- asked by two runners.

create table conformance_runs (
  run_id text collate "C" primary key,
  account text collate "C" not null,
  key_id text collate "C" not null,
  endpoint text not null check (length(endpoint) <= 2048),
  status text not null default 'running' check (status in ('running', 'passed', 'failed', 'error')),
  created_at timestamptz not null default svc_now(),
  finished_at timestamptz,
  requests integer not null default 0 check (requests between 0 and 50),
  vectors_sha256 text not null,
  conformance_version text not null,
  error text check (length(error) <= 1000),
  report text check (octet_length(report) <= 1048576),
  lease text,
  leased_until timestamptz,
  check ((status = 'running') = (finished_at is null)),
  check ((lease is null) = (leased_until is null))
);
create unique index conformance_runs_one_running on conformance_runs (account) where status = 'running';
create index conformance_runs_waiting on conformance_runs (created_at) where status = 'running';
create index conformance_runs_by_key on conformance_runs (key_id, created_at);
create index conformance_runs_finished on conformance_runs (finished_at) where finished_at is not null;
