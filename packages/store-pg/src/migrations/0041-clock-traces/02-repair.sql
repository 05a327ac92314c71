-- A Proof that was spent is let go of an hour after it has expired. Where the clock was ahead by about so much, some may be gone that are fresh by the time
-- that is right: as after a restore nothing is decided before they have expired (300 s of window, the skew of 5 s twice, and 3 s of a commit under way).
create function svc_quarantine_spent_proofs(p_mark timestamptz, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
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
$$;

-- Principals and their keys that are dated ahead. Until then domains would not be asked again, what they have proven would not lapse, and a retired key would
-- pass for Grants of after its retirement. Nodes learn of it by the version.
create function svc_rewind_principals(p_now timestamptz)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
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
$$;

-- A key of the service that was first seen ahead would sign nothing that counts until then.
create function svc_rewind_service_keys(p_now timestamptz)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
set lock_timeout = '10s'
as $$
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
$$;

-- As in 0035-clock-events, and what else was dated ahead, or let go of, is put right.
create or replace function svc_repair_clock(
  p_operator_ms bigint,
  p_event_id text,
  out repaired_at timestamptz,
  out reopened_days integer,
  out unsealed boolean,
  out mark_moved_ms bigint
)
language plpgsql
volatile
set search_path = public, pg_temp
as $$
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
  perform svc_rewind_principals(repaired_at);
  perform svc_rewind_service_keys(repaired_at);
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
$$;
