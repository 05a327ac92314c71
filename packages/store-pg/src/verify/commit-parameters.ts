/** A batch of decisions as the column arrays of `svc_commit_decisions`, in the order of its parameters. */
import type { BudgetUse, DecisionCommit } from '@svc/service';
import type { Statement } from '../database.ts';

const columns: readonly ((decision: DecisionCommit) => string | number | boolean | null)[] = [
  (d) => d.receiptId,
  (d) => d.jws,
  (d) => d.decision,
  (d) => d.reason,
  (d) => d.evaluatedAtMs,
  (d) => d.relyingParty.did,
  (d) => d.relyingParty.version,
  (d) => d.keyHash,
  (d) => d.keyId,
  (d) => d.usedPrincipal?.did ?? null,
  (d) => d.usedPrincipal?.version ?? null,
  (d) => d.usedGrantId,
  (d) => d.principal,
  (d) => d.grantId,
  (d) => d.agent,
  (d) => d.action?.type ?? null,
  (d) => d.action?.amount ?? null,
  (d) => d.action?.currency ?? null,
  (d) => d.action?.resource ?? null,
  (d) => d.action?.method ?? null,
  (d) => d.spend?.grantId ?? null,
  (d) => d.spend?.jti ?? null,
  (d) => d.spend?.expiresAtMs ?? null,
  (d) => d.idempotency?.key ?? null,
  (d) => d.idempotency?.bodyHash ?? null,
  (d) => d.productionCheck?.orgId ?? null,
  (d) => d.productionCheck?.entitlementVersion ?? null,
  (d) => d.productionCheck?.isCapped ?? false,
  (d) => d.productionCheck?.isEnforced ?? false,
  (d) => (d.budget === null ? null : budgetJson(d.budget)),
];

/** What is null is left out. */
const budgetJson = ({ balances, consumption }: BudgetUse): string =>
  JSON.stringify({
    grant_id: balances.grantId,
    version: balances.version,
    ...(consumption === null
      ? {}
      : {
          key: consumption.key,
          delta_total: consumption.deltaTotal,
          delta_period: consumption.deltaPeriod,
          delta_uses: consumption.deltaUses,
          period_start_ms: consumption.periodStartMs,
          limit_total: consumption.limits.total,
          limit_per_period: consumption.limits.perPeriod,
          limit_uses: consumption.limits.uses,
        }),
  });

const text = `select svc_commit_decisions(${columns.map((_, index) => `$${index + 1}`).join(', ')}) as outcomes`;

export const commitStatement = (decisions: readonly DecisionCommit[]): Statement => ({
  name: 'svc_commit_decisions',
  text,
  values: columns.map((column) => decisions.map(column)),
});
