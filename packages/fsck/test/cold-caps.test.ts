/** Caps that began within a day that is read from its objects. */
import { packDays } from '@svc/cold-ledger';
import type { ObjectStore } from '@svc/service';
import { tamper } from '@svc/testkit';
import { createColdWorld, DUE, packingOf, RPS, recordKeys } from '@svc/testkit/store/cold-world';
import { withObjectFolders } from '@svc/testkit/store/object-folders';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { insertOrg } from '@svc/testkit/store/world';
import { beforeAll, expect, it } from 'vitest';
import { findFaults } from './find-faults.ts';

const stores = withStores();
const openFolder = withObjectFolders();
const [day = ''] = DUE;
const LEDGER = `detached_receipts_${day.replaceAll('-', '')}`;
let objects: ObjectStore;
let orgId: string;
/**
 * The middle one of the org's production checks in that day: its time, and the number of checks from it on, in all
 * days.
 */
let middle: { at: string; behind: string; checks: number; checksBehind: number };

const faultsOf = async (place?: ObjectStore): Promise<string[]> => {
  const { faults } = await findFaults(stores.url, place);
  return faults.filter(({ where }) => where === orgId).map(({ check, problem }) => `${check}: ${problem}`);
};

const beginCap = (since: string, checks: number) =>
  tamper(
    stores.url,
    `insert into entitlements (org_id, production, reason, as_of, check_cap, cap_since, checks_since_cap)
     values ($1, 'allowed', 'paid', now(), 1000, $2, $3)
     on conflict (org_id) do update set cap_since = excluded.cap_since, checks_since_cap = excluded.checks_since_cap`,
    [orgId, since, checks],
  );

beforeAll(async () => {
  await createColdWorld(stores.url, stores.first);
  objects = await openFolder();
  await recordKeys(stores.url);
  orgId = await insertOrg(stores.first);
  for (const did of RPS.slice(0, 2))
    await stores.first.relyingParties.insert({
      ...{ did, kind: 'hosted', slug: null, name: 'Shop', proofWindowSeconds: 120 },
      ...{ verifyRateLimitPerMinute: 600, profile: 'svc-base-v1', orgId: orgId as never },
    });
  const [found] = await runSql<typeof middle>(
    stores.url,
    `with checks as (
       select evaluated_at as at, count(*) over (order by evaluated_at desc)::integer as checks from receipts
       where production_check and relying_party = any ($1)
     ), middle as (
       select * from checks where (at at time zone 'UTC')::date = $2 order by at offset 5 limit 1
     )
     select at::text, (at + interval '1 microsecond')::text as behind, checks, checks - 1 as "checksBehind" from middle`,
    [RPS.slice(0, 2), day],
  );
  middle = found ?? expect.unreachable('the day has too few checks');
  await packDays(packingOf(stores.url, stores.first, objects), new AbortController().signal);
  expect((await runSql(stores.url, `select from ${LEDGER}`)).length).toBe(30);
});

it('fsck counts the checks of a cold day against a cap from the microsecond in which the cap began', async () => {
  await beginCap(middle.at, middle.checks);
  expect(await faultsOf(objects)).toEqual([]);
  await beginCap(middle.behind, middle.checksBehind);
  expect(await faultsOf(objects)).toEqual([]);
  expect(middle.checksBehind).toBeGreaterThan(10);
});

it('fsck finds a count that lacks a check, and a count with one too many', async () => {
  for (const [counted, checks] of [
    [middle.checks - 1, middle.checks],
    [middle.checks + 1, middle.checks],
  ] as const) {
    await beginCap(middle.at, counted);
    expect(await faultsOf(objects)).toEqual([`cold-days: ${counted} are counted, and there are ${checks}`]);
  }
});

it('fsck finds a count of an org without relying parties', async () => {
  await beginCap(middle.at, 1);
  await tamper(stores.url, 'update relying_parties set org_id = null');
  const found = await faultsOf(objects);
  await tamper(stores.url, 'update relying_parties set org_id = $1', [orgId]);
  expect(found).toEqual(['cold-days: 1 are counted, and there are 0']);
});

it('fsck checks a cap that began within a cold day only with the objects, and other caps without them', async () => {
  await beginCap(middle.at, middle.checks - 1);
  expect(await faultsOf()).toEqual([]);
  await beginCap(`${day}T00:00:00Z`, 1);
  expect(await faultsOf()).toEqual([expect.stringMatching(/^caps: 1 are counted, and there are \d\d$/)]);
});
