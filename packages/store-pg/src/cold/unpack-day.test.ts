/** Packed days come back unchanged, and objects that are the only copy are verified regularly. */
import {
  ColdDayReader,
  type DayWork,
  dayWork,
  dropDays,
  packDays,
  packNamedDay,
  parseColdDay,
  proveDay,
} from '@svc/cold-ledger';
import type { ReceiptId, Sha256 } from '@svc/protocol';
import { type ObjectStore, ObjectStoreError } from '@svc/service';
import { tamper } from '@svc/testkit';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import { bringBack, createColdWorld, DUE, packingOf, withPackedDays } from '@svc/testkit/store/cold-world';
import { withObjectFolders } from '@svc/testkit/store/object-folders';
import { withStores } from '@svc/testkit/store/open-store';
import { endSessions, runSql, withSession } from '@svc/testkit/store/session';
import { createWorld, denyCommit } from '@svc/testkit/store/world';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { dayOfId } from '../receipt-ids.ts';
import { type UnpackDay, unpackDay } from './unpack-day.ts';

const stores = withStores();
const packed = withPackedDays(stores, withObjectFolders());

const [day = '', , busy = ''] = DUE;
const tableOf = (of: string) => `receipts_${of.replaceAll('-', '')}`;
const never = new AbortController().signal;
let objects: ObjectStore;
let hot: { receipt_id: ReceiptId }[];
beforeAll(async () => {
  await createColdWorld(stores.url, stores.first);
  hot = await ledger();
});
const packing = (of = objects) => packingOf(stores.url, stores.first, of);
beforeEach(async () => {
  await bringBack(stores.url);
  objects = await packed();
});

/** Every column of every Receipt of the due days, from the ledger. */
const ledger = () =>
  runSql<{ receipt_id: ReceiptId }>(
    stores.url,
    `select * from receipts where evaluated_at < $1::date + 1 order by receipt_id`,
    [DUE.at(-1)],
  );

const unpack = (which: string, from = objects) =>
  unpackDay({
    databaseUrl: stores.url,
    day: which,
    open: (manifest) => new ColdDayReader(from, parseColdDay(manifest)),
  });

const rowOf = async (which: string) =>
  (
    await runSql<{ state: string; manifest: string; problem: string | null }>(
      stores.url,
      'select state, manifest, problem from cold_days where day = $1',
      [which],
    )
  )[0];

/** Ends the grace period of these days, and removes them. */
const drop = async (days: readonly string[]): Promise<void> => {
  await tamper(
    stores.url,
    `update cold_days set detached_at = now() - interval '2 days' where day = any ($1::date[])`,
    [days],
  );
  expect(await dropDays(packing(), never)).toEqual({ dropped: days.length, locked: null, notProven: [] });
};

/** Ends the hour after which a failed day is tried again. */
const expire = () =>
  tamper(
    stores.url,
    `update cold_days set again_at = now() - interval '1 second' where again_at is not null`,
  );

const failing = (name: string, error: Error): ObjectStore => ({
  ...objects,
  getRange: async (...args) => {
    if (args[0].startsWith(name)) throw error;
    return objects.getRange(...args);
  },
});

it('a packer that began before a day was brought back does not pack it again; packNamedDay does', async () => {
  await bringBack(stores.url);
  const slow = packing();
  const work = dayWork(slow);
  let isFirst = true;
  const overtaken: DayWork = {
    ...work,
    pack: async (of, stop) => {
      const packed = await work.pack(of, stop);
      if (isFirst) {
        isFirst = false;
        await packDays(packing(), never);
        await unpack(of);
      }
      return packed;
    },
  };
  await packDays({ ...slow, work: overtaken }, never);
  expect(isFirst).toBe(false);
  expect(await rowOf(day)).toMatchObject({ state: 'unpacked' });
  expect(await packNamedDay(packing(), day, never)).toBe('packed');
  expect(await rowOf(day)).toMatchObject({ state: 'recorded' });
});

describe('unpacking a packed day', () => {
  it('restores it to the byte from the detached table or, once that is dropped, from objects; the next round leaves it', async () => {
    await drop([day]);
    // An empty partition was created for the day meanwhile.
    await runSql(stores.url, 'select svc_ensure_receipt_partitions($1, $1)', [day]);
    expect(await unpack(day)).toBe('objects');
    for (const other of DUE.slice(1)) expect(await unpack(other)).toBe('kept');
    expect(await ledger()).toEqual(hot);
    await packDays(packing(), never);
    expect((await rowOf(day))?.state).toBe('unpacked');
    await expect(unpack(day)).rejects.toThrow(`${day} is not packed: unpacked`);
    for (const change of [`delete from ${tableOf(day)}`, `truncate ${tableOf(day)}`])
      await expect(runSql(stores.url, change), change).rejects.toMatchObject({ code: '42501' });
  });

  it('from "kept" alone is refused if the detached table is missing or not as published, and the day stays cold', async () => {
    const open = (manifest: string) => new ColdDayReader(objects, parseColdDay(manifest));
    const unpackKept = (of: string) => unpackDay({ databaseUrl: stores.url, day: of, open, from: 'kept' });
    await drop([day]);
    await expect(unpackKept(day)).rejects.toThrow(`nothing of ${day} is kept`);
    const table = `detached_${tableOf(busy)}`;
    await tamper(
      stores.url,
      `create table kept as select * from ${table}; update ${table} set jws = jws || 'x' where receipt_id = (select min(receipt_id) from ${table})`,
    );
    await expect(unpackKept(busy)).rejects.toThrow(`what is kept of ${busy} does not lead to its roots`);
    expect([(await rowOf(day))?.state, (await rowOf(busy))?.state]).toEqual(['cold', 'cold']);
    await tamper(
      stores.url,
      `delete from ${table}; insert into ${table} select * from kept; drop table kept`,
    );
    expect(await unpackKept(busy)).toBe('kept');
    expect(await unpack(day)).toBe('objects');
    for (const other of DUE) if ((await rowOf(other))?.state === 'cold') await unpack(other);
    expect(await ledger()).toEqual(hot);
  });

  it('from "objects" ignores the detached table', async () => {
    const table = `detached_${tableOf(busy)}`;
    await tamper(stores.url, `update ${table} set resource = 'other'`);
    const open = (manifest: string) => new ColdDayReader(objects, parseColdDay(manifest));
    expect(await unpackDay({ databaseUrl: stores.url, day: busy, open, from: 'objects' })).toBe('objects');
    for (const other of DUE) if (other !== busy) await unpack(other);
    expect(await ledger()).toEqual(hot);
  });

  describe('with an empty partition of the day in place', () => {
    const isMade = async (table: string) =>
      (await runSql<{ is: boolean }>(stores.url, 'select to_regclass($1) is not null as is', [table]))[0]?.is;
    const unpackWith = (change: Partial<UnpackDay>) =>
      unpackDay({
        ...{ databaseUrl: stores.url, day: busy },
        ...{ open: (manifest) => new ColdDayReader(objects, parseColdDay(manifest)) },
        ...change,
      });
    beforeEach(async () => {
      await drop([busy]);
      await runSql(stores.url, 'select svc_ensure_receipt_partitions($1, $1)', [busy]);
      expect(await isMade(tableOf(busy))).toBe(true);
    });
    afterEach(async () => {
      if ((await rowOf(busy))?.state === 'cold') await unpack(busy);
    });

    it('blocks neither reads of the ledger nor decisions while Receipts are written', async () => {
      const world = await createWorld(stores.first);
      let read = 0;
      const open = (manifest: string) => ({
        async *receipts() {
          for await (const rows of new ColdDayReader(objects, parseColdDay(manifest)).receipts()) {
            yield rows;
            await withSession(stores.url, async (session) => {
              await session.query(`set lock_timeout = '2s'`);
              read +=
                (await session.query('select from receipts where receipt_id > $1', ['drc_'])).rowCount ?? 0;
            });
            expect(await stores.first.verify.commitDecisions([denyCommit(world)])).toEqual(['STORED']);
          }
        },
      });
      expect(await unpackWith({ open })).toBe('objects');
      expect(read).toBeGreaterThan(0);
    });

    it('waits briefly for sessions that hold locks of the ledger, and tries again', async () => {
      await withSession(stores.url, async (holder) => {
        await holder.query('begin; lock table receipts in row exclusive mode');
        const pauses: number[] = [];
        const pause = async (ms: number) => {
          if (pauses.push(ms) === 2) await holder.query('commit');
        };
        expect(await unpackWith({ pause })).toBe('objects');
        expect(pauses).toHaveLength(2);
      });
    });

    it('is refused and names the lock holders if it never gets the locks, and the day stays cold', async () => {
      await withSession(stores.url, async (holder) => {
        await holder.query(
          `set application_name = 'a long report'; begin; lock table receipts in row exclusive mode`,
        );
        const pause = async () => {};
        await expect(unpackWith({ pause, attempts: 3 })).rejects.toThrow(
          new RegExp(`${tableOf(busy)} is empty and could not be removed.*a long report`),
        );
        await holder.query('rollback');
      });
      expect((await rowOf(busy))?.state).toBe('cold');
      expect(await isMade(tableOf(busy))).toBe(true);
    });

    it('does not remove a partition that received Receipts meanwhile', async () => {
      await withSession(stores.url, async (writer) => {
        await writer.query('begin');
        const { receipt_id: id } = hot.find((one) => dayOfId(one.receipt_id) === busy) ?? {};
        await writer.query(
          `insert into ${tableOf(busy)} (receipt_id, relying_party, decision, reason, evaluated_at, jws, content_hash,
             production_check)
           values ($1, 'did:web:big.example', 'DENY', 'GRANT_MALFORMED', $2, 'jws', sha256('jws'), false)`,
          [id, `${busy}T12:00:00Z`],
        );
        const pause = () => writer.query('commit');
        await expect(unpackWith({ pause })).rejects.toThrow(`${tableOf(busy)} has Receipts`);
      });
      await tamper(stores.url, `delete from ${tableOf(busy)}`);
    });
  });

  it('lets it be packed again by name, under a manifest that names the former one', async () => {
    const before = await rowOf(busy);
    expect(await unpack(busy)).toBe('kept');
    expect(await packNamedDay(packing(), busy, never)).toBe('packed');
    const after = await rowOf(busy);
    expect(after?.state).toBe('recorded');
    const [former, now] = [before, after].map((row) => parseColdDay(row?.manifest ?? ''));
    expect(now).toMatchObject({ tables: former?.tables, replaces: expect.stringMatching(/^sha256:/) });
    await expect(packNamedDay(packing(), busy, never)).rejects.toThrow(`${busy} is packed, or cannot be`);
    expect(await packDays(packing(), never)).toMatchObject({ detached: 1 });
    expect((await rowOf(busy))?.state).toBe('cold');
  });

  it('uses the objects if the detached table is not as published', async () => {
    const kept = `detached_${tableOf(busy)}`;
    await tamper(
      stores.url,
      `update ${kept} set jws = jws || 'x' where receipt_id = (select min(receipt_id) from ${kept})`,
    );
    expect(await unpack(busy)).toBe('objects');
    for (const other of DUE.filter((one) => one !== busy)) await unpack(other);
    expect(await ledger()).toEqual(hot);
  });

  it('is refused if the objects are not as published either, and the day stays cold', async () => {
    await drop([busy]);
    const lying = unpackDay({
      databaseUrl: stores.url,
      day: busy,
      open: (manifest) => {
        const reader = new ColdDayReader(objects, parseColdDay(manifest));
        return {
          async *receipts() {
            for await (const rows of reader.receipts())
              yield rows.map((row) => ({ ...row, jws: `${row.jws} ` }));
          },
        };
      },
    });
    await expect(lying).rejects.toThrow('do not lead to its roots');
    expect((await rowOf(busy))?.state).toBe('cold');
    expect(await unpack(busy)).toBe('objects');
  });

  it('leaves it cold if its session is killed midway, and succeeds the next time', async () => {
    await drop([busy]);
    const reader = (manifest: string) => new ColdDayReader(objects, parseColdDay(manifest));
    const killed = unpackDay({
      databaseUrl: stores.url,
      day: busy,
      open: (manifest) => ({
        async *receipts() {
          for await (const rows of reader(manifest).receipts()) {
            yield rows;
            await endSessions(
              stores.url,
              `select pid from pg_stat_activity
               where application_name = 'svc-admin ledger unpack' and datname = current_database()`,
            );
          }
        },
      }),
    });
    await expect(killed).rejects.toMatchObject({ name: 'StoreError' });
    expect((await rowOf(busy))?.state).toBe('cold');
    expect(await runSql(stores.url, 'select to_regclass($1) as made', [tableOf(busy)])).toEqual([
      { made: null },
    ]);
    for (const one of DUE) await unpack(one);
    expect(await ledger()).toEqual(hot);
  });
});

describe('a packed day', () => {
  /** Makes these days due, the first one before the others. */
  const due = (days: readonly string[]) =>
    tamper(
      stores.url,
      `update cold_days set proven_at = now() - interval '31 days' + (day - current_date) * interval '1 second'
       where day = any ($1::date[])`,
      [days],
    );

  const states: [what: string, become: () => Promise<void>][] = [
    ['is kept beside the ledger', async () => {}],
    ['was dropped', () => drop([busy])],
  ];
  it.each(sampleOf(states, 1))(
    'that could not be proven is read again an hour later, when it %s',
    async (_, become) => {
      await become();
      const gone = failing(busy, new ObjectStoreError('missing', 'nothing is stored under that name'));
      expect(await proveDay(packing(gone), busy, never)).toBe('nothing is stored under that name');
      expect(await packDays(packing(), never)).toMatchObject({ proven: 0 });
      await expire();
      expect(await packDays(packing(), never)).toMatchObject({ proven: 1 });
      expect(await stores.first.coldDays.listBroken()).toEqual([]);
      if ((await rowOf(busy))?.state === 'cold') await unpack(busy);
    },
  );

  it('that a reader found damaged is named at once and proven next', async () => {
    const { coldDays } = stores.first;
    const hash = (await coldDays.findManifest(busy))?.manifestHash as Sha256;
    const other = `sha256:${'0'.repeat(64)}` as Sha256;
    await coldDays.noteUnread(busy, other, 'of a former manifest');
    expect(await coldDays.listBroken()).toEqual([]);
    await coldDays.noteUnread(busy, hash, 'it is missing');
    await coldDays.noteUnread(busy, hash, 'found again');
    expect(await coldDays.listBroken()).toEqual([{ day: busy, problem: 'it is missing' }]);
    expect(await coldDays.listToProve(30, 8, Date.now())).toEqual([busy]);
    expect(await packDays(packing(), never)).toMatchObject({ proven: 1 });
    expect(await coldDays.listBroken()).toEqual([]);
  });

  it('that is kept beside the ledger is also proven once a month', async () => {
    await due([busy]);
    expect(await stores.first.coldDays.listToProve(30, 8, Date.now())).toEqual([busy]);
    expect(await packDays(packing(), never)).toMatchObject({ proven: 1 });
    expect(await stores.first.coldDays.listToProve(30, 8, Date.now())).toEqual([]);
  });

  it('that differs from its detached table is not recorded as proven by its objects alone', async () => {
    const table = `detached_${tableOf(busy)}`;
    await tamper(
      stores.url,
      `create table kept as select * from ${table}; update ${table} set resource = 'other' where receipt_id = (select min(receipt_id) from ${table})`,
    );
    const problem = await proveDay(packing(), busy, never, { isCopied: true });
    expect(problem).toContain('its objects differ from what is kept');
    await expire();
    await expect(packDays(packing(), never)).rejects.toMatchObject({ name: 'NotProvenError', days: [busy] });
    await tamper(
      stores.url,
      `delete from ${table}; insert into ${table} select * from kept; drop table kept`,
    );
    await expire();
    expect(await packDays(packing(), never)).toMatchObject({ proven: 1 });
  });

  it.runIf(isDeep)(
    'that was not proven takes no place of days due for their monthly proof, and they take none of its',
    async () => {
      await drop(DUE);
      await due(DUE);
      await stores.first.coldDays.noteProof(busy, 'nothing is stored under that name');
      await expire();
      expect(await stores.first.coldDays.listToProve(30, 1, Date.now())).toEqual([day, busy]);
      for (const one of DUE) await unpack(one);
      // A day that is back does not depend on its objects, so a fault in them does not stop packing.
      await stores.first.coldDays.noteProof(day, 'nothing is stored under that name');
      await expire();
      expect(await stores.first.coldDays.listToProve(30, 9, Date.now())).not.toContain(day);
      expect(await stores.first.coldDays.listBroken()).not.toContainEqual(expect.objectContaining({ day }));
      // A failure of other work on the day is still listed.
      await stores.first.coldDays.noteFailure(day, 'it could not be cleared');
      expect(await stores.first.coldDays.listBroken()).toContainEqual({
        day,
        problem: 'it could not be cleared',
      });
      await tamper(stores.url, 'update cold_days set problem = null, again_at = null where day = $1', [day]);
    },
  );

  it('is proven once a month and not in between; a day with damaged objects is named until a proof succeeds', async () => {
    await drop(DUE.slice(0, 2));
    expect(await packDays(packing(), never)).toMatchObject({ proven: 0 });
    await due(DUE);
    const ageMs = Date.now() - ((await stores.first.coldDays.oldestProofMs()) ?? 0);
    expect(Math.round(ageMs / 86_400_000)).toBe(31);
    const gone = failing(day, new ObjectStoreError('missing', 'nothing is stored under that name'));
    await expect(packDays(packing(gone), never)).rejects.toMatchObject({
      name: 'NotProvenError',
      days: [day],
    });
    expect(await stores.first.coldDays.listBroken()).toEqual([
      { day, problem: 'nothing is stored under that name' },
    ]);
    // The failed day is not read again in each round.
    expect(await stores.first.coldDays.listToProve(30, 8, Date.now())).toEqual([]);
    await tamper(stores.url, `update cold_days set again_at = now() - interval '1 second' where day = $1`, [
      day,
    ]);
    expect(await stores.first.coldDays.listToProve(30, 8, Date.now())).toEqual([day]);
    // A store that cannot be reached, or refuses the credentials, says nothing about the day.
    for (const kind of ['unavailable', 'refused'] as const) {
      const error = new ObjectStoreError(kind, `it is ${kind}`);
      const away = { ...failing(day, error), head: () => Promise.reject(error) };
      await expect(packDays(packing(away), never)).rejects.toThrow(`it is ${kind}`);
    }
    expect(await stores.first.coldDays.listBroken()).toEqual([
      { day, problem: 'nothing is stored under that name' },
    ]);
    expect(await packDays(packing(), never)).toMatchObject({ proven: 1 });
    expect(await stores.first.coldDays.listBroken()).toEqual([]);
    expect(await stores.first.coldDays.listToProve(30, 8, Date.now())).toEqual([]);
  });
});
