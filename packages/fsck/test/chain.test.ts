/** The chain of closed days, also where the service has had another DID. */
import { closeDays } from '@svc/service';
import { daysAgo, moveFirstDay, tamper } from '@svc/testkit';
import { identity, recordKeys, renamed, serviceOf } from '@svc/testkit/store/cold-world';
import { withStores } from '@svc/testkit/store/open-store';
import { expect, it } from 'vitest';
import { findFaults } from './find-faults.ts';

const stores = withStores();

const FIRST_DAY = 7;
/** The last day that is closed under the former DID. */
const LAST_OF_FORMER = 4;

it('accepts a change of the DID between two days, and names each day that does not follow from the one before', async () => {
  await moveFirstDay(stores.url, daysAgo(FIRST_DAY));
  await recordKeys(stores.url, identity);
  await recordKeys(stores.url, renamed);
  const named = [identity, renamed].map(({ did }) => did);
  await tamper(stores.url, 'insert into service_dids (number, did) values (1, $1), (2, $2)', named);
  const deps = serviceOf(stores.first);
  const clock = { ...deps.clock, nowMs: () => Date.parse(daysAgo(LAST_OF_FORMER - 1)) + 60_000 };
  expect((await closeDays({ ...deps, clock })).closed.at(-1)).toBe(daysAgo(LAST_OF_FORMER));
  expect((await closeDays({ ...deps, identity: renamed })).closed[0]).toBe(daysAgo(LAST_OF_FORMER - 1));
  expect((await findFaults(stores.url)).faults).toEqual([]);

  const missing = [FIRST_DAY - 1, LAST_OF_FORMER];
  await tamper(stores.url, 'delete from checkpoints where day = any($1)', [missing.map(daysAgo)]);
  const { faults } = await findFaults(stores.url);
  expect(faults.filter(({ check }) => check === 'chain')).toEqual(
    missing.map((ago) => ({
      ...{ check: 'chain', where: daysAgo(ago - 1) },
      problem: `day must be ${daysAgo(ago)}, and is ${daysAgo(ago - 1)}`,
    })),
  );
});
