/** A repair of the clock after days were packed that are not over; here `today` is a day of the past. */
import { ColdDayReader, dropDays, packDays, parseColdDay } from '@svc/cold-ledger';
import { checkContent, closeDays, type ObjectStore } from '@svc/service';
import { tamper } from '@svc/testkit';
import { bringBack, createColdWorld, DAYS, DUE, packingOf, serviceOf } from '@svc/testkit/store/cold-world';
import { withObjectFolders } from '@svc/testkit/store/object-folders';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { unpackDay } from './unpack-day.ts';

const stores = withStores();
const openFolder = withObjectFolders();

const [first = '', today = '', last = ''] = DUE;
const never = new AbortController().signal;
let objects: ObjectStore;
let hot: unknown[];
beforeAll(async () => {
  await createColdWorld(stores.url, stores.first);
  objects = await openFolder();
  hot = await ledger();
});
const packing = () => packingOf(stores.url, stores.first, objects);
beforeEach(async () => {
  await bringBack(stores.url);
  // A day that is closed twice within one second has the same checkpoint, which cannot be retracted twice. A real
  // repair is never as quick as this test.
  await tamper(stores.url, 'delete from retracted_checkpoints');
  await closeDays(serviceOf(stores.first), never);
  await checkContent(serviceOf(stores.first), never);
  await packDays(packing(), never);
});

/** Every column of every Receipt from `today` on. */
const ledger = () =>
  runSql(stores.url, 'select * from receipts where evaluated_at >= $1::date order by receipt_id', [today]);
const packed = () =>
  runSql<{ day: string; state: string }>(
    stores.url,
    'select day::text as day, state from cold_days order by day',
  );
const reopen = async () =>
  (await runSql<{ days: number }>(stores.url, 'select svc_reopen_days($1) as days', [today]))[0]?.days;

/** Replaces the manifest, as clearing a day's action fields does. */
const replaceManifest = (day: string) =>
  runSql(
    stores.url,
    'insert into cold_manifests (manifest_hash, day, manifest, recorded_at) select of::text, of, of::text, now() from (select $1::date as of) as d',
    [day],
  );

it('svc_reopen_days restores packed and broken days to the byte, and keeps finished days cold', async () => {
  const [broken = ''] = DAYS.slice(DUE.length);
  await runSql(stores.url, `insert into cold_days (day, state, problem) values ($1, 'broken', 'its tree')`, [
    broken,
  ]);
  for (const day of [first, last]) await replaceManifest(day);
  // The worker has created an empty partition for the day meanwhile.
  await runSql(stores.url, 'select svc_ensure_receipt_partitions($1, $1)', [last]);
  expect(await reopen()).toBe(DAYS.length - 1);
  expect(await packed()).toEqual([{ day: first, state: 'cold' }]);
  expect(await ledger()).toEqual(hot);
  for (const table of ['cold_days', 'cold_manifests'])
    await expect(runSql(stores.url, `delete from ${table}`)).rejects.toThrow(/append-only/);
});

it('svc_reopen_days changes nothing if a day was dropped, and names the svc-admin command that brings it back', async () => {
  await tamper(stores.url, `update cold_days set detached_at = now() - interval '2 days' where day = $1`, [
    last,
  ]);
  await dropDays(packing(), never);
  const before = await packed();
  await expect(reopen()).rejects.toThrow(`svc-admin ledger unpack ${last}, then repair the clock`);
  expect(await packed()).toEqual(before);
  const open = (manifest: string) => new ColdDayReader(objects, parseColdDay(manifest));
  await unpackDay({ databaseUrl: stores.url, day: last, open });
  expect(await reopen()).toBe(DAYS.length - 1);
  expect(await ledger()).toEqual(hot);
});
