import { applyConsumption, emptyBalances } from '@svc/protocol';
import type { DecisionCommit, GrantRecord } from '@svc/service';
import { budgetCommit, usesOf } from '@svc/testkit/store/budgets';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql, withSession } from '@svc/testkit/store/session';
import { allowCommit, createWorld, insertGrant, newJti, type World } from '@svc/testkit/store/world';
import { beforeAll, expect, it } from 'vitest';
import { commitStatement } from './commit-parameters.ts';

const stores = withStores();
let world: World;
let grants: readonly [GrantRecord, ...GrantRecord[]];

const GRANTS = 60;

beforeAll(async () => {
  const worlds = await Promise.all(Array.from({ length: 6 }, () => createWorld(stores.first)));
  world = worlds[0] as World;
  grants = (await Promise.all(Array.from({ length: GRANTS }, () => insertGrant(world)))) as never;
  await runSql(
    stores.url,
    `insert into allowed_grants (grant_id, grant_hash) select 'urn:svc:grant:' || n, 'sha256:' || n from generate_series(1, 20) as n`,
  );
  await runSql(
    stores.url,
    `insert into spent_proofs (grant_id, jti, expires_at) select 'urn:svc:grant:' || n, 'j' || n, now() from generate_series(1, 20) as n`,
  );
  await runSql(stores.url, 'analyze');
});

/** Rows of each table that the commit reads in the first call of a session, which makes the plans. */
const fetchedBy = (
  decisions: readonly DecisionCommit[],
  outcomes: readonly string[],
  tables: readonly string[],
) =>
  withSession(stores.url, async (session) => {
    await session.query('begin');
    const { text, values } = commitStatement(decisions);
    expect((await session.query(text, [...values])).rows).toEqual([{ outcomes }]);
    const { rows } = await session.query<{ name: string; rows: number }>(
      `select relname as name, idx_tup_fetch::int as rows from pg_stat_xact_user_tables where relname = any ($1)`,
      [tables],
    );
    await session.query('rollback');
    return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]));
  });

it('a decision reads one row of each table that it is checked against, however large the table is', async () => {
  const fetched = await fetchedBy(
    [allowCommit(world, grants[0], { bindsGrantHash: null })],
    ['STORED'],
    ['api_keys', 'grants', 'principals', 'relying_parties'],
  );
  expect(fetched).toEqual({ api_keys: 1, grants: 1, principals: 1, relying_parties: 1 });
});

it('a decision that binds its Grant reads only the binding of that Grant', async () => {
  const fetched = await fetchedBy([allowCommit(world, grants[0])], ['STORED'], ['allowed_grants']);
  expect(fetched).toEqual({ allowed_grants: 1 });
});

it('a budget chain that breaks reads only its own Proofs', async () => {
  const [, grant] = grants as unknown as [GrantRecord, GrantRecord];
  const jti = newJti();
  const spend = { grantId: grant.id, jti, expiresAtMs: Date.now() + 300_000 };
  let balances = emptyBalances(grant.id);
  const chain = [jti, jti, newJti()].map((of) => {
    const one = budgetCommit(
      world,
      grant,
      balances,
      { budget: usesOf(100) },
      { spend: { ...spend, jti: of } },
    );
    if (one.budget?.consumption) balances = applyConsumption(balances, one.budget.consumption);
    return one;
  });
  const fetched = await fetchedBy(chain, ['STORED', 'REPLAY', 'OVERTAKEN'], ['spent_proofs']);
  expect(fetched).toEqual({ spent_proofs: 3 });
});
