/** Grants as allocated: who may use which status entry, and whether it is revoked (protocol §9). */
import type { GrantFilter, GrantRecord, GrantRepository } from '@svc/service';
import type { Database } from '../database.ts';

const columns = `id, principal, agent, status_list_url as "statusListUrl", status_index as "statusIndex",
  allocated_at as "allocatedAtMs", revocation_recorded_at as "revocationRecordedAtMs", revoked_at as "revokedAtMs"`;

export function grantRepository(database: Database): GrantRepository {
  return {
    async insert(grant) {
      const [row] = await database.write<GrantRecord>({
        text: `insert into grants (id, principal, agent, status_list_url, status_index)
          values ($1, $2, $3, $4, $5) returning ${columns}`,
        values: [grant.id, grant.principal, grant.agent, grant.statusListUrl, grant.statusIndex],
      });
      if (row === undefined) throw new Error('insert answered no row');
      return row;
    },
    async find(id) {
      const rows = await database.read<GrantRecord>({
        text: `select ${columns} from grants where id = $1`,
        values: [id],
      });
      return rows[0] ?? null;
    },
    list: (filter) => database.read<GrantRecord>(listStatement(filter)),
    async findForUpdate(id) {
      const rows = await database.write<GrantRecord>({
        text: `select ${columns} from grants where id = $1 for update`,
        values: [id],
      });
      return rows[0] ?? null;
    },
    async recordRevocation(ids) {
      // Rows are locked in the order of their ids: two revocations of overlapping sets must not deadlock.
      await database.write({
        text: `update grants set revocation_recorded_at = svc_now()
          where id in (select id from grants where id = any ($1::text[]) order by id for update)
            and revocation_recorded_at is null`,
        values: [ids],
      });
    },
  };
}

function listStatement(filter: GrantFilter) {
  const values: unknown[] = [];
  const conditions: string[] = [];
  const where = (condition: (parameter: string) => string, value: unknown) => {
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  if (filter.principals !== null) where((p) => `principal = any (${p}::text[])`, filter.principals);
  if (filter.agent !== undefined) where((p) => `agent = ${p}`, filter.agent);
  if (filter.beforeId !== undefined) where((p) => `id < ${p}`, filter.beforeId);
  if (filter.state === 'active') conditions.push('revocation_recorded_at is null');
  if (filter.state === 'revoked') conditions.push('revocation_recorded_at is not null');
  values.push(filter.limit);
  const text = `select ${columns} from grants
    where ${conditions.length === 0 ? 'true' : conditions.join(' and ')}
    order by id desc limit $${values.length}`;
  return { text, values };
}
