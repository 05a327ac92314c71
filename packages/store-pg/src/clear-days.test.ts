import {
  ColdDayReader,
  clearDays,
  type DayWork,
  dayWork,
  manifestFolder,
  manifestName,
  manifestReader,
  type PackDaysDeps,
  packDays,
  packNamedDay,
  parseColdDay,
} from '@svc/cold-ledger';
import { objectName, openObjects } from '@svc/object-store';
import type { ReceiptId, Sha256 } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import {
  clearOldActions,
  listLeaves,
  type ObjectStore,
  ObjectStoreError,
  type ServiceIdentity,
  type Store,
  StoreError,
} from '@svc/service';
import { tamper } from '@svc/testkit';
import { BEHAVIOURS, startS3Server } from '@svc/testkit/s3-server';
import { isDeep, sampled, sampleOf } from '@svc/testkit/sampled';
import {
  bringBack,
  coldPlaceOf,
  createColdWorld,
  DUE,
  packingOf,
  type Receipt,
  renamed,
  serviceOf,
  withPackedDays,
} from '@svc/testkit/store/cold-world';
import { withObjectFolders } from '@svc/testkit/store/object-folders';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Killed, through } from '../test/killed-packer.ts';
import { readDayRows } from './cold/day-rows.ts';
import { unpackDay } from './cold/unpack-day.ts';
import { createStore } from './create-store.ts';

const stores = withStores();
/** Opens an empty folder. */
const openFolder = withObjectFolders();

const never = new AbortController().signal;
/** The nodes' clock, seven years and a day from now. */
const later = { nowMs: () => Date.now() + 7 * 366 * 86_400_000, resync: async () => {} };
const packingClock = later as unknown as PackDaysDeps['clock'];
const packingIn = (objects: ObjectStore, store = stores.first): PackDaysDeps => ({
  ...packingOf(stores.url, store, objects),
  clock: packingClock,
});
const packed = withPackedDays(stores, openFolder, packingClock);
const round = (objects: ObjectStore, store = stores.first) => packDays(packingIn(objects, store), never);

/** Makes days that ended three days ago seven years old by the database's clock. */
const becomeOld = (isOld: boolean) =>
  runSql(
    stores.url,
    `create or replace function svc_actions_kept_since() returns timestamptz language sql volatile as
     $$ select clock_timestamp() - interval '${isOld ? '3 days' : '7 years'}' $$`,
  );

/** Makes failed days due for another try. */
const retry = () =>
  tamper(
    stores.url,
    `update cold_days set again_at = now() - interval '1 second' where again_at is not null`,
  );

const [, , busy = ''] = DUE;
const withReceipts = DUE.filter((day) => day !== DUE[1]);
const ACTION = ['action_type', 'amount', 'currency', 'resource', 'method'] as const;
let world: readonly Receipt[];
beforeAll(async () => {
  world = await createColdWorld(stores.url, stores.first);
  await tamper(stores.url, 'create table whole as select * from receipts');
});
beforeEach(async () => {
  await becomeOld(false);
  await bringBack(stores.url);
  await tamper(
    stores.url,
    `update receipts as r set (${ACTION}) = (select ${ACTION.map((name) => `w.${name}`)} from whole as w where w.receipt_id = r.receipt_id);
     update retention set actions_cleared_before = ''`,
  );
}, 60_000);

interface Row {
  readonly day: string;
  readonly state: string;
  readonly manifest: string;
  readonly manifestHash: string;
  readonly isCleared: boolean;
}
const recorded = () =>
  runSql<Row>(
    stores.url,
    `select day::text, state, manifest, manifest_hash as "manifestHash", cleared_at is not null as "isCleared"
     from cold_days order by cold_days.day`,
  );
const rowOf = async (day: string): Promise<Row> => {
  const row = (await recorded()).find((one) => one.day === day);
  if (row === undefined) throw new Error(`nothing is recorded of ${day}`);
  return row;
};

const published = (day: string) =>
  world
    .filter(({ at }) => new Date(at).toISOString().startsWith(day))
    .map(({ id, jws }) => `${id} ${jws}`)
    .sort();

/**
 * Checks that the objects of each packed day hold every Receipt to the byte. Answers the days that have their action
 * fields; a day has all or none.
 */
const readWhole = async (objects: ObjectStore): Promise<readonly string[]> => {
  const uncleared: string[] = [];
  for (const { day, manifest, isCleared } of await recorded()) {
    const rows: string[] = [];
    const fields = new Set<boolean>();
    for await (const receipts of new ColdDayReader(objects, parseColdDay(manifest)).receipts())
      for (const receipt of receipts) {
        rows.push(`${receipt.receipt_id} ${receipt.jws}`);
        const was = world.find(({ id }) => id === receipt.receipt_id);
        if (was?.action != null) fields.add(receipt.action_type !== null || receipt.amount !== null);
      }
    expect(rows, day).toEqual(published(day));
    expect(fields.size, day).toBeLessThan(2);
    if (fields.has(true)) uncleared.push(day);
    if (isCleared) expect(fields.has(true), day).toBe(false);
  }
  return uncleared;
};

const countFields = async (table: string) =>
  (
    await runSql<{ count: number }>(
      stores.url,
      `select count(*)::integer as count from ${table} where num_nonnulls(${ACTION}) > 0`,
    )
  )[0]?.count;
const keptOf = (day: string) => `detached_receipts_${day.replaceAll('-', '')}`;

/** Ends the grace periods of replaced manifests and of detached days. */
const endGrace = () =>
  tamper(
    stores.url,
    `update cold_manifests set replaced_at = now() - interval '2 days' where purged_at is null;
     update cold_days set detached_at = now() - interval '2 days' where state = 'cold' and dropped_at is null`,
  );

const namesOf = (manifest: string) =>
  Object.values(parseColdDay(manifest).tables)
    .flat()
    .map(({ name }) => name);
const areThere = async (objects: ObjectStore, names: readonly string[]) =>
  Promise.all(names.map(async (name) => (await objects.head(name)) !== null));

it('a packed day is cleared after seven years in objects and detached table; Receipts stay, old objects are deleted', async () => {
  const objects = await packed();
  expect(await readWhole(objects)).toEqual(withReceipts);
  const before = await recorded();
  // The database's clock decides, not the node's.
  expect(await round(objects)).toMatchObject({ cleared: 0 });
  await becomeOld(true);
  expect(await round(objects)).toMatchObject({ cleared: withReceipts.length, deleted: 0, detached: 0 });
  expect(await readWhole(objects)).toEqual([]);
  for (const day of withReceipts) expect(await countFields(keptOf(day))).toBe(0);
  for (const [i, { day, manifest, manifestHash }] of (await recorded()).entries()) {
    const [former, now] = [before[i]?.manifest ?? '', manifest].map(parseColdDay);
    expect(now, day).toMatchObject(
      day === DUE[1]
        ? { replaces: null }
        : { replaces: before[i]?.manifestHash, content_root: former?.content_root },
    );
    expect(now?.tables.attestations).toEqual(former?.tables.attestations);
    if (day !== DUE[1]) expect(manifestHash).not.toBe(before[i]?.manifestHash);
  }
  expect(await round(objects)).toMatchObject({ cleared: 0, deleted: 0, dropped: 0 });

  const receiptsOf = (rows: readonly Row[]) =>
    rows.flatMap(({ manifest }) => parseColdDay(manifest).tables.receipts.map(({ name }) => name));
  const former = receiptsOf(before);
  expect(await areThere(objects, former)).toEqual(former.map(() => true));
  await endGrace();
  // The kept rows are compared with the objects, column by column, and removed.
  expect(await round(objects)).toMatchObject({ deleted: former.length, dropped: DUE.length });
  expect(await areThere(objects, former)).toEqual(former.map(() => false));
  const named = (await recorded()).flatMap(({ manifest }) => namesOf(manifest));
  expect(await areThere(objects, named)).toEqual(named.map(() => true));
  expect(await readWhole(objects)).toEqual([]);
  expect(await round(objects)).toMatchObject({ cleared: 0, deleted: 0, dropped: 0 });
  for (const day of withReceipts)
    expect(
      await unpackDay({
        databaseUrl: stores.url,
        day,
        open: (manifest) => new ColdDayReader(objects, parseColdDay(manifest)),
      }),
    ).toBe('objects');
  await bringBackFromLedger();
}, 120_000);

/**
 * For days that were dropped and unpacked, so that their rows are in the ledger again: deletes what is recorded of
 * them.
 */
const bringBackFromLedger = () => tamper(stores.url, 'truncate cold_manifests; delete from cold_days');

it('clearing a packed day gives the same objects as packing a cleared day', async () => {
  const [one, other] = [await packed(), await openFolder()];
  await becomeOld(true);
  await round(one);
  const cleared = (await recorded()).map(({ manifest }) => parseColdDay(manifest).tables);
  await bringBack(stores.url);
  await clearOldActions({ store: stores.first, clock: later as never }, never);
  await round(other);
  expect((await recorded()).map(({ manifest }) => parseColdDay(manifest).tables)).toEqual(cleared);
  // There was nothing to clear, so no manifest was replaced.
  expect(await runSql(stores.url, 'select from cold_manifests')).toEqual([]);
  expect((await recorded()).map(({ isCleared }) => isCleared)).toEqual(DUE.map((day) => day !== DUE[1]));
});

it('two workers at once add one manifest per day, and every object that it names exists', async () => {
  const objects = await packed();
  await becomeOld(true);
  await Promise.all([round(objects), round(objects, stores.second)]);
  expect(await readWhole(objects)).toEqual([]);
  expect(await runSql(stores.url, 'select day::text from cold_manifests order by day')).toEqual(
    withReceipts.map((day) => ({ day })),
  );
});

it('unpacking an old day brings back cleared rows, like those of the ledger', async () => {
  const objects = await packed();
  await becomeOld(true);
  const open = (manifest: string) => new ColdDayReader(objects, parseColdDay(manifest));
  expect(await unpackDay({ databaseUrl: stores.url, day: busy, open })).toBe('kept');
  expect(await countFields(`receipts_${busy.replaceAll('-', '')}`)).toBe(0);
});

describe('a day that was brought back before it was old', () => {
  let objects: ObjectStore;
  const unpack = (day: string) =>
    unpackDay({
      ...{ databaseUrl: stores.url, day },
      open: (manifest) => new ColdDayReader(objects, parseColdDay(manifest)),
    });
  beforeEach(async () => {
    objects = await packed();
    expect(await unpack(busy)).toBe('kept');
  });

  it('is cleared in its objects and in the ledger, and its replaced objects are deleted after the grace period', async () => {
    const former = parseColdDay((await rowOf(busy)).manifest).tables.receipts.map(({ name }) => name);
    await becomeOld(true);
    expect(await round(objects)).toMatchObject({ cleared: withReceipts.length });
    expect(await readWhole(objects)).toEqual([]);
    expect(await rowOf(busy)).toMatchObject({ state: 'unpacked', isCleared: true });
    const table = `receipts_${busy.replaceAll('-', '')}`;
    expect(await countFields(table)).toBe(0);
    expect(await runSql(stores.url, `select from ${table}`)).toHaveLength(published(busy).length);
    expect(await round(objects)).toMatchObject({ cleared: 0 });
    expect(await areThere(objects, former)).toEqual(former.map(() => true));
    await endGrace();
    await round(objects);
    expect(await areThere(objects, former)).toEqual(former.map(() => false));
    expect((await recorded()).find(({ day }) => day === busy)).toMatchObject({ state: 'unpacked' });
    expect(await packNamedDay(packingIn(objects), busy, never)).toBe('packed');
    await round(objects);
    expect(await rowOf(busy)).toMatchObject({ state: 'cold', isCleared: true });
    expect(await readWhole(objects)).toEqual([]);
    await unpack(DUE[0] ?? '');
    await unpack(DUE[1] ?? '');
    expect(await unpack(busy)).toBe('kept');
    await bringBackFromLedger();
  });

  it('is cleared again if a packer that read it before the clearing records its manifest afterwards', async () => {
    const slow = packingIn(objects);
    const work = dayWork(slow);
    const overtaken: DayWork = {
      ...work,
      pack: async (day, stop) => {
        const packed = await work.pack(day, stop);
        await becomeOld(true);
        await round(objects);
        expect(await rowOf(busy)).toMatchObject({ state: 'unpacked', isCleared: true });
        return packed;
      },
    };
    expect(await packNamedDay({ ...slow, work: overtaken }, busy, never)).toBe('packed');
    expect(await readWhole(objects)).toEqual([busy]);
    await round(objects);
    expect(await readWhole(objects)).toEqual([]);
    expect((await rowOf(busy)).isCleared).toBe(true);
  });
});

it('an object named only by a former manifest without a valid signature is not deleted', async () => {
  const objects = await packed();
  const { manifest, manifestHash } = await rowOf(busy);
  const own = `${busy}/manifests/${manifestHash.slice('sha256:'.length)}.jws`;
  const [header = '', payload = '', signature = ''] = manifest.split('.');
  const day = JSON.parse(Buffer.from(payload, 'base64url').toString());
  day.tables.receipts[0].name = own;
  const madeUp = [header, Buffer.from(JSON.stringify(day)).toString('base64url'), signature].join('.');
  await tamper(
    stores.url,
    `insert into cold_manifests (manifest_hash, day, manifest, recorded_at, replaced_at)
     values ('made up', $1, $2, now(), now() - interval '2 days')`,
    [busy, madeUp],
  );
  expect(await areThere(objects, [own])).toEqual([true]);
  expect(await round(objects)).toMatchObject({ deleted: 0 });
  expect(await areThere(objects, [own])).toEqual([true]);
  expect(await runSql(stores.url, 'select from cold_manifests where purged_at is null')).toEqual([]);
});

it('a packed day whose Receipts do not lead to its published content root is not cleared', async () => {
  const objects = await packed();
  const [checkpoint] = await runSql<{ root: string }>(
    stores.url,
    'select content_root as root from checkpoints where day = $1',
    [busy],
  );
  const publish = (root = '') =>
    tamper(stores.url, `update checkpoints set content_root = '${root}' where day = '${busy}'`);
  const other = `sha256:${'0'.repeat(64)}`;
  await publish(other);
  await becomeOld(true);
  await round(objects).catch((error: unknown) => expect(error).toMatchObject({ name: 'NotProvenError' }));
  expect(await rowOf(busy)).toMatchObject({ isCleared: false });
  const broken = (await stores.first.coldDays.listBroken()).find(({ day }) => day === busy);
  expect(broken?.problem).toContain(`and its content root is ${other}`);
  await publish(checkpoint?.root);
  await retry();
  await round(objects);
  expect(await rowOf(busy)).toMatchObject({ isCleared: true });
});

it('an object named by a signed manifest that this database does not know is not deleted', async () => {
  const objects = await openFolder();
  // Production, of which this database is a copy from before any day was packed.
  const production = { ...packingIn(objects), clock: { ...later, nowMs: () => later.nowMs() - 60_000 } };
  await packDays(production as unknown as PackDaysDeps, never);
  const theirs = (await recorded()).filter(({ day }) => withReceipts.includes(day));
  await bringBack(stores.url);
  await round(objects);
  const former = (await recorded()).flatMap(({ manifest }) =>
    parseColdDay(manifest).tables.receipts.map(({ name }) => name),
  );
  for (const { day, manifest, manifestHash } of theirs) {
    expect(await rowOf(day)).not.toMatchObject({ manifestHash });
    expect(former).toEqual(
      expect.arrayContaining(parseColdDay(manifest).tables.receipts.map(({ name }) => name)),
    );
  }
  await becomeOld(true);
  await round(objects);
  await endGrace();
  await expect(round(objects)).rejects.toMatchObject({ name: 'NotProvenError', days: withReceipts });
  expect(await areThere(objects, former)).toEqual(former.map(() => true));
  expect(await stores.first.coldDays.listBroken()).toEqual(
    theirs.map(({ day, manifestHash }) => ({
      day,
      problem: expect.stringContaining(`named by ${manifestName(day, manifestHash as Sha256)}, which`),
    })),
  );
  // A manifest without a valid signature protects no objects.
  for (const { day, manifest, manifestHash } of theirs) {
    const bytes = Buffer.from(`${manifest.slice(0, manifest.lastIndexOf('.'))}.AA`);
    await objects.put(objectName(manifestFolder(day), bytes, 'jws'), bytes);
    await objects.delete(manifestName(day, manifestHash as Sha256));
  }
  await retry();
  expect(await round(objects)).toMatchObject({ deleted: former.length });
  expect(await areThere(objects, former)).toEqual(former.map(() => false));
  expect(await stores.first.coldDays.listBroken()).toEqual([]);
  for (const day of DUE)
    await unpackDay({
      ...{ databaseUrl: stores.url, day },
      open: (manifest) => new ColdDayReader(objects, parseColdDay(manifest)),
    });
  await bringBackFromLedger();
});

const PATIENT = { connectMs: 20_000, waitMs: 20_000, readMs: 20_000, ledgerReadMs: 20_000 };

it('days packed under a former DID are read, proven, cleared and unpacked; without that former DID they are refused', async () => {
  const objects = await packed();
  const before = await recorded();
  const as = async <T>(identity: ServiceIdentity, work: (store: Store) => Promise<T>): Promise<T> => {
    const cold = { ...coldPlaceOf(objects), readManifest: manifestReader(identity, nativeCrypto) };
    const store = createStore({ databaseUrl: stores.url, cold, deadlines: PATIENT });
    return work(store).finally(() => store.close());
  };
  const old = world.find(({ at }) => new Date(at).toISOString().startsWith(busy));
  const untilMs = Date.parse(busy) + 86_400_000;
  const answered = await as(renamed, async (store) => {
    const leaves: string[] = [];
    for await (const part of (await listLeaves(serviceOf(store), busy)).text) leaves.push(String(part));
    const { items } = await store.decisions.list({ relyingParties: null, untilMs }, 500);
    return {
      jws: (await store.receipts.find(old?.id as ReceiptId))?.jws,
      leaves: leaves.join('').trimEnd().split('\n').length,
      listed: items.length,
    };
  });
  const listed = withReceipts.reduce((sum, day) => sum + published(day).length, 0);
  expect(answered).toEqual({ jws: old?.jws, leaves: published(busy).length, listed });
  const stranger = { ...renamed, formers: [] };
  await expect(as(stranger, (store) => store.receipts.find(old?.id as ReceiptId))).rejects.toMatchObject({
    name: 'StoreError',
  });

  await becomeOld(true);
  const roundAs = (identity: ServiceIdentity) => packDays({ ...packingIn(objects), identity }, never);
  await expect(roundAs(stranger)).rejects.toMatchObject({ name: 'NotProvenError' });
  await retry();
  expect(await roundAs(renamed)).toMatchObject({ cleared: withReceipts.length });
  const after = await recorded();
  expect(after.map(({ manifest }) => parseColdDay(manifest))).toMatchObject(
    before.map(({ day, manifestHash }) =>
      day === DUE[1] ? { iss: renamed.formers[0]?.did } : { iss: renamed.did, replaces: manifestHash },
    ),
  );
  await endGrace();
  expect(await roundAs(renamed)).toMatchObject({ dropped: DUE.length });
  expect(await readWhole(objects)).toEqual([]);
  const read = manifestReader(renamed, nativeCrypto);
  const open = (manifest: string) => new ColdDayReader(objects, read(manifest));
  for (const day of DUE) expect(await unpackDay({ databaseUrl: stores.url, day, open })).toBe('objects');
  await bringBackFromLedger();
}, 120_000);

const setBack = (rows: readonly Row[]) =>
  Promise.all(
    rows.map(({ day, manifest, manifestHash, isCleared }) =>
      tamper(
        stores.url,
        `update cold_days set manifest = $1, manifest_hash = $2, cleared_at = case when $3::boolean then now() end where day = $4`,
        [manifest, manifestHash, isCleared, day],
      ),
    ),
  );

it('a reader that has the former manifest continues with the new one once the former objects are deleted', async () => {
  const objects = await packed();
  const before = await recorded();
  await becomeOld(true);
  await round(objects);
  const after = await recorded();
  await setBack(before);
  const old = world.find(({ at, action }) => new Date(at).toISOString().startsWith(busy) && action !== null);
  let isFirst = true;
  const meanwhile: ObjectStore = Object.assign(Object.create(objects), {
    getRange: async (...args: Parameters<ObjectStore['getRange']>) => {
      if (isFirst) {
        isFirst = false;
        await setBack(after);
        for (const { manifest } of before)
          for (const { name } of parseColdDay(manifest).tables.receipts) await objects.delete(name);
      }
      return objects.getRange(...args);
    },
  });
  const reading = createStore({ databaseUrl: stores.url, cold: coldPlaceOf(meanwhile), deadlines: PATIENT });
  try {
    expect((await reading.receipts.find(old?.id as ReceiptId))?.jws).toBe(old?.jws);
    expect(isFirst).toBe(false);
  } finally {
    await reading.close();
  }
});

it('a database that was set back finds the new manifest in the store, although its own objects are deleted', async () => {
  const objects = await packed();
  const before = await recorded();
  await becomeOld(true);
  await round(objects);
  const after = await recorded();
  await tamper(stores.url, `update cold_manifests set replaced_at = now() - interval '2 days'`);
  await round(objects);
  await setBack(before);
  await tamper(stores.url, 'truncate cold_manifests');
  await expect(readWhole(objects)).rejects.toMatchObject({ kind: 'missing' });
  expect(await round(objects)).toMatchObject({ cleared: withReceipts.length });
  expect((await recorded()).map(({ manifest }) => manifest)).toEqual(after.map(({ manifest }) => manifest));
  expect(await readWhole(objects)).toEqual([]);
});

it('a day with damaged objects stays as it is and is named, and the others are cleared', async () => {
  const objects = await packed();
  await becomeOld(true);
  const [first = ''] = parseColdDay((await rowOf(busy)).manifest).tables.receipts.map(({ name }) => name);
  const bytes = await objects.get(first);
  await objects.delete(first);
  await expect(round(objects)).rejects.toMatchObject({ name: 'NotProvenError', days: [busy] });
  expect((await recorded()).filter(({ isCleared }) => isCleared).map(({ day }) => day)).toEqual([DUE[0]]);
  expect((await stores.first.coldDays.listBroken()).map(({ day }) => day)).toEqual([busy]);
  await objects.put(first, bytes);
  // The failed day is not read again in each round.
  expect(await round(objects)).toMatchObject({ cleared: 0, detached: 0, dropped: 0 });
  await retry();
  expect(await round(objects)).toMatchObject({ cleared: 1 });
  expect(await readWhole(objects)).toEqual([]);
});

it('a day that cannot be cleared or purged is named, delays no other day, and is tried again an hour later', async () => {
  const objects = await packed();
  const [first = ''] = DUE;
  await becomeOld(true);
  const work = dayWork({ objects, readDayRows: (day, use, from) => readDayRows(stores.url, day, use, from) });
  const full: DayWork = {
    ...work,
    clear: (manifest, stop) =>
      manifest.day === first
        ? Promise.reject(new Error('it does not fit into the heap'))
        : work.clear(manifest, stop),
  };
  await expect(packDays({ ...packingIn(objects), work: full }, never)).rejects.toMatchObject({
    name: 'NotProvenError',
    days: [first],
  });
  expect((await recorded()).filter(({ isCleared }) => isCleared).map(({ day }) => day)).toEqual([busy]);
  expect(await stores.first.coldDays.listBroken()).toEqual([
    { day: first, problem: 'it could not be cleared: it does not fit into the heap' },
  ]);
  expect(await round(objects)).toMatchObject({ cleared: 0 });
  await retry();
  expect(await round(objects)).toMatchObject({ cleared: 1 });
  expect(await stores.first.coldDays.listBroken()).toEqual([]);

  await tamper(stores.url, `update cold_manifests set replaced_at = now() - interval '2 days'`);
  const keeping: ObjectStore = Object.assign(Object.create(objects), {
    delete: (name: string) =>
      name.startsWith(first)
        ? Promise.reject(new ObjectStoreError('refused', 'it is locked'))
        : objects.delete(name),
  });
  await expect(round(keeping)).rejects.toMatchObject({ name: 'NotProvenError', days: [first] });
  const purged = 'select day::text from cold_manifests where purged_at is not null order by day';
  expect(await runSql(stores.url, purged)).toEqual([{ day: busy }]);
  expect(await stores.first.coldDays.listBroken()).toEqual([
    { day: first, problem: 'what its former manifest names could not be deleted: it is locked' },
  ]);
  expect(await round(objects)).toMatchObject({ deleted: 0 });
  await retry();
  // An object store that reports a deletion and does not delete.
  const lying: ObjectStore = Object.assign(Object.create(objects), { delete: async () => {} });
  await expect(round(lying)).rejects.toMatchObject({ name: 'NotProvenError', days: [first] });
  expect(await stores.first.coldDays.listBroken()).toEqual([
    { day: first, problem: expect.stringContaining('is still there after its deletion') },
  ]);
  expect(await runSql(stores.url, purged)).toEqual([{ day: busy }]);
  await retry();
  expect(await round(objects)).not.toMatchObject({ deleted: 0 });
  expect(await runSql(stores.url, purged)).toEqual(withReceipts.map((day) => ({ day })));
  expect(await stores.first.coldDays.listBroken()).toEqual([]);
  expect(await readWhole(objects)).toEqual([]);
});

it('a day that was cleared is not reported as failed if only the answer was lost, and is if it was not cleared', async () => {
  const objects = await packed();
  await becomeOld(true);
  const { coldDays } = stores.first;
  const lost = (day: string, when: 'before' | 'after'): Store => ({
    ...stores.first,
    coldDays: {
      ...coldDays,
      recordCleared: async (...args) => {
        if (args[0] !== day || when === 'after') await coldDays.recordCleared(...args);
        if (args[0] === day) throw new StoreError('ambiguous', 'no answer came');
        return true;
      },
    },
  });
  const [first = ''] = withReceipts;
  const clear = (store: Store) => clearDays(packingIn(objects, store), never);
  expect(await clear(lost(first, 'before'))).toEqual({
    cleared: withReceipts.length - 1,
    notProven: [first],
  });
  await retry();
  expect(await clear(lost(first, 'after'))).toEqual({ cleared: 1, notProven: [] });
  expect(await coldDays.listBroken()).toEqual([]);
  expect(await readWhole(objects)).toEqual([]);
});

describe('a worker that is killed', () => {
  it(
    'before or after any statement or request of clearing loses no Receipt, and the next round completes',
    async () => {
      /** Packs days that are old by now. */
      const prepare = async (): Promise<ObjectStore> => {
        await becomeOld(false);
        await bringBack(stores.url);
        await tamper(
          stores.url,
          `update receipts as r set (${ACTION}) = (select ${ACTION.map((name) => `w.${name}`)} from whole as w where w.receipt_id = r.receipt_id)`,
        );
        const objects = await packed();
        await becomeOld(true);
        return objects;
      };
      /** Clears, and deletes the replaced objects once their grace period is over. */
      const clearAll = async (deps: PackDaysDeps): Promise<void> => {
        await packDays(deps, never);
        await tamper(stores.url, `update cold_manifests set replaced_at = now() - interval '2 days'`);
        await packDays(deps, never);
      };
      const steps: string[] = [];
      await clearAll(
        through(packingIn(await prepare()), (what, work) => {
          steps.push(what);
          return work();
        }),
      );
      for (const kind of ['clearTable', 'recordCleared', 'listManifests', 'notePurged'])
        expect(steps).toContain(`store ${kind}`);
      expect(steps).toContain('objects delete');
      const cuts = steps.flatMap((_, step) => [
        { step, when: 'before' },
        { step, when: 'after' },
      ]);
      for (const { step, when } of sampled({ quick: sampleOf(cuts, 3).slice(1, -1), deep: cuts })) {
        const objects = await prepare();
        let count = -1;
        const killed = clearAll(
          through(packingIn(objects), async (_, work) => {
            count += 1;
            if (count > step || (count === step && when === 'before')) throw new Killed();
            const done = await work();
            if (count === step) throw new Killed();
            return done;
          }),
        );
        await expect(killed).rejects.toThrow(Killed);
        await readWhole(objects);
        await clearAll(packingIn(objects));
        expect(await readWhole(objects)).toEqual([]);
        expect((await recorded()).filter(({ isCleared }) => isCleared).length).toBe(withReceipts.length);
        expect(await runSql(stores.url, 'select from cold_manifests where purged_at is null')).toEqual([]);
      }
    },
    sampled({ quick: 180_000, deep: 1_200_000 }),
  );
});

describe('an object store that', () => {
  const asked = { AWS_ACCESS_KEY_ID: 'svc:test', AWS_SECRET_ACCESS_KEY: 'secret' };
  const before = Object.keys(asked).map((name) => [name, process.env[name]] as const);
  beforeAll(() => void Object.assign(process.env, asked));
  afterAll(() => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });

  const lies = ['fail', 'cut', 'shorten', 'flip', 'unconditional', 'lose-answer', 'forget'] as const;
  // In a sample, pack-days.test.ts has a store that misbehaves, and the next test one that forgets what was cleared.
  it.runIf(isDeep).each(lies.map((how) => [BEHAVIOURS[how], how] as const))(
    '%s, at any request: no day is recorded with incomplete objects, and the next round completes',
    async (_, how) => {
      const server = await startS3Server('cold');
      const opened = await openObjects('s3://cold/ledger', server.endpoint, {
        patience: { attemptMs: 5_000, pauseMs: 1 },
      });
      try {
        await round(opened.objects);
        await becomeOld(true);
        let requests = 0;
        let lieAt = -1;
        const lying = through(packingIn(opened.objects), async (what, work) => {
          if (what.startsWith('objects')) server.behave(requests++ === lieAt ? how : 'well');
          return work();
        });
        const stop = new AbortController().signal;
        for (lieAt of Array(20).keys()) {
          requests = 0;
          await clearDays(lying, stop).catch((error: unknown) =>
            expect(error).toMatchObject({ name: 'ObjectStoreError' }),
          );
          server.behave('well');
          await readWhole(opened.objects);
          await retry();
        }
        await round(opened.objects);
        expect(await readWhole(opened.objects)).toEqual([]);
      } finally {
        opened.close();
        await server.stop();
      }
    },
    300_000,
  );

  it('forgets the stored bytes makes a worker that does not read them back lose a day: the test can fail', async () => {
    const server = await startS3Server('cold');
    const opened = await openObjects('s3://cold/ledger', server.endpoint, {
      patience: { attemptMs: 5_000, pauseMs: 1 },
    });
    const { objects } = opened;
    const put = new Map<string, Uint8Array>();
    const trusting: ObjectStore = Object.assign(Object.create(objects), {
      async put(name: string, bytes: Uint8Array) {
        put.set(name, bytes);
        await objects.put(name, bytes);
      },
      get: async (name: string) => put.get(name) ?? objects.get(name),
      head: async (name: string) => put.get(name)?.length ?? objects.head(name),
      getRange: async (...[name, range, stop]: Parameters<ObjectStore['getRange']>) =>
        put.get(name)?.subarray(range.offset, range.offset + range.length) ??
        objects.getRange(name, range, stop),
    });
    try {
      await round(objects);
      await becomeOld(true);
      server.behave('forget');
      await clearDays(packingIn(trusting), never);
      server.behave('well');
      // Without its manifests the store would be taken for another one.
      for (const [name, bytes] of put) if (name.endsWith('.jws')) await objects.put(name, bytes);
      await tamper(stores.url, `update cold_manifests set replaced_at = now() - interval '2 days'`);
      // A packer that reads the objects again deletes nothing.
      await expect(round(objects)).rejects.toMatchObject({ name: 'NotProvenError' });
      const former = await runSql<{ manifest: string }>(stores.url, 'select manifest from cold_manifests');
      const names = former.flatMap(({ manifest }) => namesOf(manifest));
      expect(await areThere(objects, names)).toEqual(names.map(() => true));
      await packDays(packingIn(trusting), never);
      await expect(readWhole(objects)).rejects.toMatchObject({ name: 'ObjectStoreError' });
    } finally {
      opened.close();
      await server.stop();
    }
  });
});
