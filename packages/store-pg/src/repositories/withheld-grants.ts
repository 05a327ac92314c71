/** Grants that a restore withholds (protocol §10). */
import type {
  GrantPage,
  ReleasedGrant,
  ReleasedGrants,
  WithheldGrant,
  WithheldGrantRepository,
} from '@svc/service';
import type { Database } from '../database.ts';
import type { Statement } from '../statement.ts';

const listWithheldSql = `
  select id, principal, not exists (select from allowed_grants a where a.grant_id = grants.id) as "isUnbound",
    array(select b.key from consumption_balances b where b.grant_id = grants.id order by b.key) as budgets
  from grants where withheld_by is not null and revocation_recorded_at is null and id > $1 order by id limit $2`;

const isToWithhold = 'revocation_recorded_at is null and withheld_by is distinct from $1';

// Found by their ids: right after a restore the statistics do not show how many Grants are withheld.
const inPage = 'id = any (array(select id from page))';

const withholdSql = `
  with page as (select id from grants where id > $2 order by id limit $3),
    withheld as (update grants set withheld_by = $1 where ${inPage} and ${isToWithhold})
  select count(*) as looked, max(id) as "lastId" from page`;

// Locked by ascending ids, as revocations lock them.
const releaseSql = (isMeant: string): string => `
  with page as (
      select id from grants where ${isMeant} and id > $1 order by id limit $2 for no key update
    ),
    released as (
      update grants set withheld_by = null where ${inPage} and withheld_by is not null returning id, principal
    )
  select count(*) as looked, max(id) as "lastId", 
    (select coalesce(json_agg(json_build_object('id', r.id, 'orgId', p.org_id) order by r.id), '[]')
      from released r left join principals p on p.did = r.principal) as released
  from page`;

const releaseStatement = (which: ReleasedGrants, ...page: [afterId: string, limit: number]): Statement => {
  if ('grantIds' in which)
    return { text: releaseSql('id = any ($3::text[])'), values: [...page, which.grantIds] };
  if ('principal' in which) return { text: releaseSql('principal = $3'), values: [...page, which.principal] };
  return { text: releaseSql('withheld_by is not null'), values: page };
};

export function withheldGrantRepository(database: Database): WithheldGrantRepository {
  return {
    async withhold(epoch, afterId, limit) {
      const [page] = await database.write<GrantPage>({ text: withholdSql, values: [epoch, afterId, limit] });
      return page ?? NO_GRANT;
    },
    async withholdRest(epoch) {
      await database.write({
        text: `update grants set withheld_by = $1 where ${isToWithhold}`,
        values: [epoch],
      });
    },
    list: (afterId, limit) =>
      database.read<WithheldGrant>({ text: listWithheldSql, values: [afterId, limit] }),
    async release(which, afterId, limit) {
      const statement = releaseStatement(which, afterId, limit);
      const [page] = await database.write<GrantPage & { released: ReleasedGrant[] }>(statement);
      return page ?? { ...NO_GRANT, released: [] };
    },
  };
}

const NO_GRANT: GrantPage = { looked: 0, lastId: null };
