/** A day is recorded as packed only when its objects are there, are read back and are what was published: whatever fails. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type PackDaysDeps, packDays, parseColdDay, proveReceipts } from '@svc/cold-ledger';
import { openObjects } from '@svc/object-store';
import type { ObjectStore } from '@svc/service';
import { tamper } from '@svc/testkit';
import { BEHAVIOURS, startS3Server } from '@svc/testkit/s3-server';
import { sampleOf } from '@svc/testkit/sampled';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql, withSession } from '@svc/testkit/store/session';
import { dayAfter } from '@svc/transparency';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bringBack, createColdWorld, DUE, databaseOn, packingOf, type Receipt } from '../test/cold-world.ts';
import { ColdReader } from './cold/cold-reader.ts';
import { checkpointRepository } from './repositories/checkpoints.ts';

const stores = withStores();
const root = mkdtempSync(join(tmpdir(), 'svc-pack-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folder = 0;
/** An empty one. */
const openFolder = async (): Promise<ObjectStore> =>
  (await openObjects(pathToFileURL(join(root, `${folder++}`)).href, null)).objects;

const never = new AbortController().signal;
const pack = (objects: ObjectStore, change: Partial<PackDaysDeps> = {}, store = stores.first) =>
  packDays({ ...packingOf(stores.url, store, objects), ...change }, never);

let world: readonly Receipt[];
beforeAll(async () => {
  world = await createColdWorld(stores.url, stores.first);
});
beforeEach(() => bringBack(stores.url));

const NOTHING = { packed: 0, broken: 0, detached: 0, dropped: 0 };

const recorded = () =>
  runSql<{ day: string; state: string; manifest: string }>(
    stores.url,
    'select day::text, state, manifest from cold_days order by cold_days.day',
  );

/** Every Receipt of every day that is due is read to the byte, from whichever side; the days recorded so far are answered. */
const expectWhole = async (objects: ObjectStore): Promise<readonly string[]> => {
  const rows = await recorded();
  expect(rows.map(({ state }) => state).filter((state) => !['recorded', 'cold'].includes(state))).toEqual([]);
  const leaves = await withSession(stores.url, async (session) => {
    const { listLeavesAgain } = checkpointRepository(databaseOn(session), new ColdReader(objects));
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
  // What is recorded can be read, whether it is by now or not.
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

it('packs every day that is due, an empty one too, and no other; the next round finds nothing to do', async () => {
  const objects = await openFolder();
  expect(await pack(objects)).toEqual({ ...NOTHING, packed: DUE.length, detached: DUE.length });
  await expectCold(objects);
  expect(await pack(objects)).toEqual(NOTHING);
});

it('a day that was not counted, not read for evidence, or not found intact lately is left alone', async () => {
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

it('two packers at once: each day is recorded once, and all they stored is the same', async () => {
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
});

it('what is recorded cannot be changed or deleted, nor what was detached; that is removed once its time is over and it is proven again', async () => {
  const objects = await openFolder();
  await pack(objects);
  const detached = `detached_receipts_${DUE[0]?.replaceAll('-', '')}`;
  for (const change of [
    `delete from ${detached}`,
    `truncate ${detached}`,
    `insert into ${detached} select * from ${detached}`,
    'delete from cold_days',
    'truncate cold_days',
    `update cold_days set manifest = 'x', manifest_hash = 'x'`,
    `update cold_days set state = 'broken', manifest = null, manifest_hash = null, problem = 'x'`,
  ])
    await expect(runSql(stores.url, change), change).rejects.toMatchObject({ code: '42501' });
  await tamper(
    stores.url,
    `create table kept as select * from ${detached}; update cold_days set detached_at = now() - interval '25 hours' where day = '${DUE[0]}'`,
  );
  const empty = await openFolder();
  await expect(pack(empty)).rejects.toMatchObject({ kind: 'missing' });
  expect(await pack(objects)).toEqual({ ...NOTHING, dropped: 1 });
  expect(await runSql(stores.url, `select from pg_class where relname = '${detached}'`)).toEqual([]);
  await expectCold(objects);
  await tamper(
    stores.url,
    `create table ${detached} (like receipts including all); insert into ${detached} select * from kept; drop table kept;
     create trigger refuse_change before delete on ${detached} for each row execute function svc_refuse_change()`,
  );
});

class Killed extends Error {}

/** Every statement and every request of a packer goes by `at`, with what it is; after a kill none does any more. */
const through = (
  deps: PackDaysDeps,
  at: <T>(what: string, work: () => Promise<T>) => Promise<T>,
): PackDaysDeps => {
  const each = <O extends object>(target: O, kind: string): O =>
    new Proxy(target, {
      get: (on, name) => {
        const method = Reflect.get(on, name);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => at(`${kind} ${String(name)}`, () => method.apply(on, args));
      },
    });
  async function* batches<T>(from: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = from[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await at('rows', () => iterator.next());
      if (done) return;
      yield value;
    }
  }
  return {
    ...deps,
    store: {
      coldDays: each(deps.store.coldDays, 'store'),
      checkpoints: each(deps.store.checkpoints, 'store'),
    },
    objects: each(deps.objects, 'objects'),
    readDayRows: (day, work) =>
      deps.readDayRows(day, (rows) =>
        work({
          receipts: () => batches(rows.receipts()),
          attestations: () => batches(rows.attestations()),
          consumptionEvents: () => batches(rows.consumptionEvents()),
        }),
      ),
  };
};

/** What a round does that runs through. */
const stepsOfRound = async (): Promise<string[]> => {
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

describe('killed', () => {
  it('before or after any statement and any request: no day is recorded that is not whole, and the next round ends', async () => {
    const steps = await stepsOfRound();
    const kinds = [
      'listDue',
      'record',
      'listToDetach',
      'findManifest',
      'find',
      'keepVerifiers',
      'detach',
      'listToDrop',
    ];
    expect(new Set(steps)).toEqual(
      new Set([
        'rows',
        'objects put',
        'objects getRange',
        'objects get',
        ...kinds.map((kind) => `store ${kind}`),
      ]),
    );
    const cuts = steps.flatMap((_, step) => [
      { step, when: 'before' },
      { step, when: 'after' },
    ]);
    for (const { step, when } of sampleOf(cuts, 6)) {
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
  }, 120_000);
});

describe('a store that', () => {
  const asked = { AWS_ACCESS_KEY_ID: 'svc:test', AWS_SECRET_ACCESS_KEY: 'secret' };
  const before = Object.keys(asked).map((name) => [name, process.env[name]] as const);
  beforeAll(() => void Object.assign(process.env, asked));
  afterAll(() => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });

  const lies = [
    ...(['hang', 'fail', 'drip', 'cut', 'shorten', 'flip', 'whole'] as const),
    ...(['unconditional', 'no-conditions', 'lose-answer', 'forget'] as const),
  ];
  it.each(sampleOf(lies, 3).map((how) => [BEHAVIOURS[how], how] as const))(
    '%s, at any request: no day is recorded that is not whole, and the next round ends',
    async (_, how) => {
      const server = await startS3Server('cold');
      const opened = await openObjects('s3://cold/ledger', server.endpoint, { attemptMs: 150, pauseMs: 1 });
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
          await lied.catch((error: unknown) => expect(error).toMatchObject({ name: 'ObjectStoreError' }));
          server.behave('well');
          await expectWhole(honest.objects);
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
    60_000,
  );
});

describe('a day that is not what was published', () => {
  const [day = ''] = DUE;
  const ofDay = `evaluated_at >= date '${day}' and evaluated_at < date '${day}' + 1`;
  const one = `receipt_id = (select min(receipt_id) from receipts where ${ofDay})`;
  it.each([
    ['a byte of a Receipt is another', `update receipts set jws = jws || 'x' where ${one}`, 'content root'],
    ['a Receipt is gone', `delete from receipts where ${one}`, 'its checkpoint says'],
    [
      'a Receipt is another',
      `update receipts set receipt_id = left(receipt_id, 29) || case right(receipt_id, 1) when 'Z' then 'Y' else 'Z' end where ${one}`,
      'its ids lead to',
    ],
  ])(
    'since %s, is not packed, is said to be broken, and is tried again once that is mended',
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
      await tamper(stores.url, `update cold_days set recorded_at = now() - interval '25 hours'`);
      expect(await pack(objects)).toMatchObject({ packed: 1, broken: 0 });
      await expectCold(objects);
      expect(await stores.first.coldDays.listBroken()).toEqual([]);
    },
  );
});
