/** Manifests in the store for days without a recorded manifest. */
import {
  type ColdDay,
  ColdDayReader,
  hashOfManifest,
  packNamedDay,
  parseColdDay,
  type ReceiptRow,
  signColdDay,
} from '@svc/cold-ledger';
import { type ObjectStore, ObjectStoreError } from '@svc/service';
import { unpackDay } from '@svc/store-pg';
import { awayFromMidnight, daysAgo, tamper } from '@svc/testkit';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import {
  bringBack,
  createColdWorld,
  DUE,
  identity,
  packingOf,
  recordKeys,
} from '@svc/testkit/store/cold-world';
import { withObjectFolders } from '@svc/testkit/store/object-folders';
import { withStores } from '@svc/testkit/store/open-store';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkDatabase, type Fault } from '../src/index.ts';
import { findFaults } from './find-faults.ts';
import { listManifests, OTHER_HASH, packReceipts, putManifest } from './forged-days.ts';

await awayFromMidnight();
const stores = withStores();
const openStore = withObjectFolders();
const [day = '', , other = ''] = DUE;
const today = daysAgo(0);
const never = new AbortController().signal;
let objects: ObjectStore;

beforeAll(async () => {
  await createColdWorld(stores.url, stores.first);
  await recordKeys(stores.url);
});

const openFolder = async () => {
  objects = await openStore();
};
const check = async (place = objects): Promise<{ faults: string[]; notes: string[] }> => {
  const { faults, notes } = await findFaults(stores.url, place);
  return {
    faults: faults
      .filter(({ check: name }) => name === 'days not packed')
      .map(({ where, problem }) => `${where}: ${problem}`),
    notes: notes.filter((note) => note.includes('no manifest of the day is recorded')),
  };
};

/** A packer that is killed before it records what it has packed. */
const packCutOff = async (of = day): Promise<void> => {
  const packs = packingOf(stores.url, stores.first, objects);
  const record = () => Promise.reject(new Error('killed'));
  const store = { ...packs.store, coldDays: { ...packs.store.coldDays, record } };
  await expect(packNamedDay({ ...packs, store }, of, never)).rejects.toThrow('killed');
};
const manifestsOf = async (of = day): Promise<string[]> => {
  const names = await listManifests(objects, of);
  return Promise.all(names.map(async (name) => Buffer.from(await objects.get(name)).toString()));
};
const leftOf = async (of = day): Promise<string> => {
  const [left] = await manifestsOf(of);
  return left ?? expect.unreachable('nothing is left');
};
const store = (manifest: string, of = day) => putManifest(objects, of, manifest);
const signed = async (manifest: ColdDay, of = day) =>
  store(await signColdDay(manifest, identity.statusKeys.signer), of);
/** Signs a changed manifest in place of the one that the packer left. */
const signedInstead = async (change: (left: ColdDay) => Promise<Partial<ColdDay>> | Partial<ColdDay>) => {
  const left = parseColdDay(await leftOf());
  const changed = await change(left);
  for (const name of await listManifests(objects, day)) await objects.delete(name);
  await signed({ ...left, ...changed });
};
/** The objects of the day with other Receipts. */
const withReceipts = (left: ColdDay, change: (row: ReceiptRow) => ReceiptRow) =>
  packReceipts(objects, left, change);

const instead: [what: string, leave: () => Promise<unknown>, problem: string, of?: string][] = [
  [
    'a manifest that nobody has signed',
    async () => store((await leftOf()).replace(/[^.]+$/, 'A'.repeat(86))),
    'the manifest ',
  ],
  [
    'the manifest of another day',
    async () => {
      await packCutOff(other);
      const left = await leftOf(other);
      for (const name of await listManifests(objects, other)) await objects.delete(name);
      await store(left);
    },
    `it is the manifest of ${other}`,
  ],
  [
    'a manifest of another checkpoint of the day',
    () => signedInstead(() => ({ checkpoint_hash: OTHER_HASH })),
    'it is of another checkpoint',
  ],
  [
    'a manifest with another content root',
    () => signedInstead(() => ({ content_root: OTHER_HASH })),
    'it is of another checkpoint',
  ],
  [
    'a manifest of a day that has not been closed',
    () =>
      signedInstead(() => ({})).then(async () => {
        const left = parseColdDay(await leftOf());
        const tables = { receipts: [], attestations: [], consumption_events: [] };
        await signed({ ...left, day: today, tree_size: 0, tables }, today);
      }),
    'the day has no checkpoint',
    today,
  ],
  [
    'a manifest of which an object is missing',
    async () => {
      const left = parseColdDay(await leftOf());
      await objects.delete(left.tables.attestations[0]?.name ?? '');
    },
    'nothing is stored under',
  ],
  [
    'a manifest whose Receipts do not lead to the published roots',
    () =>
      signedInstead(async (left) => ({
        tables: await withReceipts(left, (row) => ({ ...row, jws: `${row.jws}A` })),
      })),
    'its objects do not lead to its roots',
  ],
  [
    'a manifest that lists a Receipt with another amount',
    () =>
      signedInstead(async (left) => ({
        tables: await withReceipts(left, (row) => ({ ...row, amount: 1n })),
      })),
    'is listed otherwise than in the ledger',
  ],
  [
    'a manifest with an outcome record that the database does not have',
    () =>
      tamper(
        stores.url,
        `create table kept_attestations as select * from attestations; delete from attestations where ordinal = 2`,
      ),
    'is not in the database',
  ],
];

describe('fsck finds in the folder of a day that is not packed', () => {
  beforeEach(async () => {
    await openFolder();
    await packCutOff();
  });
  afterEach(() =>
    tamper(
      stores.url,
      `do $$ begin
         if to_regclass('kept_attestations') is not null then
           delete from attestations; insert into attestations select * from kept_attestations; drop table kept_attestations;
         end if;
       end $$`,
    ),
  );

  it.each(sampleOf(instead, 3))('%s', async (_, leave, problem, of = day) => {
    await leave();
    const { faults } = await check();
    expect(faults).toEqual([expect.stringContaining(problem)]);
    expect(faults[0]).toMatch(new RegExp(`^${of}: the manifest ${of}/manifests/\\w+\\.jws in the store: `));
  });
});

describe('fsck notes, without reporting a fault,', () => {
  beforeEach(async () => {
    await bringBack(stores.url);
    await openFolder();
  });
  const noted = (...reasons: string[]) => ({
    faults: [],
    notes: reasons.map((reason) => expect.stringContaining(reason)),
  });
  const CUT_OFF = 'a packer left it that was cut off';

  it('a manifest that an interrupted packer left, and nothing if there is none', async () => {
    expect(await check()).toEqual(noted());
    await packCutOff();
    expect(await check()).toEqual(noted(CUT_OFF));
  });

  it('a manifest that another one in the folder replaces, even if its objects are gone', async () => {
    await packCutOff();
    const left = await leftOf();
    const { tables, ...day } = parseColdDay(left);
    const [gone] = tables.receipts;
    await signed({
      ...day,
      replaces: hashOfManifest(Buffer.from(left)),
      tables: await withReceipts({ ...day, tables }, (row) => ({ ...row })),
    });
    await objects.delete(gone?.name ?? '');
    const found = await check();
    const { notes } = noted('another one there replaces it', CUT_OFF);
    expect(found).toEqual({ faults: [], notes: expect.arrayContaining(notes) });
    expect(found.notes).toHaveLength(notes.length);
  });

  it.runIf(isDeep)('a manifest of a retracted checkpoint of a future day', async () => {
    await packCutOff();
    const ahead = daysAgo(-2);
    const tables = { receipts: [], attestations: [], consumption_events: [] };
    const left = parseColdDay(await leftOf());
    await signed({ ...left, day: ahead, checkpoint_hash: OTHER_HASH, tree_size: 0, tables }, ahead);
    await tamper(
      stores.url,
      `insert into retracted_checkpoints (hash, day, kid, jws) values ('${OTHER_HASH}', '${ahead}', 'kid', 'jws')`,
    );
    const found = await check();
    await tamper(stores.url, 'delete from retracted_checkpoints');
    expect(found).toEqual(noted(CUT_OFF, 'it is of a checkpoint that was retracted'));
    expect(found.notes[1]).toContain(ahead);
  });
});

it('fsck accepts the manifest of a day that was brought back', async () => {
  await bringBack(stores.url);
  await openFolder();
  expect(await packNamedDay(packingOf(stores.url, stores.first, objects), day, never)).toBe('packed');
  const open = (manifest: string) => new ColdDayReader(objects, parseColdDay(manifest));
  await unpackDay({ databaseUrl: stores.url, day, open });
  expect(await check()).toEqual({ faults: [], notes: [] });
  expect(await manifestsOf()).toHaveLength(1);
});

it('fsck fails as unavailable, and reports no fault, if the object store cannot list a folder or return an object', async () => {
  await bringBack(stores.url);
  await openFolder();
  await packCutOff();
  const away = () => Promise.reject(new ObjectStoreError('unavailable', 'no answer'));
  for (const change of [{ list: away }, { get: away }]) {
    const place: ObjectStore = Object.assign(Object.create(objects), change);
    const reported: Fault[] = [];
    const onFault = (fault: Fault) => reported.push(fault);
    await expect(checkDatabase({ databaseUrl: stores.url, objects: place, onFault })).rejects.toMatchObject({
      kind: 'unavailable',
    });
    expect(reported.filter(({ check: name }) => name === 'days not packed')).toEqual([]);
  }
});
