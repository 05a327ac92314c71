-- One decision on its way into the ledger, as its evaluation left it (protocol §10). What the evaluation used is read again
-- under the locks of the commit; the rest is stored as it is. commit-parameters.ts writes values of this type. The Receipt,
-- most of the bytes, travels beside it, since it is only needed once.
create type svc_decision as (
  -- Its place in the batch, from 1.
  ordinal integer,
  receipt_id text,
  decision text,
  reason text,
  evaluated_at_ms bigint,
  relying_party text,
  relying_party_version bigint,
  key_hash text,
  key_id text,
  -- The Grant is the one that was found in force, by a status list that may be older than its revocation.
  used_principal text,
  used_principal_version bigint,
  used_grant_id text,
  principal text,
  grant_id text,
  agent text,
  action_type text,
  amount bigint,
  currency text,
  resource text,
  method text,
  -- The Proof that an ALLOW spends.
  spend_grant_id text,
  spend_jti text,
  spend_expires_at_ms bigint,
  -- The Grant of an ALLOW, where the evaluation found that none had been allowed under its id.
  binds_grant_hash text,
  idempotency_key text,
  idempotency_body_hash text,
  -- The entitlement as the evaluation found it: version 0 without a row. The org is null for what is no production check.
  org_id text,
  entitlement_version bigint,
  is_capped boolean,
  is_enforced boolean,
  -- The balances that were consulted, null for none; then what an ALLOW consumes of one budget, null for nothing.
  balances_grant_id text,
  balances_version bigint,
  budget_key text,
  delta_total bigint,
  delta_period bigint,
  delta_uses bigint,
  period_start_ms bigint,
  limit_total bigint,
  limit_per_period bigint,
  limit_uses bigint
);

-- The functions of the commit carry the outcomes beside the decisions, in an array by their ordinals. Null stands for a
-- decision that is still on its way into the ledger.

-- The UTC day of an instant, counted from 1970-01-01.
create function svc_day_number(p_ms bigint)
returns integer
language sql
immutable
parallel safe
as $$
  select (p_ms / 86400000)::integer;
$$;
