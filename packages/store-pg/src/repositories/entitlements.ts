/** Entitlements of orgs (interface §Entitlement); `svc_put_entitlement` keeps order and count. */
import type { EntitlementRecord, EntitlementRepository } from '@svc/service';
import type { Database } from '../database.ts';

/** A row `e` as JSON. */
export const entitlementJson = `json_build_object('orgId', e.org_id, 'production', e.production,
      'productionUntilMs', svc_ms(e.production_until), 'checkCap', e.check_cap, 'capSinceMs', svc_ms(e.cap_since),
      'reason', e.reason, 'asOfMs', svc_ms(e.as_of), 'updatedAtMs', svc_ms(e.updated_at), 'version', e.version,
      'checksSinceCap', e.checks_since_cap)`;

const putSql = `
  select svc_put_entitlement($1, $2, to_timestamp($3 / 1000.0), $4, to_timestamp($5 / 1000.0), $6,
    to_timestamp($7 / 1000.0)) as applied`;

export function entitlementRepository(database: Database): EntitlementRepository {
  return {
    async find(orgId) {
      const rows = await database.read<{ entitlement: EntitlementRecord }>({
        text: `select ${entitlementJson} as entitlement from entitlements e where e.org_id = $1`,
        values: [orgId],
      });
      return rows[0]?.entitlement ?? null;
    },
    async put(orgId, push) {
      const [row] = await database.write<{ applied: boolean }>({
        text: putSql,
        values: [
          orgId,
          push.production,
          push.productionUntilMs,
          push.checkCap,
          push.capSinceMs,
          push.reason,
          push.asOfMs,
        ],
      });
      if (row === undefined) throw new Error('svc_put_entitlement answered no row');
      return row.applied;
    },
  };
}
