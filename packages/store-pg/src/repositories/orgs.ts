/** Organisations, as far as others refer to them. */
import type { OrgRepository } from '@svc/service';
import type { Database } from '../database.ts';

export function orgRepository(database: Database): OrgRepository {
  return {
    async exists(orgId) {
      const rows = await database.read({ text: 'select from orgs where org_id = $1', values: [orgId] });
      return rows.length > 0;
    },
  };
}
