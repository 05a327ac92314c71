-- runs-from: 0005-roles
-- Events (protocol §15, decision 69): who wants to hear of what, and where.
--
-- An audience is who an event is for: `principal <did>`, `rp <did>`, `org <id>`; `everyone`; `verifiers`, the relying parties
-- that have verified the Grant; `subscription <id>`. A version from before this migration writes what it writes today: the
-- triggers and the commit are the database's.

create table event_subscriptions (
  subscription_id text collate "C" primary key,
  -- `principal <did>`, `rp <did>` or `org <id>`.
  audience text collate "C" not null check (audience ~ '^(principal|rp|org) [^[:space:]]+$'),
  url text not null,
  description text,
  types text[] not null check (cardinality(types) > 0),
  -- What is left of a total, in percent, when `budget.low` is told.
  budget_low_percent integer not null check (budget_low_percent between 1 and 99),
  created_at timestamptz not null default svc_now(),
  created_by text collate "C",
  -- Up to here the log has been read for it.
  read_to bigint not null,
  -- Since when no attempt has succeeded, how many have failed since, and before when there is no other.
  failing_since timestamptz,
  failures integer not null default 0,
  not_before timestamptz not null default svc_now(),
  disabled_at timestamptz,
  disabled_because text check (disabled_because in ('owner', 'failing', 'gone')),
  check ((disabled_at is null) = (disabled_because is null))
);
create index event_subscriptions_by_audience on event_subscriptions (audience);

-- Secrets are not here: number and root say which one it is (service/src/events/secrets.ts). Two at a time.
create table event_secrets (
  subscription_id text collate "C" not null references event_subscriptions
    on delete cascade,
  number integer not null check (number > 0),
  root text not null,
  created_at timestamptz not null default svc_now(),
  ends_at timestamptz,
  primary key (subscription_id, number)
);

-- What has to be told to whom. Each commit of decisions looks here, so it is narrow; empty, it costs one look.
create table event_wants (
  type text collate "C" not null,
  audience text collate "C" not null,
  subscription_id text collate "C" not null references event_subscriptions
    on delete cascade,
  budget_low_percent integer not null,
  primary key (type, audience, subscription_id)
);
create index event_wants_by_subscription on event_wants (subscription_id);

-- Writes down what a subscription wants.
create function svc_want_events(p_subscription_id text)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
  insert into event_wants (type, audience, subscription_id, budget_low_percent)
  select unnest(types), audience, subscription_id, budget_low_percent
  from event_subscriptions
  where subscription_id = p_subscription_id
  on conflict do nothing;
$$;
