-- What relying parties reported about their decisions (interface §Outcome attestations). Append-only; what statistics
-- ask of the Receipt is copied from it, which never changes.
--
-- `ordinal` counts within one Receipt from 1: it orders the ledger, bounds it, and 1 stands exactly once for each
-- Receipt that has an outcome. An attestation is in force unless another corrects it. One that is corrected belongs
-- to the same Receipt and is corrected once; that it is no correction itself is checked under the lock of reporters.

create table attestations (
  attestation_id text collate "C" primary key,
  receipt_id text collate "C" not null,
  ordinal smallint not null check (ordinal between 1 and 100),
  relying_party text collate "C" not null,
  principal text collate "C",
  evaluated_at timestamptz not null,
  decision text not null check (decision in ('ALLOW', 'DENY')),
  type text not null check (
    type in (
      'fulfilled',
      'cancelled',
      'dispute_opened',
      'dispute_resolved',
      'chargeback_received',
      'chargeback_reversed',
      'loss_reported'
    )
  ),
  -- As the reporter wrote it, who may have signed it so.
  occurred_at text not null,
  recorded_at timestamptz not null default svc_now(),
  evidence_ref text,
  note text,
  correction_of text collate "C" unique,
  reporter_signature text,
  resolution text check (resolution in ('agent_at_fault', 'agent_not_at_fault', 'indeterminate')),
  loss_amount bigint check (loss_amount >= 0),
  currency text collate "C",
  consumption_cause text check (consumption_cause in ('restore', 'restore_reversal')),
  consumption_version bigint,
  unique (receipt_id, ordinal),
  unique (receipt_id, attestation_id),
  foreign key (receipt_id, correction_of) references attestations (receipt_id, attestation_id),
  check (type != 'dispute_resolved' or resolution is not null),
  check (type != 'loss_reported' or (loss_amount is not null and currency is not null)),
  check ((consumption_cause is null) = (consumption_version is null))
);
create index attestations_by_relying_party on attestations (relying_party, evaluated_at);
create index attestations_by_principal on attestations (principal, evaluated_at) where principal is not null;
create index attestations_by_time on attestations (evaluated_at);

create trigger refuse_change
before update or delete on attestations
for each row
execute function svc_refuse_change();
create trigger refuse_truncate
before truncate on attestations
for each statement
execute function svc_refuse_change();
