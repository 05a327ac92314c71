-- What has been used up of the budgets of Grants (protocol §11): the log of movements, which is append-only and the
-- truth, and the balances that it adds up to. A movement is recorded in the transaction of what causes it, the Receipt of
-- a consume or the attestation of a restore, under the Grant's lock (9, see commit.sql), and has the next version of its
-- Grant. So the versions of a Grant run from 1 without a gap, and a transaction that has the lock reads the last one.
--
-- A Receipt consumes once at most, is restored once at most, and has its restore reversed once at most.

create table consumption_events (
  grant_id text collate "C" not null,
  version bigint not null check (version > 0),
  key text collate "C" not null,
  delta_total bigint not null,
  delta_period bigint not null,
  delta_uses bigint not null,
  -- The window in which `delta_period` counts; null where the budget has no period.
  period_start timestamptz,
  cause text not null check (cause in ('consume', 'restore', 'restore_reversal')),
  cause_id text collate "C" not null,
  receipt_id text collate "C" not null,
  recorded_at timestamptz not null,
  primary key (grant_id, version),
  unique (receipt_id, cause),
  check ((cause = 'consume') = (cause_id = receipt_id)),
  check (
    case cause
      when 'restore' then delta_total <= 0
      and delta_period <= 0
      and delta_uses < 0
      else delta_total >= 0
      and delta_period >= 0
      and delta_uses > 0
    end
  )
);
create trigger refuse_change
before update or delete on consumption_events
for each row
execute function svc_refuse_change();
create trigger refuse_truncate
before truncate on consumption_events
for each statement
execute function svc_refuse_change();

-- One row for each budget that was ever consumed from. More than a limit can have been spent after a reversal.
create table consumption_balances (
  grant_id text collate "C" not null,
  key text collate "C" not null,
  spent_total bigint not null check (spent_total between 0 and 9007199254740991),
  spent_in_period bigint not null check (spent_in_period between 0 and 9007199254740991),
  period_start timestamptz,
  uses_spent bigint not null check (uses_spent between 0 and 9007199254740991),
  limit_total bigint,
  limit_per_period bigint,
  limit_uses bigint,
  updated_at timestamptz not null,
  primary key (grant_id, key),
  check ((period_start is null) = (limit_per_period is null))
)
with (fillfactor = 50);
