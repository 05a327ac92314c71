/** Entitlements of orgs (interface §Entitlement); `svc_put_entitlement` keeps order and count. */
import type { OrgId } from '@svc/protocol';
import { DAY_MS, dayOf } from '@svc/protocol';
import type { EntitlementPush, EntitlementRecord, EntitlementRepository } from '@svc/service';
import { againIfMoved, findColdDays, type Ledger, type Question } from '../cold/cold-reader.ts';
import type { Database } from '../database.ts';
import { lowestReceiptId } from '../receipt-ids.ts';

/** A row `e` as JSON. */
export const entitlementJson = `json_build_object('orgId', e.org_id, 'production', e.production,
      'productionUntilMs', svc_ms(e.production_until), 'checkCap', e.check_cap, 'capSinceMs', svc_ms(e.cap_since),
      'reason', e.reason, 'asOfMs', svc_ms(e.as_of), 'updatedAtMs', svc_ms(e.updated_at), 'version', e.version,
      'checksSinceCap', e.checks_since_cap)`;

const putSql = `
  select svc_put_entitlement($1, $2, to_timestamp($3 / 1000.0), $4, to_timestamp($5 / 1000.0), $6,
    to_timestamp($7 / 1000.0), $8) as applied`;

export function entitlementRepository(database: Database): EntitlementRepository {
  return {
    async find(orgId) {
      const rows = await database.read<{ entitlement: EntitlementRecord }>({
        text: `select ${entitlementJson} as entitlement from entitlements e where e.org_id = $1`,
        values: [orgId],
      });
      return rows[0]?.entitlement ?? null;
    },
  };
}

/** `transact` runs the one statement that stores it; nothing waits for objects with its connection in hand. */
export const putEntitlement = (
  ledger: Ledger,
  transact: <T>(work: (session: Database) => Promise<T>) => Promise<T>,
  orgId: OrgId,
  push: EntitlementPush,
): Promise<boolean> =>
  againIfMoved(ledger, async (question) => {
    const checks = push.checkCap === null ? null : await countColdChecks(question, orgId, push);
    const values = [
      ...[orgId, push.production, push.productionUntilMs, push.checkCap, push.capSinceMs, push.reason],
      ...[push.asOfMs, checks],
    ];
    const [row] = await transact((session) => session.write<{ applied: boolean }>({ text: putSql, values }));
    if (row === undefined) throw new Error('svc_put_entitlement answered no row');
    return row.applied;
  });

/** The production checks of an org in the rest of the day in which its cap begins; null where that day is in the database. */
async function countColdChecks(
  question: Question,
  orgId: OrgId,
  { capSinceMs }: EntitlementPush,
): Promise<number | null> {
  const { cold, database } = question;
  const sinceMs = Math.max(capSinceMs ?? 0, 0);
  const untilMs = Math.ceil(sinceMs / DAY_MS) * DAY_MS;
  if (sinceMs === untilMs) return null;
  const day = dayOf(sinceMs);
  const [hash] = (await findColdDays(database, [day])).values();
  if (hash === undefined) return null;
  const members = await database.read<{ did: string }>({
    text: 'select did from relying_parties where org_id = $1',
    values: [orgId],
  });
  const dids = new Set(members.map(({ did }) => did));
  let checks = 0;
  const scan = {
    ...{ columns: ['relying_party', 'production_check'] as const, isDescending: false },
    ...{ from: lowestReceiptId(sinceMs), before: lowestReceiptId(untilMs) },
  };
  await cold.read(question, { day, hash }, async (reader, signal) => {
    for await (const { rows } of reader.scan(scan, signal))
      for (const row of rows) if (row.production_check && dids.has(row.relying_party)) checks += 1;
  });
  return checks;
}
