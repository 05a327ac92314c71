-- runs-from: 0005-roles
-- A repair of the clock left Grants as they were. Until then no verifier heard of the revocation of one that was allocated ahead, it was denied as soon as its
-- key was retired, and nobody completed a revocation that was recorded ahead.

-- Nodes remember allocations, and learn of it by the version of the Principal. Run before the keys are put right: a Grant that was allocated after a key
-- was retired is allocated after it still.
create function svc_rewind_grants(p_now timestamptz)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
  with
    rewound as (
      update grants as g
      set
        allocated_at = case
          when exists (
            select
            from principal_keys as k
            where
              k.principal = g.principal
              and k.state = 'retired'
              and k.since > p_now
              and k.since < g.allocated_at
          ) then p_now + interval '1 millisecond'
          else svc_not_after(g.allocated_at, p_now)
        end,
        revocation_recorded_at = svc_not_after(g.revocation_recorded_at, p_now)
      where greatest(g.allocated_at, g.revocation_recorded_at) > p_now
      returning g.principal
    )
  update principals
  set version = version + 1
  where did in (select principal from rewound);
$$;

-- What lasts for a time from an instant on: an Idempotency-Key its 10 minutes, the lease of a conformance run, which a runner that is there prolongs, its 15
-- seconds, a proof of a day until it is due again. And a push of an entitlement keeps out those that are dated before it.
create function svc_rewind_terms(p_now timestamptz)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
  update idempotency_keys set created_at = p_now where created_at > p_now;
  update conformance_runs
  set
    created_at = svc_not_after(created_at, p_now),
    leased_until = svc_not_after(leased_until, p_now + interval '15 seconds'),
    finished_at = svc_not_after(finished_at, p_now)
  where greatest(created_at, leased_until - interval '15 seconds', finished_at) > p_now;
  update content_checks set checked_at = p_now where checked_at > p_now;
  update entitlements set as_of = p_now where as_of > p_now;
$$;

-- As in 0047-approvals-ahead, and Grants and terms are put right.
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
  perform svc_rewind_grants(repaired_at);
  perform svc_rewind_principals(repaired_at);
  perform svc_rewind_service_keys(repaired_at);
  perform svc_rewind_approvals(repaired_at);
  perform svc_rewind_terms(repaired_at);
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
