import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { createWorld, denyCommit } from '@svc/testkit/store/world';
import { expect, it } from 'vitest';

const stores = withStores();

it('a closed day takes no more receipts', async () => {
  const world = await createWorld(stores.first);
  expect(await stores.first.verify.commitDecisions([denyCommit(world)])).toEqual(['STORED']);
  await runSql(
    stores.url,
    `insert into closed_days (day)
     select (clock_timestamp() at time zone 'UTC')::date + shift from generate_series(-1, 1) as shift`,
  );
  expect(await stores.first.verify.commitDecisions([denyCommit(world)])).toEqual(['STALE']);
});
