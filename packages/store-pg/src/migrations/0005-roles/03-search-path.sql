-- A function finds what it names in `public`, whatever the caller's search_path is: pg_restore has an empty one, and a session
-- may have put tables of its own in front. Not pinned are functions that name nothing of ours, so that they can be inlined,
-- and those that only svc_commit_decisions calls, which run under its setting: a setting at each call of them would cost a
-- decision more than a tenth of its commit. Later migrations write `set search_path = public, pg_temp` at each function.
do $$
declare
  v_function regprocedure;
begin
  for v_function in select oid::regprocedure
  from pg_proc
  where
    pronamespace = 'public'::regnamespace
    and proname like 'svc\_%'
    and proname not in ('svc_now', 'svc_ms', 'svc_instant', 'svc_day_number', 'svc_is_within')
    and proname not in (
      'svc_prepare_commit',
      'svc_take_lock',
      'svc_take_locks',
      'svc_try_balances',
      'svc_balances_version',
      'svc_judge',
      'svc_judge_caps',
      'svc_judge_budgets',
      'svc_claim_keys',
      'svc_release_keys',
      'svc_spend_proofs',
      'svc_release_proofs',
      'svc_bind_grants',
      'svc_log_consumption',
      'svc_sum_consumption',
      'svc_consume',
      'svc_settle_budgets',
      'svc_settle_caps',
      'svc_count_caps',
      'svc_store'
    ) loop
    execute format('alter function %s set search_path = public, pg_temp', v_function);
  end loop;
end;
$$;
