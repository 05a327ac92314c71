// Generated from a migrated database; `npx vitest run --project store-pg -u` renews it.

export interface SvcDecision {
  readonly ordinal: number | null;
  readonly receipt_id: string | null;
  readonly decision: string | null;
  readonly reason: string | null;
  readonly evaluated_at_ms: number | null;
  readonly relying_party: string | null;
  readonly relying_party_version: number | null;
  readonly key_hash: string | null;
  readonly key_id: string | null;
  readonly used_principal: string | null;
  readonly used_principal_version: number | null;
  readonly used_grant_id: string | null;
  readonly principal: string | null;
  readonly grant_id: string | null;
  readonly agent: string | null;
  readonly action_type: string | null;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly resource: string | null;
  readonly method: string | null;
  readonly spend_grant_id: string | null;
  readonly spend_jti: string | null;
  readonly spend_expires_at_ms: number | null;
  readonly binds_grant_hash: string | null;
  readonly idempotency_key: string | null;
  readonly idempotency_body_hash: string | null;
  readonly org_id: string | null;
  readonly entitlement_version: number | null;
  readonly is_capped: boolean | null;
  readonly is_enforced: boolean | null;
  readonly balances_grant_id: string | null;
  readonly balances_version: number | null;
  readonly budget_key: string | null;
  readonly delta_total: number | null;
  readonly delta_period: number | null;
  readonly delta_uses: number | null;
  readonly period_start_ms: number | null;
  readonly limit_total: number | null;
  readonly limit_per_period: number | null;
  readonly limit_uses: number | null;
}

export const svcDecisionFields = [
  'ordinal',
  'receipt_id',
  'decision',
  'reason',
  'evaluated_at_ms',
  'relying_party',
  'relying_party_version',
  'key_hash',
  'key_id',
  'used_principal',
  'used_principal_version',
  'used_grant_id',
  'principal',
  'grant_id',
  'agent',
  'action_type',
  'amount',
  'currency',
  'resource',
  'method',
  'spend_grant_id',
  'spend_jti',
  'spend_expires_at_ms',
  'binds_grant_hash',
  'idempotency_key',
  'idempotency_body_hash',
  'org_id',
  'entitlement_version',
  'is_capped',
  'is_enforced',
  'balances_grant_id',
  'balances_version',
  'budget_key',
  'delta_total',
  'delta_period',
  'delta_uses',
  'period_start_ms',
  'limit_total',
  'limit_per_period',
  'limit_uses',
] as const satisfies readonly (keyof SvcDecision)[];
