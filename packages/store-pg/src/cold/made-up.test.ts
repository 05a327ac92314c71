/**
 * Records of a cold day are verified, not trusted: an attacker who can write only to the database causes neither a loss
 * nor a wrong answer.
 */
import { createHash } from 'node:crypto';
import { dropDays, type PackDaysDeps, packDays } from '@svc/cold-ledger';
import type { ReceiptId } from '@svc/protocol';
import type { ObjectStore, Store } from '@svc/service';
import { tamper } from '@svc/testkit';
import {
  bringBack,
  coldPlaceOf,
  createColdWorld,
  DUE,
  packingOf,
  type Receipt,
} from '@svc/testkit/store/cold-world';
import { withObjectFolders } from '@svc/testkit/store/object-folders';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createStore } from '../create-store.ts';
import { unpackDay } from './unpack-day.ts';

const stores = withStores();
const openFolder = withObjectFolders();
const [day = ''] = DUE;
const never = new AbortController().signal;
let objects: ObjectStore;
let reading: Store;
let old: Receipt;
beforeAll(async () => {
  const world = await createColdWorld(stores.url, stores.first);
  objects = await openFolder();
  const patient = { connectMs: 20_000, waitMs: 20_000, readMs: 20_000, ledgerReadMs: 20_000 };
  reading = createStore({ databaseUrl: stores.url, cold: coldPlaceOf(objects), deadlines: patient });
  const found = world.find(({ at }) => new Date(at).toISOString().startsWith(day));
  if (found === undefined) throw new Error(`no Receipt on ${day}`);
  old = found;
});
beforeEach(() => bringBack(stores.url));
afterAll(async () => {
  await reading.close();
});

const packing = (change: Partial<PackDaysDeps> = {}) => ({
  ...packingOf(stores.url, stores.first, objects),
  ...change,
});
const hashOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** Replaces the signed manifest by one with changed parts, as if it had been recorded and the day had left. */
const recordInstead = async (change: (manifest: string) => string): Promise<void> => {
  const [row] = await runSql<{ manifest: string }>(
    stores.url,
    'select manifest from cold_days where day = $1',
    [day],
  );
  const manifest = change(row?.manifest ?? '');
  await tamper(stores.url, 'update cold_days set manifest = $1, manifest_hash = $2 where day = $3', [
    manifest,
    hashOf(manifest),
    day,
  ]);
};

const kept = () =>
  runSql(stores.url, `select count(*)::integer as rows from detached_receipts_${day.replaceAll('-', '')}`);

/** Ends the grace period of the day, and lets the owner remove what is over. */
const drop = async (change: Partial<PackDaysDeps> = {}) => {
  await tamper(
    stores.url,
    `update cold_days set detached_at = now() - interval '2 days' where day = '${day}'`,
  );
  return dropDays(packing(change), never);
};

const NOT_BELIEVED = { kind: 'unavailable', message: expect.stringContaining('is not believed') };
const list = () => reading.decisions.list({ relyingParties: null }, 500);

it.each([
  [
    'without a valid signature',
    (manifest: string) => {
      const [header, payload = '', signature] = manifest.split('.');
      const day = JSON.parse(Buffer.from(payload, 'base64url').toString());
      const empty = { ...day, iat: day.iat + 1 };
      return `${header}.${Buffer.from(JSON.stringify(empty)).toString('base64url')}.${signature}`;
    },
  ],
  ['that is not a JWS', () => 'made up'],
])(
  'a recorded manifest %s makes its day unavailable, not empty; the day is not dropped, and can be unpacked',
  async (_, change) => {
    await packDays(packing(), never);
    const before = await list();
    const whole = await kept();
    await recordInstead(change);
    for (const ask of [() => reading.receipts.find(old.id as ReceiptId), list])
      await expect(ask()).rejects.toMatchObject(NOT_BELIEVED);
    expect(await drop()).toEqual({ dropped: 0, locked: null, notProven: [day] });
    expect(await stores.first.coldDays.listBroken()).toEqual([
      { day, problem: expect.stringMatching(/manifest/) },
    ]);
    expect(await kept()).toEqual(whole);
    const open = () => {
      throw new Error('it is kept');
    };
    expect(await unpackDay({ databaseUrl: stores.url, day, open })).toBe('kept');
    expect((await reading.receipts.find(old.id as ReceiptId))?.jws).toBe(old.jws);
    expect(await list()).toEqual(before);
  },
);

it('a signed manifest of another day, recorded for this day, makes the day unavailable', async () => {
  await packDays(packing(), never);
  await list();
  const [other] = await runSql<{ manifest: string }>(
    stores.url,
    'select manifest from cold_days where day = $1',
    [DUE[2]],
  );
  await tamper(stores.url, 'delete from cold_days where day = $1', [DUE[2]]);
  await recordInstead(() => other?.manifest ?? '');
  await expect(reading.receipts.find(old.id as ReceiptId)).rejects.toMatchObject(NOT_BELIEVED);
});

it('a packed day whose columns differ from the detached rows is not dropped, although its Receipts are as published', async () => {
  const { readDayRows } = packing();
  const lying: PackDaysDeps['readDayRows'] = (of, work, from) =>
    readDayRows(
      of,
      (rows) =>
        work({
          ...rows,
          async *receipts() {
            for await (const batch of rows.receipts())
              yield batch.map((row) => (row.receipt_id === old.id ? { ...row, key_id: 'other' } : row));
          },
        }),
      from,
    );
  await packDays(packing({ readDayRows: lying }), never);
  const whole = await kept();
  expect(await drop()).toEqual({ dropped: 0, locked: null, notProven: [day] });
  const [broken] = await stores.first.coldDays.listBroken();
  expect(broken).toEqual({ day, problem: expect.stringContaining('differ from what is kept in receipts') });
  expect(await kept()).toEqual(whole);
});

it('a day without a fault is dropped, and its Receipts stay readable', async () => {
  await packDays(packing(), never);
  expect(await drop()).toEqual({ dropped: 1, locked: null, notProven: [] });
  expect((await reading.receipts.find(old.id as ReceiptId))?.jws).toBe(old.jws);
});
