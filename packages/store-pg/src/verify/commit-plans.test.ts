import { withStores } from '@svc/testkit/store/open-store';
import { runSql, withSession } from '@svc/testkit/store/session';
import { allowCommit, createWorld, insertGrant } from '@svc/testkit/store/world';
import { expect, it } from 'vitest';
import { commitStatement } from './commit-parameters.ts';

const stores = withStores();

const fetchedSql = `
  select relname as name, idx_tup_fetch::int as rows from pg_stat_xact_user_tables
  where relname in ('api_keys', 'grants', 'principals', 'relying_parties')`;

it('a decision reads one row of each table that it is held against, however many the table has', async () => {
  const worlds = await Promise.all(Array.from({ length: 6 }, () => createWorld(stores.first)));
  const [world] = worlds;
  if (world === undefined) throw new Error('no world');
  const grants = await Promise.all(Array.from({ length: 60 }, () => insertGrant(world)));
  const [grant] = grants;
  if (grant === undefined) throw new Error('no Grant');
  await runSql(stores.url, 'analyze');
  await withSession(stores.url, async (session) => {
    await session.query('begin');
    const { text, values } = commitStatement([allowCommit(world, grant, { bindsGrantHash: null })]);
    expect((await session.query(text, [...values])).rows).toEqual([{ outcomes: ['STORED'] }]);
    const { rows } = await session.query<{ name: string; rows: number }>(fetchedSql);
    expect(Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]))).toEqual({
      ...{ api_keys: 1, grants: 1, principals: 1, relying_parties: 1 },
    });
    await session.query('rollback');
  });
});
