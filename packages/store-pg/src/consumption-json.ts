/** Balances as one JSON value: the version and the rows of one Grant in one snapshot. */
import type { Balances, GrantId } from '@svc/protocol';

/** `grantId` is an SQL expression. The value is `BalancesJson`. */
export const balancesJson = (grantId: string): string => `json_build_object(
  'version', (select coalesce(max(e.version), 0) from consumption_events e where e.grant_id = ${grantId}),
  'capabilities', (select coalesce(json_agg(json_build_object('key', b.key, 'spentTotal', b.spent_total,
      'spentInPeriod', b.spent_in_period, 'periodStartMs', svc_ms(b.period_start), 'usesSpent', b.uses_spent,
      'limits', json_build_object('total', b.limit_total, 'perPeriod', b.limit_per_period, 'uses', b.limit_uses),
      'updatedAtMs', svc_ms(b.updated_at)) order by b.key), '[]')
    from consumption_balances b where b.grant_id = ${grantId}))`;

export type BalancesJson = Omit<Balances, 'grantId'>;

export const balancesOf = (grantId: GrantId, json: BalancesJson): Balances => ({ grantId, ...json });
