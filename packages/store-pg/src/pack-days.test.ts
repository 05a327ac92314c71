/**
 * Whatever fails, a day is recorded as packed only when its objects exist, were read back, and match what was
 * published.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type DayWork,
  dayWork,
  manifestName,
  type PackDaysDeps,
  packDays,
  packNamedDay,
  parseColdDay,
  proveReceipts,
} from '@svc/cold-ledger';
import { openObjects } from '@svc/object-store';
import type { Sha256 } from '@svc/protocol';
import { type ObjectStore, ObjectStoreError, StoreError } from '@svc/service';
import { tamper } from '@svc/testkit';
import { makeMemoryFolder } from '@svc/testkit/cluster-folder';
import { BEHAVIOURS, startS3Server } from '@svc/testkit/s3-server';
import { sampled, sampleOf } from '@svc/testkit/sampled';
import {
  bringBack,
  coldPlaceOf,
  createColdWorld,
  DUE,
  packingOf,
  type Receipt,
  withPackedDays,
} from '@svc/testkit/store/cold-world';
import { withObjectFolders } from '@svc/testkit/store/object-folders';
import { withStores } from '@svc/testkit/store/open-store';
import { alterFunction, runSql, withSession } from '@svc/testkit/store/session';
import { dayAfter } from '@svc/transparency';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { databaseOn } from '../test/database-on.ts';
import { Killed, through } from '../test/killed-packer.ts';
import { ColdReader } from './cold/cold-reader.ts';
import { readDayRows } from './cold/day-rows.ts';
import { checkpointRepository } from './repositories/checkpoints.ts';

const stores = withStores();
const root = makeMemoryFolder();
afterAll(() => rmSync(root, { recursive: true, force: true }));

const openFolder = withObjectFolders();
const packed = withPackedDays(stores, openFolder);

const never = new AbortController().signal;
const pack = (objects: ObjectStore, change: Partial<PackDaysDeps> = {}, store = stores.first) =>
  packDays({ ...packingOf(stores.url, store, objects), ...change }, never);

let world: readonly Receipt[];
beforeAll(async () => {
  world = await createColdWorld(stores.url, stores.first);
});
beforeEach(() => bringBack(stores.url));

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const NOTHING = { packed: 0, broken: 0, cleared: 0, detached: 0, dropped: 0, deleted: 0, proven: 0 };

const recorded = () =>
  runSql<{ day: string; state: string; manifest: string }>(
    stores.url,
    'select day::text, state, manifest from cold_days order by cold_days.day',
  );

/** Makes failed days due for another try. */
const later = () =>
  tamper(
    stores.url,
    `update cold_days set again_at = now() - interval '1 second' where again_at is not null`,
  );

/**
 * Checks that every Receipt of every due day can be read to the byte, hot or cold. Answers the days recorded so far.
 */
const expectWhole = async (objects: ObjectStore): Promise<readonly string[]> => {
  const rows = (await recorded()).filter(({ state }) => state !== 'broken');
  expect(rows.map(({ state }) => state).filter((state) => !['recorded', 'cold'].includes(state))).toEqual([]);
  const leaves = await withSession(stores.url, async (session) => {
    const { listLeavesAgain } = checkpointRepository(
      databaseOn(session),
      new ColdReader(coldPlaceOf(objects)),
    );
    const found: string[] = [];
    for (const day of DUE) {
      const { receiptIds, contentHashes } = await listLeavesAgain(day, null, 1_000);
      found.push(
        ...receiptIds.map((id, i) => `${id} ${Buffer.from(contentHashes[i] ?? []).toString('hex')}`),
      );
    }
    return found;
  });
  const published = world.filter(({ at }) => at < Date.parse(dayAfter(DUE.at(-1) ?? '')));
  expect(leaves).toEqual(
    published.map(({ id, jws }) => `${id} ${createHash('sha256').update(jws).digest('hex')}`).sort(),
  );
  // The objects of every recorded day can be read, whether it has left the ledger or not.
  for (const { manifest } of rows) await proveReceipts(objects, parseColdDay(manifest).tables);
  return rows.map(({ day }) => day);
};

/** The same, and every day has left the ledger. */
const expectCold = async (objects: ObjectStore): Promise<void> => {
  await expectWhole(objects);
  expect((await recorded()).map(({ day, state }) => [day, state])).toEqual(DUE.map((day) => [day, 'cold']));
  const [left] = await runSql<{ count: number }>(
    stores.url,
    `select count(*)::integer as count from receipts where evaluated_at < $1::date + 1`,
    [DUE.at(-1)],
  );
  expect(left?.count).toBe(0);
};

const listAll = async (objects: ObjectStore, day: string): Promise<string[]> => {
  const names: string[] = [];
  for (let after: string | null = null; ; ) {
    const page = await objects.list(day, after, 1_000);
    names.push(...page.names);
    if (page.next === null) return names;
    after = page.next;
  }
};

it('packDays packs every due day, empty days too, and no other day; the next round has nothing to do', async () => {
  const objects = await openFolder();
  expect(await pack(objects)).toEqual({ ...NOTHING, packed: DUE.length, detached: DUE.length });
  await expectCold(objects);
  expect(await pack(objects)).toEqual(NOTHING);
});

it('a day that is packed by name just after its end stays in the ledger while requests may be repeated', async () => {
  const { verify } = stores.first;
  const objects = await openFolder();
  const day = DUE.at(-1) ?? '';
  const endMs = Date.parse(dayAfter(day));
  const last = world.findLast(({ at }) => at < endMs);
  if (last?.rp === undefined) throw new Error('the day has Receipts');
  const roundAt = async (hours: number) => {
    const clock = { nowMs: () => endMs + hours * 3_600_000, resync: async () => {} };
    await pack(objects, { clock } as unknown as Partial<PackDaysDeps>);
    return (await recorded()).map(({ state }) => state);
  };
  await packNamedDay(packingOf(stores.url, stores.first, objects), day, never);
  await tamper(
    stores.url,
    'insert into idempotency_keys (relying_party, key, body_hash, receipt_id, created_at) values ($1, $2, $3, $4, now())',
    [last.rp, 'key', 'h'.repeat(43), last.id],
  );
  onTestFinished(() => tamper(stores.url, 'delete from idempotency_keys'));
  expect(await roundAt(1.5)).toEqual(['recorded']);
  expect((await verify.findIdempotent(last.rp, 'key'))?.receipt.jws).toBe(last.jws);
  expect(await roundAt(2.5)).toEqual(['cold']);
});

it('packDays skips a day that was not counted, not read for evidence, or not found intact recently', async () => {
  const objects = await openFolder();
  const [first = '', second = ''] = DUE;
  const changes = [
    ['ledger_count set counted_before', `svc_lowest_receipt_id('${second}')`, [first]],
    ['evidence_naming set named_before', `svc_lowest_receipt_id('${second}')`, [first]],
    ['content_checks set checked_at', `now() - interval '37 hours'`, []],
    ['content_checks set is_intact', 'false', []],
  ] as const;
  for (const [change, value, days] of changes) {
    const [table = '', , column = ''] = change.split(' ');
    await tamper(stores.url, `create table kept as select * from ${table}; update ${change} = ${value}`);
    await pack(objects);
    await tamper(
      stores.url,
      `delete from ${table}; insert into ${table} select * from kept; drop table kept`,
    );
    expect(
      (await recorded()).map(({ day }) => day),
      column,
    ).toEqual(days);
    await bringBack(stores.url);
  }
});

it('two packers at once record each day once, store identical objects, and leave no unrecorded manifest', async () => {
  const objects = await openFolder();
  const counts = await Promise.all([pack(objects), pack(objects, {}, stores.second)]);
  expect(counts.every(({ broken }) => broken === 0)).toBe(true);
  await expectCold(objects);
  for (const { day, manifest } of await recorded()) {
    const named = Object.values(parseColdDay(manifest).tables)
      .flat()
      .map(({ name }) => name);
    const parquet = (await listAll(objects, day)).filter((name) => name.endsWith('.parquet'));
    expect(parquet).toEqual(named.sort());
  }
  const hashes = (await stores.first.coldDays.listLatestManifests(100)).map((one) =>
    manifestName(one.day, one.manifestHash),
  );
  const stored = await Promise.all(DUE.map((day) => listAll(objects, day)));
  expect(stored.flat().filter((name) => name.endsWith('.jws'))).toEqual(hashes.sort());
});

it('a packer that was overtaken deletes its own manifest, and not the recorded one', async () => {
  const objects = await openFolder();
  const [day = ''] = DUE;
  let nowMs = Date.now();
  const clock = { nowMs: () => nowMs, resync: async () => {} } as unknown as PackDaysDeps['clock'];
  const { coldDays } = stores.first;
  let isOvertaken = false;
  const record: typeof coldDays.record = async (...args) => {
    if (!isOvertaken) {
      isOvertaken = true;
      nowMs += 5_000;
      expect(await packNamedDay(packingOf(stores.url, stores.first, objects), day, never)).toBe('packed');
      expect(await listAll(objects, `${day}/manifests`)).toHaveLength(2);
    }
    return coldDays.record(...args);
  };
  nowMs -= 60_000;
  const store = { ...stores.first, coldDays: { ...coldDays, record } };
  await packNamedDay({ ...packingOf(stores.url, stores.first, objects), store, clock }, day, never);
  const [recordedOne] = await coldDays.listLatestManifests(1);
  expect(await listAll(objects, `${day}/manifests`)).toEqual([
    manifestName(day, recordedOne?.manifestHash as Sha256),
  ]);
});

const FIRST = `detached_receipts_${DUE[0]?.replaceAll('-', '')}`;

/** Runs `work` when the grace period of the first day is over. Afterwards restores what it removed. */
const onceOver = async (work: () => Promise<void>): Promise<void> => {
  await tamper(
    stores.url,
    `create table kept as select * from ${FIRST};
     update cold_days set detached_at = now() - interval '25 hours' where day = '${DUE[0]}'`,
  );
  await work();
  await tamper(
    stores.url,
    `drop table if exists ${FIRST};
     create table ${FIRST} (like receipts including all); insert into ${FIRST} select * from kept; drop table kept;
     create trigger refuse_change before delete on ${FIRST} for each row execute function svc_refuse_change()`,
  );
};

it('packed days and detached rows are append-only; a detached day is dropped after its time and a new proof', async () => {
  const objects = await packed();
  for (const change of [
    `delete from ${FIRST}`,
    `truncate ${FIRST}`,
    `insert into ${FIRST} select * from ${FIRST}`,
    'delete from cold_days',
    'truncate cold_days',
    `update cold_days set manifest = 'x', manifest_hash = 'x'`,
    `update cold_days set state = 'broken', manifest = null, manifest_hash = null, problem = 'x'`,
  ])
    await expect(runSql(stores.url, change), change).rejects.toMatchObject({ code: '42501' });
  await onceOver(async () => {
    const missing = () => Promise.reject(new ObjectStoreError('missing', 'nothing is stored'));
    const lacking: ObjectStore = Object.assign(Object.create(objects), {
      getRange: (...[name, range, stop]: Parameters<ObjectStore['getRange']>) =>
        name.startsWith(`${DUE[0]}/`) ? missing() : objects.getRange(name, range, stop),
    });
    await expect(pack(lacking)).rejects.toMatchObject({ name: 'NotProvenError', days: [DUE[0]] });
    expect(await stores.first.coldDays.listBroken()).toEqual([
      { day: DUE[0], problem: expect.stringContaining('not') },
    ]);
    await later();
    const warned: unknown[] = [];
    const log = { ...quiet, warn: (...line: unknown[]) => warned.push(line) };
    // A role that may not remove the day still reads its objects again.
    const powerless = { ...stores.first.coldDays, mayDrop: async () => false };
    const store = { coldDays: powerless, checkpoints: stores.first.checkpoints };
    expect(await pack(objects, { store, log })).toEqual({ ...NOTHING, proven: 1 });
    expect(warned).toEqual([['cold.not_dropped', { days: 1, first: DUE[0] }]]);
    expect(await pack(objects)).toEqual({ ...NOTHING, dropped: 1 });
    expect(await stores.first.coldDays.listBroken()).toEqual([]);
    expect(await runSql(stores.url, `select from pg_class where relname = '${FIRST}'`)).toEqual([]);
    await expectCold(objects);
  });
});

it('a day that cannot be proven stays in the ledger and is named, and the days after it leave', async () => {
  const objects = await packed([]);
  const [first = '', ...others] = DUE;
  const damaged: ObjectStore = Object.assign(Object.create(objects), {
    head: async (name: string) => (name.startsWith(first) ? null : objects.head(name)),
    ...Object.fromEntries(
      (['get', 'getRange'] as const).map((name) => [
        name,
        (...args: [string, never]) =>
          args[0].startsWith(first)
            ? Promise.reject(new ObjectStoreError('missing', `${args[0]} is not there`))
            : objects[name](...args),
      ]),
    ),
  });
  await expect(pack(damaged)).rejects.toMatchObject({ name: 'NotProvenError', days: [first] });
  const states = (await recorded()).map(({ day, state }) => [day, state]);
  expect(states).toEqual([[first, 'recorded'], ...others.map((day) => [day, 'cold'])]);
  expect((await stores.first.coldDays.listBroken()).map(({ day }) => day)).toEqual([first]);
  // The failed day is not read again in each round.
  expect(await pack(damaged)).toEqual(NOTHING);
  await later();
  expect(await pack(objects)).toEqual({ ...NOTHING, detached: 1 });
  expect(await stores.first.coldDays.listBroken()).toEqual([]);
  await expectCold(objects);
});

it('a day that was detached or dropped is not reported as broken if only the answer was lost', async () => {
  const objects = await openFolder();
  const said: unknown[] = [];
  const log = { ...quiet, error: (...line: unknown[]) => said.push(line) };
  const { checkpoints, coldDays } = stores.first;
  const lost = async (done: Promise<boolean>): Promise<boolean> => {
    await done;
    throw new StoreError('ambiguous', 'no answer came');
  };
  const detach = (day: string) => lost(coldDays.detach(day));
  const left = await pack(objects, { store: { coldDays: { ...coldDays, detach }, checkpoints }, log });
  expect(left).toEqual({ ...NOTHING, packed: DUE.length, detached: DUE.length });
  await onceOver(async () => {
    const drop = (...args: Parameters<typeof coldDays.drop>) => lost(coldDays.drop(...args));
    const over = await pack(objects, { store: { coldDays: { ...coldDays, drop }, checkpoints }, log });
    expect(over).toEqual({ ...NOTHING, dropped: 1 });
  });
  expect(await coldDays.listBroken()).toEqual([]);
  expect(said).toEqual([]);
});

it('a day whose detaching failed without an answer is named, and leaves an hour later', async () => {
  const objects = await openFolder();
  const { checkpoints, coldDays } = stores.first;
  const [day = ''] = DUE;
  const detach = async (of: string): Promise<boolean> => {
    if (of === day) throw new StoreError('ambiguous', 'no answer came');
    return coldDays.detach(of);
  };
  const store = { coldDays: { ...coldDays, detach }, checkpoints };
  await expect(pack(objects, { store })).rejects.toMatchObject({ name: 'NotProvenError', days: [day] });
  expect(await coldDays.listBroken()).toEqual([{ day, problem: 'it could not leave: no answer came' }]);
  await later();
  expect(await pack(objects)).toEqual({ ...NOTHING, detached: 1 });
});

it('a lock time-out of the ledger ends the detaching of the round: it is awaited for one day, not for each', async () => {
  const objects = await packed([]);
  const asked = new Set<string>();
  const detach = async (day: string): Promise<boolean> => {
    asked.add(day);
    throw new StoreError('lock_timeout', 'somebody reads the ledger');
  };
  const { checkpoints } = stores.first;
  const store = { coldDays: { ...stores.first.coldDays, detach }, checkpoints };
  expect(await pack(objects, { store, lockPauseMs: 1 })).toEqual(NOTHING);
  expect([...asked]).toEqual([DUE[0]]);
}, 20_000);

/** Shortens a time limit of a database function until the end of the test. */
const hurry = async (name: string, limit: string, shorter: string): Promise<void> => {
  const source = await alterFunction(stores.url, name, `'${limit}'`, `'${shorter}'`);
  onTestFinished(async () => void (await runSql(stores.url, source)));
};

it('a dump that reads a detached day delays its removal, and does not mark the day as broken', async () => {
  const objects = await packed();
  await hurry('svc_drop_detached_day', '2s', '200ms');
  await onceOver(async () => {
    await withSession(stores.url, async (reader) => {
      await reader.query('begin');
      await reader.query(`select from ${FIRST} limit 1`);
      const warned: unknown[] = [];
      const log = { ...quiet, warn: (event: string) => warned.push(event) };
      expect(await pack(objects, { log })).toEqual(NOTHING);
      expect(warned).toEqual(['cold.locked']);
      expect(await stores.first.coldDays.listBroken()).toEqual([]);
    });
    expect(await pack(objects)).toEqual({ ...NOTHING, dropped: 1 });
  });
}, 60_000);

it('a session that holds a lock of the ledger delays detaching, and the log names the session', async () => {
  const objects = await packed([]);
  await hurry('svc_detach_day', '100ms', '10ms');
  const warned: unknown[] = [];
  const log = { ...quiet, warn: (...line: unknown[]) => warned.push(line) };
  await withSession(stores.url, async (reader) => {
    await reader.query('begin');
    await reader.query('select from receipts limit 1');
    expect(await pack(objects, { log, lockPauseMs: 1 })).toEqual(NOTHING);
    expect(warned).toEqual([
      [
        'cold.locked',
        {
          day: DUE[0], // An attempt that was given up may still hold its lock.
          holders: expect.arrayContaining([
            expect.stringMatching(/idle in transaction AccessShareLock for \d+ s/),
          ]),
        },
      ],
    ]);
  });
  expect(await pack(objects)).toEqual({ ...NOTHING, detached: DUE.length });
}, 60_000);

it('detaching waits for a vacuum of the partition before it asks for any lock of the ledger', async () => {
  const objects = await packed([]);
  await hurry('svc_detach_day', '1500ms', '300ms');
  const [day = ''] = DUE;
  const table = `receipts_${day.replaceAll('-', '')}`;
  while (!(await stores.first.coldDays.keepVerifiers(day, 1_000)));
  await withSession(stores.url, async (vacuum) => {
    await vacuum.query('begin');
    await vacuum.query(`lock table ${table} in share update exclusive mode`);
    let isSeen = false;
    // Each call waits for its lock time-out, and is refused.
    const detaching = (async () => {
      while (!isSeen)
        await expect(runSql(stores.url, 'select svc_detach_day($1)', [day])).rejects.toMatchObject({
          code: '55P03',
        });
    })();
    await vi.waitFor(
      async () => {
        const locks = await runSql<{ isPartition: boolean; mode: string }>(
          stores.url,
          `select relation = '${table}'::regclass as "isPartition", mode from pg_locks
           where pid in (select pid from pg_locks where not granted and relation = '${table}'::regclass)
             and relation in ('receipts'::regclass, '${table}'::regclass)`,
        );
        expect(locks).toEqual([{ isPartition: true, mode: 'ShareUpdateExclusiveLock' }]);
      },
      { timeout: 30_000 },
    );
    isSeen = true;
    await detaching;
    await vacuum.query('commit');
  });
  expect(await pack(objects)).toMatchObject({ detached: DUE.length });
  await expectCold(objects);
}, 60_000);

it('a day that cannot be packed is named and retried hours later, and the days after it are packed and leave', async () => {
  const objects = await openFolder();
  const [first = '', ...others] = DUE;
  let tried = 0;
  const work = dayWork({ objects, readDayRows: (day, use, from) => readDayRows(stores.url, day, use, from) });
  const full: DayWork = {
    ...work,
    pack(day, stop) {
      if (day !== first) return work.pack(day, stop);
      tried += 1;
      return Promise.reject(new Error('it does not fit into the heap'));
    },
  };
  const logged: unknown[] = [];
  const log = { ...quiet, error: (...line: unknown[]) => logged.push(line) };
  await expect(pack(objects, { work: full, log })).rejects.toThrow('does not fit into the heap');
  const problem = 'it could not be packed: it does not fit into the heap';
  expect(logged).toEqual([['cold.not_packed', { day: first, problem }]]);
  const states = (await recorded()).map(({ day, state }) => [day, state]);
  expect(states).toEqual([[first, 'broken'], ...others.map((day) => [day, 'cold'])]);
  expect(await stores.first.coldDays.listBroken()).toEqual([{ day: first, problem }]);
  await tamper(
    stores.url,
    `update cold_days set again_at = again_at - interval '2 hours' where state = 'broken'`,
  );
  expect(await pack(objects, { work: full })).toEqual(NOTHING);
  expect(tried).toBe(1);
  await tamper(
    stores.url,
    `update cold_days set again_at = again_at - interval '2 hours' where state = 'broken'`,
  );
  expect(await pack(objects)).toEqual({ ...NOTHING, packed: 1, detached: 1 });
  await expectCold(objects);
});

it('packDays refuses an object store other than the one that holds the packed days, such as an unmounted folder', async () => {
  const objects = await packed();
  const before = await recorded();
  const other = await openFolder();
  await expect(pack(other)).rejects.toThrow('SVC_COLD must name the store');
  await tamper(stores.url, `update cold_days set detached_at = now() - interval '30 days'`);
  await expect(pack(other)).rejects.toThrow('SVC_COLD must name the store');
  await tamper(stores.url, 'update cold_days set detached_at = now()');
  expect(await recorded()).toEqual(before);
  expect(await pack(objects)).toEqual(NOTHING);
});

describe('a folder of objects that is replaced by an empty one during a round', () => {
  /** The step before or after which the folder goes, and the states of the days then. */
  const moments = [
    ['before the second day is packed', 'pack', 'before', ['recorded']],
    ['once the second day is packed', 'pack', 'after', ['recorded']],
    ['before the second day is proven to leave', 'findProblem', 'before', ['cold', 'recorded', 'recorded']],
    ['once the second day is proven to leave', 'findProblem', 'after', ['cold', 'recorded', 'recorded']],
  ] as const;
  let places = 0;
  const taken = async (change: (work: DayWork, take: () => Promise<void>) => DayWork) => {
    const place = join(root, `${places++}`);
    const kept = `${place}-kept`;
    const open = async () => (await openObjects(pathToFileURL(place).href, null)).objects;
    const objects = await open();
    const readRows: PackDaysDeps['readDayRows'] = (day, use, from) => readDayRows(stores.url, day, use, from);
    const take = async () => {
      renameSync(place, kept);
      mkdirSync(place);
      // A process that starts now takes the folder for a new store.
      await open();
    };
    const giveBack = () => {
      rmSync(place, { recursive: true });
      renameSync(kept, place);
    };
    const work = change(dayWork({ objects, readDayRows: readRows }), take);
    return { objects, work, giveBack };
  };

  it.each(sampleOf(moments, 2))(
    '%s: no day is recorded, detached or called broken, and the next round goes on once the folder is back',
    async (_, what, when, states) => {
      let count = 0;
      const { objects, work, giveBack } = await taken((whole, take) => ({
        ...whole,
        [what]: async (...args: never[]) => {
          count += 1;
          if (count === 2 && when === 'before') await take();
          const done = await (whole[what] as (...given: never[]) => Promise<unknown>)(...args);
          if (count === 2 && when === 'after') await take();
          return done;
        },
      }));
      await expect(pack(objects, { work })).rejects.toThrow('SVC_COLD must name the store');
      expect((await recorded()).map(({ state }) => state)).toEqual(states);
      expect(await stores.first.coldDays.listBroken()).toEqual([]);
      giveBack();
      await pack(objects);
      await expectCold(objects);
    },
  );

  it('after the comparison of a day that is due to be dropped: the day is kept', async () => {
    const { objects, work, giveBack } = await taken((whole, take) => ({
      ...whole,
      findLoss: async (...args) => {
        const loss = await whole.findLoss(...args);
        await take();
        return loss;
      },
    }));
    await pack(objects);
    await onceOver(async () => {
      await expect(pack(objects, { work })).rejects.toThrow('SVC_COLD must name the store');
      expect(await runSql(stores.url, `select from cold_days where dropped_at is not null`)).toEqual([]);
      expect(await stores.first.coldDays.listBroken()).toEqual([]);
      giveBack();
      expect(await pack(objects)).toEqual({ ...NOTHING, dropped: 1 });
    });
  });

  it('is not assumed if one of three manifests is lost, and is assumed if two are', async () => {
    const objects = await packed([]);
    const names = (await stores.first.coldDays.listLatestManifests(3)).map(({ day, manifestHash }) =>
      manifestName(day, manifestHash),
    );
    await objects.delete(names[0] ?? '');
    expect(await pack(objects)).toEqual({ ...NOTHING, detached: DUE.length });
    await objects.delete(names[1] ?? '');
    await expect(pack(objects)).rejects.toThrow('SVC_COLD must name the store');
  });
});

it('findLoss holds no transaction open while it reads the objects of a day', async () => {
  const objects = await packed();
  const [first] = await recorded();
  const open: number[] = [];
  const watched: ObjectStore = Object.assign(Object.create(objects), {
    getRange: async (...args: Parameters<ObjectStore['getRange']>) => {
      const sessions = await runSql(
        stores.url,
        `select from pg_stat_activity
         where datname = current_database() and pid != pg_backend_pid() and xact_start is not null and backend_type = 'client backend'`,
      );
      open.push(sessions.length);
      return objects.getRange(...args);
    },
  });
  const { findLoss } = dayWork(packingOf(stores.url, stores.first, watched));
  expect(await findLoss(parseColdDay(first?.manifest ?? ''), never)).toBeNull();
  expect(open.length).toBeGreaterThan(0);
  expect(open).toEqual(open.map(() => 0));
});

it('a missing bucket marks no day as broken, although S3 answers HEAD as for a missing object', async () => {
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, 'any');
  const gone = createServer((request, response) => {
    request.resume();
    response.writeHead(404, { 'content-type': 'application/xml' });
    response.end(
      request.method === 'HEAD'
        ? undefined
        : '<Error><Code>NoSuchBucket</Code><Message>none</Message></Error>',
    );
  });
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = gone.address() as AddressInfo;
    const opened = await openObjects('s3://gone/ledger', `http://127.0.0.1:${port}`, {
      patience: { attemptMs: 2_000, pauseMs: 1 },
    });
    await expect(pack(opened.objects)).rejects.toMatchObject({ name: 'ObjectStoreError' });
    expect(await recorded()).toEqual([]);
    opened.close();
  } finally {
    gone.close();
    vi.unstubAllEnvs();
  }
});

it('a store that does not answer marks no day as broken', async () => {
  const away = () => Promise.reject(new ObjectStoreError('unavailable', 'no answer'));
  const objects: ObjectStore = { put: away, get: away, getRange: away, head: away, list: away, delete: away };
  await expect(pack(objects)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await recorded()).toEqual([]);
  const folder = await packed([]);
  await expect(pack(objects)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await stores.first.coldDays.listBroken()).toEqual([]);
  expect(await pack(folder)).toEqual({ ...NOTHING, detached: DUE.length });
});

it('a short outage marks no day as broken: each day is packed, proven and detached in the same round', async () => {
  const objects = await openFolder();
  const work = dayWork({ objects, readDayRows: (day, use, from) => readDayRows(stores.url, day, use, from) });
  const met = new Set<string>();
  /** True the first time that it is called for a day. */
  const fails = (what: string) => {
    if (met.has(what)) return false;
    met.add(what);
    return true;
  };
  const away: DayWork = {
    ...work,
    pack: (day, stop) =>
      fails(`pack ${day}`)
        ? Promise.reject(new StoreError('unavailable', 'no answer'))
        : work.pack(day, stop),
    findProblem: (manifest, published, stop) =>
      fails(`prove ${manifest.day}`)
        ? Promise.reject(new ObjectStoreError('unavailable', 'no answer'))
        : work.findProblem(manifest, published, stop),
  };
  const said: unknown[] = [];
  const log = { ...quiet, error: (...line: unknown[]) => said.push(line) };
  const round = await pack(objects, { work: away, log });
  expect(round).toEqual({ ...NOTHING, packed: DUE.length, detached: DUE.length });
  expect(met.size).toBe(2 * DUE.length);
  expect(said).toEqual([]);
});

/** The steps of a round without faults; recorded once for all tests. */
let round: Promise<string[]> | undefined;
const stepsOfRound = () => (round ??= readSteps());
const readSteps = async (): Promise<string[]> => {
  const steps: string[] = [];
  const deps = packingOf(stores.url, stores.first, await openFolder());
  await packDays(
    through(deps, (what, work) => {
      steps.push(what);
      return work();
    }),
    never,
  );
  await bringBack(stores.url);
  return steps;
};

describe('a packer that is killed', () => {
  it(
    'before or after any statement or request records no incomplete day, and the next round completes',
    async () => {
      const steps = await stepsOfRound();
      const kinds = [
        'listLatestManifests',
        'listDue',
        'record',
        'listToClear',
        'listToDetach',
        'findManifest',
        'find',
        'noteProof',
        'keepVerifiers',
        'detach',
        'listToDrop',
        'listToPurge',
        'listToProve',
      ];
      expect(new Set(steps)).toEqual(
        new Set([
          'rows',
          'objects put',
          'objects getRange',
          'objects get',
          'objects head',
          ...kinds.map((kind) => `store ${kind}`),
        ]),
      );
      const cuts = steps.flatMap((_, step) => [
        { step, when: 'before' },
        { step, when: 'after' },
      ]);
      for (const { step, when } of sampled({ quick: sampleOf(cuts, 4).slice(1, -1), deep: cuts })) {
        const objects = await openFolder();
        let count = -1;
        const killed = packDays(
          through(packingOf(stores.url, stores.first, objects), async (_, work) => {
            count += 1;
            if (count > step || (count === step && when === 'before')) throw new Killed();
            const done = await work();
            if (count === step) throw new Killed();
            return done;
          }),
          never,
        );
        await expect(killed).rejects.toThrow(Killed);
        const days = await expectWhole(objects);
        expect(await pack(objects)).toMatchObject({ packed: DUE.length - days.length, broken: 0 });
        await expectCold(objects);
        await bringBack(stores.url);
      }
    },
    sampled({ quick: 120_000, deep: 1_200_000 }),
  );
});

describe('a packer that is killed', () => {
  const moments = [
    ['before', 1],
    ['after', 0],
  ] as const;
  it.each(sampleOf(moments, 1))(
    '%s a day is dropped: the day is there or gone as recorded, and the next round completes',
    async (when, dropped) => {
      const objects = await packed();
      await onceOver(async () => {
        let isKilled = false;
        const killed = packDays(
          through(packingOf(stores.url, stores.first, objects), async (what, work) => {
            if (!isKilled && what !== 'store drop') return work();
            if (!isKilled && when === 'after') await work();
            isKilled = true;
            throw new Killed();
          }),
          never,
        );
        await expect(killed).rejects.toThrow(Killed);
        const [row] = await runSql(
          stores.url,
          `select dropped_at is null as "isKept", to_regclass('${FIRST}') is not null as "isThere" from cold_days where day = '${DUE[0]}'`,
        );
        expect(row).toEqual({ isKept: when === 'before', isThere: when === 'before' });
        expect(await pack(objects)).toEqual({ ...NOTHING, dropped });
        await expectCold(objects);
      });
    },
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

  const lies = [
    ...(['halve', 'fail', 'drip', 'cut', 'shorten', 'flip', 'whole'] as const),
    ...(['unconditional', 'no-conditions', 'lose-answer', 'forget', 'hang'] as const),
  ];
  it.each(sampleOf(lies, 1).map((how) => [BEHAVIOURS[how], how] as const))(
    '%s, at any request: no incomplete day is recorded, and the next round completes',
    async (_, how) => {
      const server = await startS3Server('cold');
      const opened = await openObjects('s3://cold/ledger', server.endpoint, {
        patience: { attemptMs: 150, pauseMs: 1 },
      });
      const honest = await openObjects('s3://cold/ledger', server.endpoint);
      try {
        const steps = (await stepsOfRound()).filter((step) => step.startsWith('objects'));
        for (const at of sampleOf([...steps.keys()], 1)) {
          server.objects.clear();
          let count = -1;
          const lied = packDays(
            through(packingOf(stores.url, stores.first, opened.objects), async (what, work) => {
              if (what.startsWith('objects')) server.behave(++count === at ? how : 'well');
              return work();
            }),
            never,
          );
          await lied.catch((error: unknown) =>
            expect(error).toMatchObject({ name: expect.stringMatching(/^(ObjectStore|NotProven)Error$/) }),
          );
          server.behave('well');
          await expectWhole(honest.objects);
          await later();
          await pack(honest.objects);
          await expectCold(honest.objects);
          await bringBack(stores.url);
        }
      } finally {
        opened.close();
        honest.close();
        await server.stop();
      }
    },
    sampled({ quick: 60_000, deep: 900_000 }),
  );

  it('forgets the stored bytes makes a packer that does not read them back lose a day: the test can fail', async () => {
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
      get: async (name: string) => put.get(name),
      head: async (name: string) => put.get(name)?.length ?? null,
      getRange: async (name: string, { offset, length }: { offset: number; length: number }) =>
        put.get(name)?.subarray(offset, offset + length),
    });
    try {
      server.behave('forget');
      await pack(trusting);
      server.behave('well');
      expect((await recorded()).map(({ state }) => state)).toEqual(DUE.map(() => 'cold'));
      await expect(expectWhole(objects)).rejects.toMatchObject({ kind: 'unavailable' });
    } finally {
      opened.close();
      await server.stop();
    }
  });
});

describe('a day that differs from what was published', () => {
  const [day = ''] = DUE;
  const ofDay = `evaluated_at >= date '${day}' and evaluated_at < date '${day}' + 1`;
  const one = `receipt_id = (select min(receipt_id) from receipts where ${ofDay})`;
  const changes: [what: string, change: string, problem: string][] = [
    ['a byte of a Receipt differs', `update receipts set jws = jws || 'x' where ${one}`, 'content root'],
    ['a Receipt is missing', `delete from receipts where ${one}`, 'its checkpoint says'],
    [
      'the id of a Receipt differs',
      `update receipts set receipt_id = left(receipt_id, 29) || case right(receipt_id, 1) when 'Z' then 'Y' else 'Z' end where ${one}`,
      'its ids lead to',
    ],
  ];
  it.each(sampleOf(changes, 1))(
    'because %s, is not packed, is marked broken, and is packed once that is mended',
    async (_, change, problem) => {
      const objects = await openFolder();
      await tamper(stores.url, `create table kept as select * from receipts where ${ofDay}; ${change}`);
      try {
        expect(await pack(objects)).toMatchObject({ packed: DUE.length - 1, broken: 1 });
        expect(await stores.first.coldDays.listBroken()).toEqual([
          { day, problem: expect.stringContaining(problem) },
        ]);
        expect(await stores.first.coldDays.findManifest(day)).toBeNull();
        expect(await pack(objects)).toEqual(NOTHING);
      } finally {
        await tamper(
          stores.url,
          `delete from receipts where ${ofDay}; insert into receipts select * from kept; drop table kept`,
        );
      }
      await later();
      expect(await pack(objects)).toMatchObject({ packed: 1, broken: 0 });
      await expectCold(objects);
      expect(await stores.first.coldDays.listBroken()).toEqual([]);
    },
  );
});
