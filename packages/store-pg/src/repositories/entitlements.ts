/** Entitlements of orgs (interface §Entitlement). `svc_put_entitlement` ensures order and counts. */
import type { OrgId, Sha256 } from '@svc/protocol';
import { DAY_MS, dayOf } from '@svc/protocol';
import type { EntitlementPush, EntitlementRecord, EntitlementRepository } from '@svc/service';
import { againIfMoved, type Ledger, type Question } from '../cold/cold-reader.ts';
import type { Database } from '../database.ts';
import { lowestReceiptId } from '../receipt-ids.ts';

/** Columns of a row `e` as JSON. */
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

/**
 * `transact` runs the one statement that stores the entitlement. Objects are read before it, so no connection is held
 * for them.
 */
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

/**
 * The day in which a cap begins, if that day is cold and this push begins the cap, with the members of the org that
 * have production checks in it. Its checks were counted before it was packed. If the day moves, or the entitlement
 * changes, before the push is stored, `svc_put_entitlement` fails, and this is read again.
 */
const coldDaySql = `
  select c.manifest_hash as hash, array(
    select rp.did from relying_parties as rp where rp.org_id = $1 and exists (
      select from usage_by_key as u where u.relying_party = rp.did and u.day = c.day and u.production_checks > 0)) as members
  from cold_days as c
  where c.state = 'cold' and c.day = $2 and not exists (
    select from entitlements as e
    where e.org_id = $1 and e.check_cap is not null and e.cap_since = to_timestamp($3 / 1000.0))`;

/**
 * The production checks of an org from the start of its cap to the end of that day. Null where the day is in the
 * database, and where the cap has begun before and goes on counting. So a push does not wait for objects that it does
 * not need.
 */
async function countColdChecks(
  question: Question,
  orgId: OrgId,
  { capSinceMs }: EntitlementPush,
): Promise<number | null> {
  const sinceMs = Math.max(capSinceMs ?? 0, 0);
  const untilMs = Math.ceil(sinceMs / DAY_MS) * DAY_MS;
  if (sinceMs === untilMs) return null;
  const day = dayOf(sinceMs);
  const [found] = await question.database.read<{ hash: Sha256; members: string[] }>({
    text: coldDaySql,
    values: [orgId, day, capSinceMs],
  });
  if (found === undefined) return null;
  const { hash, members } = found;
  let checks = 0;
  if (members.length === 0) return checks;
  const scan = {
    ...{ columns: ['production_check'] as const, where: [{ column: 'relying_party', oneOf: members }] },
    ...{ from: lowestReceiptId(sinceMs), before: lowestReceiptId(untilMs), isDescending: false },
  };
  await question.cold.read(question, { day, hash }, async (reader, signal) => {
    for await (const { rows } of reader.scan(scan, signal))
      for (const row of rows) if (row.production_check) checks += 1;
  });
  return checks;
}
