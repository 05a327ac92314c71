/** Organisations: customer accounts that own Principals and relying parties (interface §Org). */
import type { OrgRecord, OrgRepository } from '@svc/service';
import { type Database, readValue, writeValue } from '../database.ts';
import { afterLock } from '../locks.ts';
import { isNewcomerSql } from './newcomers.ts';

const columns = `org_id as "orgId", slug, name, created_at as "createdAtMs"`;

export function orgRepository(database: Database): OrgRepository {
  return {
    async exists(orgId) {
      const rows = await database.read({ text: 'select from orgs where org_id = $1', values: [orgId] });
      return rows.length > 0;
    },
    async insert({ orgId, slug, name }) {
      const [row] = await database.write<OrgRecord>({
        text: `insert into orgs (org_id, slug, name) values ($1, $2, $3) returning ${columns}`,
        values: [orgId, slug, name],
      });
      if (row === undefined) throw new Error('insert answered no row');
      return row;
    },
    async find(orgId) {
      const rows = await database.read<OrgRecord>({
        text: `select ${columns} from orgs where org_id = $1`,
        values: [orgId],
      });
      return rows[0] ?? null;
    },
    async isNewcomer(orgId) {
      const text = `select ${isNewcomerSql('$1')} as value`;
      return (await readValue<boolean>(database, text, [orgId])) ?? false;
    },
    async countMembersForUpdate(orgId) {
      const text = `select ((select count(*) from principals where org_id = $1)
          + (select count(*) from relying_parties where org_id = $1))::integer as value`;
      const members = await afterLock(database, 'counts', `members ${orgId}`, () =>
        writeValue<number>(database, text, [orgId]),
      );
      return members ?? 0;
    },
  };
}
