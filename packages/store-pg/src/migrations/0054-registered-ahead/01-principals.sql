-- runs-from: 0005-roles
-- A Principal that was registered while the clock was ahead had no decisions that it could read until that time came: its row was left as it was dated.

-- As in 0041-clock-traces, and since when there is such a Principal.
create or replace function svc_rewind_principals(p_now timestamptz)
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
    created_at = svc_not_after(created_at, p_now),
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
      created_at,
      verified_since,
      last_checked_at,
      last_proven_at,
      document_resolved_at,
      document_changes_since
    ) > p_now;
$$;
