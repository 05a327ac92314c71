/** Manifests of a packed day in the store, by which readers without the database find its objects. */
import {
  type AttestationRow,
  type ColdDay,
  ColdDayReader,
  clearDays,
  manifestFolder,
  type PackDaysDeps,
  packDays,
  packNamedDay,
  packTables,
  parseColdDay,
  type ReceiptRow,
  signColdDay,
} from '@svc/cold-ledger';
import { objectName } from '@svc/object-store';
import type { Sha256 } from '@svc/protocol';
import type { ColdDayRepository, ObjectStore } from '@svc/service';
import { unpackDay } from '@svc/store-pg';
import { tamper } from '@svc/testkit';
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
import { runSql } from '@svc/testkit/store/session';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { manifestReaderOf } from '../src/checks/read-manifest.ts';
import type { Query } from '../src/query.ts';
import { loadServiceKeys } from '../src/service-keys.ts';
import { findFaults } from './find-faults.ts';
import {
  changeBatches,
  listManifests,
  OTHER_HASH,
  packChanged,
  packReceipts,
  putManifest,
} from './forged-days.ts';

const stores = withStores();
const openFolder = withObjectFolders();
const [day = '', , other = ''] = DUE;
const never = new AbortController().signal;
const NEXT_S = 5;
let objects: ObjectStore;

interface Recorded {
  readonly manifest: string;
  readonly hash: Sha256;
}
const recordedOf = async (of = day): Promise<Recorded> => {
  const [row] = await runSql<Recorded>(
    stores.url,
    'select manifest, manifest_hash as hash from cold_days where day = $1',
    [of],
  );
  if (row === undefined) throw new Error(`nothing is recorded of ${of}`);
  return row;
};

/** Faults and notes of the day as a whole, without those of its Receipts, which the service has not signed. */
const check = async (): Promise<{ faults: string[]; notes: readonly string[] }> => {
  const { faults, notes } = await findFaults(stores.url, objects);
  return {
    faults: faults.filter(({ where }) => where === day).map(({ problem }) => problem),
    notes: notes.filter((note) => note.startsWith(`${day}: ${manifestFolder(day)}`)),
  };
};

/** Packs some time after the recorded packing, or before it with a clock that is behind. */
const packing = (change: Partial<ColdDayRepository> = {}, laterS = NEXT_S): PackDaysDeps => {
  const packs = packingOf(stores.url, stores.first, objects);
  const clock = { nowMs: () => Date.now() + laterS * 1_000, resync: async () => {} };
  const coldDays = { ...packs.store.coldDays, ...change };
  return { ...packs, clock: clock as PackDaysDeps['clock'], store: { ...packs.store, coldDays } };
};
const killed = () => Promise.reject(new Error('killed'));

beforeAll(async () => {
  await createColdWorld(stores.url, stores.first);
  await recordKeys(stores.url);
});

const becomeOld = (isOld: boolean) =>
  runSql(
    stores.url,
    `create or replace function svc_actions_kept_since() returns timestamptz language sql volatile as
     $$ select clock_timestamp() - interval '${isOld ? '3 days' : '7 years'}' $$`,
  );
/** Restores the state before any day was packed. */
const startOver = async () => {
  await becomeOld(false);
  await bringBack(stores.url);
  objects = await openFolder();
};
const addAttestation = () =>
  tamper(
    stores.url,
    `insert into attestations (attestation_id, receipt_id, ordinal, relying_party, principal, evaluated_at, decision, type, occurred_at,
       issuer_unverified)
     select 'oat_added', receipt_id, 99, relying_party, principal, evaluated_at, decision, type, occurred_at, issuer_unverified
     from attestations where receipt_id >= svc_lowest_receipt_id('${day}') order by receipt_id limit 1`,
  );
const removeAttestation = () =>
  tamper(stores.url, `delete from attestations where attestation_id = 'oat_added'`);
const manifestNames = () => listManifests(objects, day);
/** Signs a manifest with the service's key that no packer has written. */
const signed = async (change: (recorded: ColdDay) => Promise<Partial<ColdDay>> | Partial<ColdDay>) => {
  const { manifest: present, hash } = await recordedOf();
  const recorded = parseColdDay(present);
  const later = { ...recorded, iat: recorded.iat + NEXT_S, replaces: hash };
  const manifest = await signColdDay({ ...later, ...(await change(recorded)) }, identity.statusKeys.signer);
  await putManifest(objects, day, manifest);
};
const withReceipts = (recorded: ColdDay, change: (row: ReceiptRow) => ReceiptRow) =>
  packReceipts(objects, recorded, change);
const withAttestations = (
  recorded: ColdDay,
  change: (rows: readonly AttestationRow[]) => readonly AttestationRow[],
) =>
  packChanged(objects, recorded, ({ attestations }) => ({
    attestations: () => changeBatches(attestations(), change),
  }));
const CLEARED = { action_type: null, amount: null, currency: null, resource: null, method: null };

const instead: [what: string, leave: () => Promise<unknown>, problem: string][] = [
  [
    'the manifest of another day',
    async () => putManifest(objects, day, (await recordedOf(other)).manifest),
    `it is the manifest of ${other}`,
  ],
  [
    'a newer manifest of another checkpoint of the day',
    () => signed(() => ({ checkpoint_hash: OTHER_HASH })),
    'it is of another checkpoint',
  ],
  [
    'a newer manifest with another content root',
    () => signed(() => ({ content_root: OTHER_HASH })),
    'it is of another checkpoint',
  ],
  [
    'a newer manifest that does not replace the recorded one',
    () => signed(() => ({ replaces: OTHER_HASH })),
    'it replaces neither',
  ],
  [
    'a newer manifest that lists a Receipt with another amount',
    () =>
      signed(async (recorded) => ({
        tables: await withReceipts(recorded, (row) => ({ ...row, amount: 1n })),
      })),
    'its Receipts differ from the recorded ones',
  ],
  [
    'an older manifest that claims to replace the recorded one and lists a Receipt with another amount',
    () =>
      signed(async (recorded) => ({
        iat: recorded.iat - 1,
        tables: await withReceipts(recorded, (row) => ({ ...row, amount: 1n })),
      })),
    'its Receipts differ from the recorded ones',
  ],
  [
    'a newer manifest without action fields, of a day that is not seven years old',
    () =>
      signed(async (recorded) => ({
        tables: await withReceipts(recorded, (row) => ({ ...row, ...CLEARED })),
      })),
    'its Receipts differ from the recorded ones',
  ],
  [
    'a newer manifest of which an object is missing',
    () =>
      signed(async (recorded) => ({
        tables: {
          ...recorded.tables,
          attestations: recorded.tables.attestations.map((entry) => ({
            ...entry,
            name: objectName(`${day}/attestations`, Buffer.from('nothing'), 'parquet'),
          })),
        },
      })),
    'nothing is stored under',
  ],
  [
    'a newer manifest with an outcome record that the database does not have',
    async () => {
      await addAttestation();
      await signed(async (recorded) => ({
        tables: {
          ...(await packing().readDayRows(day, (rows) => packTables(objects, day, rows))),
          receipts: recorded.tables.receipts,
        },
      }));
      await removeAttestation();
    },
    'is not in the database',
  ],
  [
    'a newer manifest that lacks an outcome record of the recorded one',
    () => signed(async (recorded) => ({ tables: await withAttestations(recorded, (rows) => rows.slice(1)) })),
    'it lacks attestations',
  ],
  [
    'a newer manifest with each outcome record twice',
    () =>
      signed(async (recorded) => ({
        tables: await withAttestations(recorded, (rows) => rows.flatMap((row) => [row, row])),
      })),
    'was packed twice',
  ],
];

describe('fsck of manifests that the service has signed', () => {
  let own: readonly string[];
  beforeAll(async () => {
    await startOver();
    await packDays(packingOf(stores.url, stores.first, objects), never);
    own = await manifestNames();
  });
  afterEach(async () => {
    for (const name of await manifestNames()) if (!own.includes(name)) await objects.delete(name);
  });

  it.each(sampleOf(instead, 2))('finds in the folder of a day %s', async (_, leave, problem) => {
    await leave();
    expect(await check()).toEqual({ faults: [expect.stringContaining(problem)], notes: [] });
  });

  it('reads a manifest of 4 million characters with the keys of the DID that signed it, after a change of the DID', async () => {
    const keysOf = ({ published }: typeof identity.statusKeys) =>
      published.map(({ kid, publicKeyMultibase: publicKey }) => ({ kid, publicKey }));
    const dids = [{ did: identity.did }, { did: 'did:web:later.example' }];
    const query = async (text: string) =>
      text.includes('service_dids') ? dids : keysOf(identity.statusKeys);
    const keys = await loadServiceKeys(query as Query);
    const manifest = parseColdDay((await recordedOf()).manifest);
    const [first, ...others] = manifest.tables.receipts;
    if (first === undefined) throw new Error('the day has Receipts');
    const receipts = [{ ...first, name: first.name.padStart(4_000_000, 'x') }, ...others];
    const long = { ...manifest, tables: { ...manifest.tables, receipts } };
    expect(manifestReaderOf({ keys })(await signColdDay(long, identity.statusKeys.signer)).day).toBe(day);
  });
});

describe('fsck finds no fault in a manifest left by a packer', () => {
  beforeEach(startOver);
  const pack = () => packDays(packing({}, 0), never);
  const replacing = async () => {
    const { hash } = await recordedOf();
    const texts = await Promise.all((await manifestNames()).map((name) => objects.get(name)));
    return texts.filter((text) => parseColdDay(Buffer.from(text).toString()).replaces === hash).length;
  };
  const named = { faults: [], notes: [expect.stringContaining('a packer left it')] };

  it.runIf(isDeep)(
    'that was killed before it recorded the manifest, if another packer packed the day afterwards',
    async () => {
      await expect(packDays(packing({ record: killed }, -NEXT_S), never)).rejects.toThrow('killed');
      await tamper(stores.url, `update cold_days set again_at = now() - interval '1 second'`);
      await pack();
      expect(await manifestNames()).toHaveLength(2);
      expect(await check()).toEqual({ faults: [], notes: [] });
    },
  );

  it.runIf(isDeep)('that was overtaken by another packer while an outcome record was added', async () => {
    const published = await stores.first.checkpoints.find(day);
    await packNamedDay(packing({}, 0), day, never);
    await addAttestation();
    const overtaken = packing({
      findToPack: async () => published,
      findManifest: async () => null,
      record: async () => false,
    });
    expect(await packNamedDay(overtaken, day, never)).toBe('packed');
    const found = await check();
    await removeAttestation();
    // The packer has deleted its manifest.
    expect(await manifestNames()).toHaveLength(1);
    expect(found).toEqual({ faults: [], notes: [] });
  });

  it('that was killed while it repacked a day that was brought back, and notes the manifest', async () => {
    await pack();
    const open = (manifest: string) => new ColdDayReader(objects, parseColdDay(manifest));
    await unpackDay({ databaseUrl: stores.url, day, open });
    await expect(packNamedDay(packing({ record: killed }), day, never)).rejects.toThrow('killed');
    expect(await replacing()).toBe(1);
    expect(await check()).toEqual(named);
  });

  it.runIf(isDeep)(
    'that was killed while it cleared a day that is seven years old, and notes the manifest',
    async () => {
      await pack();
      await becomeOld(true);
      const sevenYears = 7 * 366 * 86_400;
      const { notProven } = await clearDays(packing({ recordCleared: killed }, sevenYears), never);
      expect(notProven).toContain(day);
      expect(await replacing()).toBe(1);
      expect(await check()).toEqual(named);
    },
  );

  it.runIf(isDeep)('whose day was reopened by a repair of the clock, and notes the manifest', async () => {
    await pack();
    await tamper(
      stores.url,
      `insert into retracted_checkpoints (hash, day, kid, jws) values ('${OTHER_HASH}', '${day}', 'kid', 'jws')`,
    );
    await signed(() => ({ checkpoint_hash: OTHER_HASH, replaces: null }));
    const found = await check();
    await tamper(stores.url, 'delete from retracted_checkpoints');
    expect(found).toEqual({ faults: [], notes: [expect.stringContaining('checkpoint that was retracted')] });
  });
});
