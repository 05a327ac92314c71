-- runs-from: 0005-roles
-- Streams of Shared Signals (protocol §17, decision 85): subscriptions that are read instead of sent. Who hears what, the log and its deliveries are
-- those of webhooks.
alter table event_subscriptions
add column method text not null default 'webhook' check (method in ('webhook', 'poll'));

create table event_streams (
  subscription_id text collate "C" primary key references event_subscriptions
    on delete cascade,
  -- As its receiver has asked; `types` of the subscription is what there is of them.
  requested text[] not null,
  reason text,
  -- While it is disabled: nothing is kept for it.
  keeps_nothing boolean not null default false,
  verified_at timestamptz
);
