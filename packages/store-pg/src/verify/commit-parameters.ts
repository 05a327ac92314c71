/**
 * Builds the call of `svc_commit_decisions` for a batch of decisions: an array of `svc_decision` in PostgreSQL's text
 * form.
 */
import type { DecisionCommit } from '@svc/service';
import type { Statement } from '../statement.ts';
import { type SvcDecision, svcDecisionFields } from './svc-decision.generated.ts';

export const commitStatement = (decisions: readonly DecisionCommit[]): Statement => ({
  name: 'svc_commit_decisions',
  text: 'select svc_commit_decisions($1, $2) as outcomes',
  values: [
    `{${decisions.map((decision, index) => elementOf(rowOf(decision, index + 1))).join()}}`,
    decisions.map(({ jws }) => jws),
  ],
});

const elementOf = (row: SvcDecision): string =>
  `"(${svcDecisionFields.map((field) => fieldOf(row[field])).join()})"`;

/**
 * Quotes a value as a field of its composite, which is itself quoted as an element of the array. Null is an empty
 * field.
 */
const fieldOf = (value: string | number | boolean | null): string => {
  if (value === null) return '';
  const text = String(value);
  return `\\"${text.includes('"') || text.includes('\\') ? escaped(escaped(text)) : text}\\"`;
};

const escaped = (text: string): string => text.replaceAll(/["\\]/g, '\\$&');

const rowOf = (decision: DecisionCommit, ordinal: number): SvcDecision => {
  const { action, spend, idempotency, productionCheck, budget } = decision;
  const consumption = budget?.consumption;
  return {
    ordinal,
    receipt_id: decision.receiptId,
    decision: decision.decision,
    reason: decision.reason,
    evaluated_at_ms: decision.evaluatedAtMs,
    relying_party: decision.relyingParty.did,
    relying_party_version: decision.relyingParty.version,
    key_hash: decision.keyHash,
    key_id: decision.keyId,
    used_principal: decision.usedPrincipal?.did ?? null,
    used_principal_version: decision.usedPrincipal?.version ?? null,
    used_grant_id: decision.usedGrantId,
    principal: decision.principal,
    grant_id: decision.grantId,
    agent: decision.agent,
    action_type: action?.type ?? null,
    amount: action?.amount ?? null,
    currency: action?.currency ?? null,
    resource: action?.resource ?? null,
    method: action?.method ?? null,
    spend_grant_id: spend?.grantId ?? null,
    spend_jti: spend?.jti ?? null,
    spend_expires_at_ms: spend?.expiresAtMs ?? null,
    binds_grant_hash: decision.bindsGrantHash,
    idempotency_key: idempotency?.key ?? null,
    idempotency_body_hash: idempotency?.bodyHash ?? null,
    org_id: productionCheck?.orgId ?? null,
    entitlement_version: productionCheck?.entitlementVersion ?? null,
    is_capped: productionCheck?.isCapped ?? false,
    is_enforced: productionCheck?.isEnforced ?? false,
    balances_grant_id: budget?.balances.grantId ?? null,
    balances_version: budget?.balances.version ?? null,
    budget_key: consumption?.key ?? null,
    delta_total: consumption?.deltaTotal ?? null,
    delta_period: consumption?.deltaPeriod ?? null,
    delta_uses: consumption?.deltaUses ?? null,
    period_start_ms: consumption?.periodStartMs ?? null,
    limit_total: consumption?.limits.total ?? null,
    limit_per_period: consumption?.limits.perPeriod ?? null,
    limit_uses: consumption?.limits.uses ?? null,
  };
};
