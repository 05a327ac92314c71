/** Agents as a Principal has recorded them (interface §Agent). An inventory: no decision reads this table. */
import type { AgentRecord, AgentRepository } from '@svc/service';
import type { Database } from '../database.ts';

const columns = `did, principal, created_at as "createdAtMs", disabled_at as "disabledAtMs"`;

export function agentRepository(database: Database): AgentRepository {
  return {
    async insert(principal, did) {
      const [row] = await database.write<AgentRecord>({
        text: `insert into agents (principal, did) values ($1, $2) returning ${columns}`,
        values: [principal, did],
      });
      if (row === undefined) throw new Error('insert answered no row');
      return row;
    },
    async count(principal) {
      const rows = await database.read<{ count: number }>({
        text: 'select count(*) as count from agents where principal = $1',
        values: [principal],
      });
      return rows[0]?.count ?? 0;
    },
    async find(principal, did) {
      const rows = await database.read<AgentRecord>({
        text: `select ${columns} from agents where principal = $1 and did = $2`,
        values: [principal, did],
      });
      return rows[0] ?? null;
    },
    async setDisabled(principal, did) {
      const rows = await database.write<AgentRecord>({
        text: `update agents set disabled_at = svc_now() where principal = $1 and did = $2 returning ${columns}`,
        values: [principal, did],
      });
      return rows[0] ?? null;
    },
  };
}
