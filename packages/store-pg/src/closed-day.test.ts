import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { allowCommit, createWorld, denyCommit, insertGrant } from '@svc/testkit/store/world';
import { expect, it } from 'vitest';

const stores = withStores();

it('a decision is stored although no partition of an earlier day exists', async () => {
  const world = await createWorld(stores.first);
  await runSql(
    stores.url,
    `do $$
     declare v_name text;
     begin
       for v_name in select relname from pg_class where relname ~ '^receipts_\\d{8}$' and relkind = 'r'
         and relname < to_char(svc_now() at time zone 'UTC', '"receipts_"YYYYMMDD') loop
         execute format('alter table receipts detach partition %I', v_name);
         execute format('drop table %I', v_name);
       end loop;
     end $$`,
  );
  const commit = allowCommit(world, await insertGrant(world));
  expect(await stores.first.verify.commitDecisions([commit, denyCommit(world)])).toEqual([
    'STORED',
    'STORED',
  ]);
});

it('a commit into a closed day is STALE', async () => {
  const world = await createWorld(stores.first);
  expect(await stores.first.verify.commitDecisions([denyCommit(world)])).toEqual(['STORED']);
  await runSql(
    stores.url,
    `insert into closed_days (day)
     select (clock_timestamp() at time zone 'UTC')::date + shift from generate_series(-1, 1) as shift`,
  );
  expect(await stores.first.verify.commitDecisions([denyCommit(world)])).toEqual(['STALE']);
});
