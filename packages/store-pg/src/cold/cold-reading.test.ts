/** Compares the same ledger hot, and with any of its days cold: every call gets the same answer, to the byte. */
import { parseColdDay } from '@svc/cold-ledger';
import type { ApiKeyId, DidWeb, GrantId, OrgId, ReceiptId, Sha256 } from '@svc/protocol';
import { DAY_MS, dayOf, ulidTimeMs } from '@svc/protocol';
import {
  type DecisionExportRecord,
  type DecisionFilter,
  type DecisionListFilter,
  type DecisionPage,
  type DecisionRecord,
  type EntitlementPush,
  getInclusion,
  type LeafStart,
  listLeaves,
  type ObjectStore,
  ObjectStoreError,
  type Store,
  StoreError,
} from '@svc/service';
import { tamper } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import {
  bringBack,
  coldPlaceOf,
  createColdWorld,
  DAYS,
  DUE,
  GRANTS,
  KEYS,
  PRINCIPALS,
  REASONS,
  type Receipt,
  RPS,
  serviceOf,
  withPackedDays,
} from '@svc/testkit/store/cold-world';
import { withObjectFolders } from '@svc/testkit/store/object-folders';
import { PATIENT, withStores } from '@svc/testkit/store/open-store';
import { runSql, withSession } from '@svc/testkit/store/session';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseOn } from '../../test/database-on.ts';
import { createStore } from '../create-store.ts';
import type { Database } from '../database.ts';
import { toStoreError } from '../errors.ts';
import { dayOfId, lowestReceiptId } from '../receipt-ids.ts';
import { decisionRepository } from '../repositories/decisions.ts';
import { putEntitlement } from '../repositories/entitlements.ts';
import { receiptRepository } from '../repositories/receipts.ts';
import { usageRepository } from '../repositories/usage.ts';
import { columnTypes } from '../type-parsers.ts';
import { ColdReadError } from './cold-errors.ts';
import { ColdReader, ReadTime } from './cold-reader.ts';
import { OpenDays } from './open-days.ts';

const stores = withStores();
const packed = withPackedDays(stores, withObjectFolders());
let objects: ObjectStore;
let reading: Store;
let world: readonly Receipt[];
beforeAll(async () => {
  world = await createColdWorld(stores.url, stores.first);
  objects = await packed([]);
  reading = createStore({ databaseUrl: stores.url, cold: coldPlaceOf(objects), deadlines: PATIENT });
});
afterAll(async () => {
  await reading?.close();
});

/** Makes these days cold, and all others hot. */
const makeCold = async (days: readonly string[]): Promise<void> => {
  await bringBack(stores.url);
  await packed(days, objects);
};

const START_MS = Date.parse(DAYS[0] ?? '');
const instant = fc.oneof(
  fc.integer({ min: START_MS - DAY_MS, max: START_MS + (DAYS.length + 1) * DAY_MS }),
  fc.integer({ min: 0, max: DAYS.length }).map((day) => START_MS + day * DAY_MS),
);
const members = {
  sinceMs: instant,
  untilMs: instant,
  decision: fc.constantFrom('ALLOW' as const, 'DENY' as const),
  reason: fc.constantFrom(...REASONS),
  principal: fc.constantFrom(...PRINCIPALS),
  grantId: fc.constantFrom(...GRANTS),
  keyId: fc.constantFrom(...KEYS),
  beforeId: instant.map(lowestReceiptId),
};
const relyingParties = fc.oneof(fc.constant(null), fc.subarray(RPS));
const listFilter = fc
  .subarray(Object.keys(members) as (keyof typeof members)[], { maxLength: 3 })
  .chain((names) =>
    fc.record({ relyingParties, ...Object.fromEntries(names.map((name) => [name, members[name]])) }),
  ) as fc.Arbitrary<DecisionListFilter>;
const usageFilter = fc
  .record(
    {
      sinceMs: instant,
      untilMs: instant,
      relyingParties,
      principal: members.principal,
      keyId: members.keyId,
    },
    { requiredKeys: ['sinceMs', 'untilMs', 'relyingParties'] },
  )
  .map(({ sinceMs, untilMs, ...filter }) => ({
    ...filter,
    sinceMs: Math.min(sinceMs, untilMs),
    untilMs: Math.max(sinceMs, untilMs),
  })) as fc.Arbitrary<DecisionFilter>;

/** For rows without a defined order. */
const anyOrder = (rows: readonly object[]): string[] => rows.map((row) => JSON.stringify(row)).sort();

const textOf = ({ receipt }: DecisionExportRecord): string => Buffer.from(receipt).toString();

const actOf = ({ principal, keyId, actionType, resource, method, ...act }: DecisionRecord) => act;

/** Every kind of question about old decisions, with its answer as text. */
const ask = async (
  store: Store,
  lists: readonly [DecisionListFilter, number][],
  counts: readonly DecisionFilter[],
) => {
  const deps = serviceOf(store);
  const answers: unknown[] = [];
  for (const [filter, limit] of lists) {
    const listed = await store.decisions.list(filter, limit);
    const acts = await store.decisions.listActs(filter, limit);
    expect(acts).toEqual({ ...listed, items: listed.items.map(actOf) });
    answers.push(listed, acts);
    const { items: ids } = await store.decisions.listIds(filter, limit);
    answers.push(
      ids,
      (await store.decisions.cutForExport(ids)).flat(),
      (await store.decisions.listForExport(ids, 'jws')).map((row) => ({ ...row, receipt: textOf(row) })),
    );
  }
  for (const filter of counts) {
    const { days, keys } = await store.usage.countByDayAndKey(filter);
    answers.push(anyOrder(await store.usage.countByDay(filter)), anyOrder(days), anyOrder(keys));
    const { keyId: _, ...ofAllKeys } = filter;
    answers.push(anyOrder(await store.usage.figuresByPrincipal(ofAllKeys)));
  }
  answers.push(anyOrder(await store.usage.countAll({ orgs: [], subjects: [] })));
  for (const [i, { id }] of world.entries()) {
    if (i % sampled({ quick: 9, deep: 3 }) !== 0) continue;
    answers.push(await store.receipts.find(id), await store.outcomes.listOfReceipts([id]));
    answers.push(await getInclusion(deps, id));
  }
  for (const day of DAYS) {
    const { checkpoint, text } = await listLeaves(deps, day);
    answers.push(checkpoint.root);
    for await (const part of text) answers.push(part);
    const start = { after: lowestReceiptId(Date.parse(day) + DAY_MS / 2) as ReceiptId };
    const { receiptIds, contentHashes } = await store.checkpoints.listLeavesAgain(day, start, 7);
    answers.push(
      receiptIds,
      contentHashes.map((hash) => Buffer.from(hash).toString('hex')),
    );
  }
  answers.push(await store.receipts.find(lowestReceiptId(START_MS + 1) as ReceiptId));
  return answers.map((answer) => JSON.stringify(answer));
};

it('lists, exports, counts, Receipts, proofs and leaves are the same hot and cold, for any filter and cursor', async () => {
  const [lists = [], counts = []] = [
    fc.sample(fc.tuple(listFilter, fc.constantFrom(1, 3, 20, 201)), {
      numRuns: sampled({ quick: 10, deep: 600 }),
      seed: 3,
    }),
    fc.sample(usageFilter, { numRuns: sampled({ quick: 4, deep: 200 }), seed: 4 }),
  ];
  await bringBack(stores.url);
  const hot = await ask(stores.first, lists, counts);
  expect(hot.length).toBeGreaterThan(100);
  expect(hot.join('').length).toBeGreaterThan(sampled({ quick: 10_000, deep: 50_000 }));
  const subsets = [
    DUE,
    ...fc.sample(fc.subarray([...DUE], { minLength: 1 }), {
      numRuns: sampled({ quick: 1, deep: 12 }),
      seed: 5,
    }),
  ];
  for (const days of subsets) {
    await makeCold(days);
    const [state] = await runSql<{ days: string[] }>(
      stores.url,
      `select coalesce(array_agg(day::text order by day), '{}') as days from cold_days where state = 'cold'`,
    );
    expect(state?.days).toEqual([...days].sort());
    expect(await ask(reading, lists, counts)).toEqual(hot);
  }
}, 120_000);

/** Runs `work` on a session on which days move after the n-th statement. */
const whileMoving = async <T>(
  n: number,
  move: () => Promise<void>,
  work: (database: Database) => Promise<T>,
): Promise<{ readonly value: T; readonly statements: number }> => {
  const session = new pg.Client({ connectionString: stores.url, types: columnTypes });
  await session.connect();
  let statements = 0;
  const run: Database['read'] = async ({ text, values }) => {
    const { rows } = await session.query(text, [...values]).catch((error: unknown) => {
      throw toStoreError(error, 'nothing');
    });
    statements += 1;
    if (statements === n) await move();
    return rows as never[];
  };
  try {
    return { value: await work({ read: run, write: run }), statements };
  } finally {
    await session.end();
  }
};

it('lists, exports and counts miss and repeat nothing when days are detached or brought back between two statements', async () => {
  const cold = new ColdReader(coldPlaceOf(objects));
  const all = { relyingParties: null };
  const range = { ...all, sinceMs: START_MS + DAY_MS / 2, untilMs: START_MS + 2.5 * DAY_MS };
  const ids = world
    .map(({ id }) => id)
    .sort()
    .reverse();
  const works: readonly ((database: Database) => Promise<unknown>)[] = [
    (database) => decisionRepository(database, cold).list(all, 500),
    (database) => decisionRepository(database, cold).listForExport(ids.slice(-40), 'jws'),
    async (database) => anyOrder(await usageRepository(database, cold).countByDay(range)),
    (database) => receiptRepository(database, cold).find(ids.at(-1) as ReceiptId),
  ];
  for (const work of works) {
    await bringBack(stores.url);
    const { value: hot, statements } = await whileMoving(0, async () => {}, work);
    const moments = Array.from({ length: statements }, (_, i) => i + 1);
    for (const n of sampled({ quick: moments.slice(0, 1), deep: moments })) {
      expect((await whileMoving(n, () => makeCold(DUE), work)).value).toEqual(hot);
      expect((await whileMoving(n, () => bringBack(stores.url), work)).value).toEqual(hot);
    }
  }
}, 120_000);

it('an export reads each row group of a cold day once, and holds no database session while it reads objects', async () => {
  await makeCold(DUE);
  const read: string[] = [];
  let isHeld = false;
  const counted: ObjectStore = {
    ...objects,
    getRange(name, range, signal) {
      expect(isHeld).toBe(false);
      if (name.includes('/receipts/')) read.push(`${name} ${range.offset}`);
      return objects.getRange(name, range, signal);
    },
  };
  await withSession(stores.url, async (session) => {
    const { read: ask, write } = databaseOn(session);
    const database: Database = {
      read(statement) {
        isHeld = true;
        return ask(statement);
      },
      write,
      rest() {
        isHeld = false;
      },
    };
    const repository = decisionRepository(database, new ColdReader(coldPlaceOf(counted)));
    const ids = world
      .map(({ id }) => id)
      .sort()
      .reverse();
    const pieces = await repository.cutForExport(ids);
    expect(pieces.flat()).toEqual(ids);
    const rows: ReceiptId[] = [];
    for (const piece of pieces)
      rows.push(...(await repository.listForExport(piece, 'jws')).map(({ receiptId }) => receiptId));
    expect(rows).toEqual(ids);
    expect(read.length).toBeGreaterThan(5);
    expect(new Set(read).size).toBe(read.length);
  });
});

/** Cold days whose reads wait for `open` after `close` was called; otherwise they are answered at once. */
const createGated = () => {
  let gate = Promise.resolve();
  let open = () => {};
  let held = 0;
  let onHeld = () => {};
  /** Resolves once `count` reads wait at the closed gate. */
  const untilHeld = (count: number) =>
    new Promise<void>((resolve) => {
      onHeld = () => {
        if (held === count) resolve();
      };
      onHeld();
    });
  const close = () => {
    held = 0;
    gate = new Promise((resolve) => {
      open = resolve;
    });
  };
  // Caches what was read, so that the disk's speed does not influence the test.
  const known = new Map<string, Promise<Uint8Array>>();
  const getRange: ObjectStore['getRange'] = async (name, range) => {
    const key = `${name} ${range.offset}`;
    const bytes = known.get(key) ?? objects.getRange(name, range);
    known.set(key, bytes);
    held += 1;
    onHeld();
    await gate;
    return bytes;
  };
  const place = coldPlaceOf({ ...objects, getRange });
  return { place, cold: new ColdReader(place), close, open: () => open(), untilHeld };
};

const manifestOf = async (day: string | undefined) => {
  const [row] = await runSql<{ hash: Sha256; manifest: string }>(
    stores.url,
    'select manifest_hash as hash, manifest from cold_days where day = $1',
    [day],
  );
  if (row === undefined) throw new Error('not cold');
  return row;
};

it('a tenant that asks for an object which public callers asked for first does not wait in the queue of the public', async () => {
  await makeCold(DUE);
  const { place, cold, close, open } = createGated();
  const { hash } = await manifestOf(DAYS[0]);
  const ids = world
    .filter(({ at }) => at < START_MS + DAY_MS)
    .map(({ id }) => id)
    .sort();
  const [first, last] = [ids[0], ids.at(-1)] as [ReceiptId, ReceiptId];
  await withSession(stores.url, async (session) => {
    const database = databaseOn(session);
    const order: string[] = [];
    const find = async (crowd: 'public' | 'tenants', org: string, id: ReceiptId) => {
      const found = await cold
        .as({ crowd, org, subject: '' })
        .find({ database, time: new ReadTime() }, hash, id);
      expect(found?.receipt_id).toBe(id);
      order.push(crowd);
    };
    for (const id of [first, last])
      await new ColdReader(place).find({ database, time: new ReadTime() }, hash, id);
    await find('public', '10.0.0.1', first);
    close();
    const flood = Array.from({ length: 200 }, (_, i) => find('public', `10.0.1.${i}`, first));
    const asking = [find('public', '10.0.2.1', last), find('tenants', 'shop', last)];
    open();
    await Promise.all([...flood, ...asking]);
    // The tail and then the row group: each comes after eight that are fetched already, and one more turn of the
    // public.
    expect(order.indexOf('tenants')).toBeLessThanOrEqual(1 + 2 * (8 + 1));
  });
});

describe('the manifest of a cold day', () => {
  const foundAt = (day: number) =>
    world.filter(({ at }) => at >= START_MS + day * DAY_MS && at < START_MS + (day + 1) * DAY_MS)[0]?.id;
  /** Counts manifests that are read from the database, and those that are verified, during `work`. */
  const countOpening = async (
    maxChars: number | undefined,
    work: (find: (day: number) => Promise<void>, failNext: () => void) => Promise<void>,
  ) => {
    const counts = { read: 0, verified: 0 };
    let isFailing = false;
    const place = coldPlaceOf(objects);
    const readManifest = (text: string) => {
      counts.verified += 1;
      return place.readManifest(text);
    };
    const cold = new ColdReader(place, null, new OpenDays({ ...place, readManifest }, maxChars));
    const hashes = await Promise.all(
      DAYS.slice(0, DUE.length).map(async (day) => (await manifestOf(day)).hash),
    );
    await withSession(stores.url, async (session) => {
      const { read, write } = databaseOn(session);
      const counted: Database['read'] = async (statement) => {
        counts.read += 1;
        if (!isFailing) return read(statement);
        isFailing = false;
        throw new StoreError('unavailable', 'its caller has given up');
      };
      const find = async (day: number) => {
        const [hash, id] = [hashes[day], foundAt(day)] as [Sha256, ReceiptId];
        const question = { database: { read: counted, write }, time: new ReadTime() };
        expect((await cold.find(question, hash, id))?.receipt_id).toBe(id);
      };
      await work(find, () => {
        isFailing = true;
      });
    });
    return counts;
  };
  beforeAll(() => makeCold(DUE));

  it('is read and verified once for a hundred concurrent callers', async () => {
    const counts = await countOpening(undefined, async (find) => {
      await Promise.all(Array.from({ length: 100 }, () => find(0)));
      await find(0);
    });
    expect(counts).toEqual({ read: 1, verified: 1 });
  });

  it('is read again after a failed read, also for the callers that waited for that read', async () => {
    const counts = await countOpening(undefined, async (find, failNext) => {
      failNext();
      const asked = await Promise.allSettled([find(0), find(0), find(0)]);
      expect(asked.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
      failNext();
      await expect(find(2)).rejects.toThrow('its caller has given up');
      await find(2);
    });
    expect(counts).toEqual({ read: 4, verified: 2 });
  });

  it('is read again after it was evicted, without a second verification of its signature', async () => {
    const counts = await countOpening(1, async (find) => {
      for (const day of [0, 2, 0, 2, 0]) await find(day);
    });
    expect(counts).toEqual({ read: 5, verified: 2 });
  });

  it('is accepted after eviction only unchanged, and only for the day and checkpoint that it was signed for', async () => {
    const days = new OpenDays(coldPlaceOf(objects), 1);
    const { hash, manifest } = await manifestOf(DAYS[0]);
    const checkpointHash = parseColdDay(manifest).checkpoint_hash;
    const recorded = { day: DAYS[0] as string, manifest, checkpointHash };
    const other = await manifestOf(DAYS[2]);
    const stop = new AbortController().signal;
    const isOpened = async (one: typeof recorded, as = hash) => {
      try {
        await days.open(one, as, stop);
        return true;
      } catch (error) {
        expect(error).toBeInstanceOf(ColdReadError);
        return false;
      }
    };
    expect(await isOpened(recorded)).toBe(true);
    const forget = () =>
      isOpened(
        {
          day: DAYS[2] as string,
          manifest: other.manifest,
          checkpointHash: parseColdDay(other.manifest).checkpoint_hash,
        },
        other.hash,
      );
    expect(await forget()).toBe(true);
    expect(await isOpened({ ...recorded, manifest: other.manifest })).toBe(false);
    expect(await isOpened({ ...recorded, day: DAYS[1] as string })).toBe(false);
    expect(await isOpened({ ...recorded, checkpointHash: hash })).toBe(false);
    expect(await isOpened(recorded)).toBe(true);
  });

  it("is verified in its caller's turn, after the row groups that are being fetched already", async () => {
    let verified = 0;
    const { place, close, open, untilHeld } = createGated();
    const readManifest = (text: string) => {
      verified += 1;
      return place.readManifest(text);
    };
    const days = new OpenDays({ ...place, readManifest });
    const cold = new ColdReader(place, null, days);
    const [first, second] = [await manifestOf(DAYS[0]), await manifestOf(DAYS[2])];
    await withSession(stores.url, async (session) => {
      const database = databaseOn(session);
      const find = ({ hash }: typeof first, day: number) =>
        cold.find({ database, time: new ReadTime() }, hash, foundAt(day) as ReceiptId);
      await find(first, 0);
      const recorded = await days.findRecorded(database, second.hash);
      close();
      const reads = Array.from({ length: 8 }, () => find(first, 0));
      await untilHeld(8);
      const opened = days.open(recorded, second.hash, new AbortController().signal);
      await new Promise(setImmediate);
      expect(verified).toBe(1);
      open();
      await Promise.all([...reads, opened]);
      expect(verified).toBe(2);
    });
  });
});

it('pages cut short by time together equal the whole list, and no cursor is the id of an unlisted Receipt', async () => {
  await makeCold(DUE);
  const hurried = createStore({
    databaseUrl: stores.url,
    cold: coldPlaceOf(objects, 0),
    deadlines: PATIENT,
  });
  try {
    const filters = fc.sample(listFilter, { numRuns: sampled({ quick: 1, deep: 200 }), seed: 6 });
    let unfinished = 0;
    for (const filter of [{ relyingParties: null }, ...filters])
      for (const limit of [sampled({ quick: 5, deep: 2 }), 50]) {
        const found: unknown[] = [];
        let next: DecisionListFilter | null = filter;
        while (next !== null) {
          const before: ReceiptId | undefined = next.beforeId;
          const page: DecisionPage<DecisionRecord> = await hurried.decisions.list(next, limit);
          expect((await hurried.decisions.listIds(next, limit)).items).toEqual(
            page.items.map(({ receiptId }) => receiptId),
          );
          found.push(...page.items);
          const isFull = page.items.length === limit;
          expect(isFull ? page.unreadBefore : null).toBe(null);
          if (!isFull && page.unreadBefore !== null) unfinished += 1;
          expect(world.filter(({ id }) => id === page.unreadBefore)).toEqual([]);
          expect([null, firstOfItsMillisecond(page.unreadBefore)]).toContain(page.unreadBefore);
          const beforeId: ReceiptId | null = isFull
            ? (page.items.at(-1)?.receiptId ?? null)
            : page.unreadBefore;
          expect(beforeId === null || before === undefined || beforeId < before).toBe(true);
          next = beforeId === null ? null : { ...filter, beforeId };
        }
        expect(found).toEqual((await reading.decisions.list(filter, 500)).items);
      }
    expect(unfinished).toBeGreaterThan(sampled({ quick: 5, deep: 20 }));
  } finally {
    await hurried.close();
  }
}, 120_000);

const firstOfItsMillisecond = (id: string | null): string | null =>
  id === null ? null : lowestReceiptId(ulidTimeMs(id.slice('drc_'.length)) ?? Number.NaN);

/** A bucket that cannot be reached. */
const unreachable = new Proxy({} as ObjectStore, {
  get: () => async () => {
    throw new ObjectStoreError('unavailable', 'no such store');
  },
});

/** Inserts an org with this one relying party. */
const insertMember = async (orgId: string, did: string): Promise<OrgId> => {
  const org = orgId as OrgId;
  await reading.orgs.insert({ orgId: org, slug: orgId.replace('_', '-'), name: orgId });
  await runSql(
    stores.url,
    `insert into relying_parties (did, kind, name, org_id, proof_window_seconds, verify_rate_limit_per_minute, profile)
     values ($1, 'managed', $1, $2, 120, 600, 'svc-base-v1')`,
    [did, org],
  );
  return org;
};

describe('with cold days', () => {
  beforeAll(() => makeCold(DUE));
  const allowed = () => {
    const found = world.find(({ at, reason }) => at < START_MS + DAY_MS && reason === null);
    if (found === undefined) throw new Error('no ALLOW');
    return found;
  };

  it('an outcome on a cold Receipt is stored and emitted as on a hot Receipt', async () => {
    const { id, at, rp, principal, grant } = allowed();
    await tamper(stores.url, `insert into event_wants values ('outcome.reported', $1, 'sub', 0)`, [
      `rp ${rp}`,
    ]);
    const report = (attestationId: string, ordinal: number) => ({
      ...{
        attestationId,
        receiptId: id,
        ordinal,
        type: 'cancelled' as const,
        occurredAt: '2026-01-01T00:00:00Z',
      },
      ...{ evidenceRef: null, note: 'x', correctionOf: null, reporterSignature: null, resolution: null },
      ...{ lossAmount: null, currency: null, consumption: null },
    });
    const receipt = await reading.receipts.findReported(id);
    const stored = await reading.transaction((tx) => tx.outcomes.insert(report('oat_cold', 50), receipt));
    expect(stored).toMatchObject({ receiptId: id, reporter: rp, ordinal: 50, note: 'x' });
    const rows = await runSql(
      stores.url,
      `select principal, decision, svc_ms(evaluated_at)::float8 as at from attestations where attestation_id = 'oat_cold'`,
    );
    expect(rows).toEqual([{ principal, decision: 'ALLOW', at }]);
    const emitted = await runSql<{ data: string }>(stores.url, 'select data from event_outbox');
    expect(emitted.map(({ data }) => JSON.parse(data).grant_id)).toEqual([grant]);
    const none = { ...report('oat_none', 1), receiptId: lowestReceiptId(START_MS + 1) as ReceiptId };
    expect(await reading.transaction((tx) => tx.outcomes.insert(none, null))).toBeNull();
  });

  it('svc_has_verified answers the same for a Grant from cold days as from hot Receipts', async () => {
    for (const [i, id] of GRANTS.entries())
      await tamper(
        stores.url,
        `insert into grants (id, principal, agent, status_list_url, status_index, allocated_at)
         values ($1, $2, 'agent', 'url', $3, to_timestamp($4 / 1000.0))`,
        [id, PRINCIPALS[0], i + 1, START_MS + (2 + i / 3) * DAY_MS],
      );
    const asked = GRANTS.flatMap((grant) => PRINCIPALS.flatMap((of) => RPS.map((rp) => [[rp], of, grant])));
    const ask = async () => {
      const answers: unknown[] = [];
      for (const values of asked)
        answers.push(...(await runSql(stores.url, 'select svc_has_verified($1, $2, $3) as known', values)));
      return answers;
    };
    // Removes the hot receipts, so that only what is kept of cold days can answer.
    await tamper(stores.url, 'create table kept as select * from receipts; delete from receipts');
    const cold = await ask();
    await bringBack(stores.url);
    await tamper(stores.url, 'delete from cold_verifications');
    const hot = await ask();
    await tamper(stores.url, 'insert into receipts select * from kept; drop table kept');
    await makeCold(DUE);
    expect(cold).toEqual(hot);
    expect(new Set(hot.map((one) => JSON.stringify(one))).size).toBe(2);
  });

  it('a cap that begins within a cold day counts the production checks after that moment, also those in the cold day', async () => {
    const org = 'org_cold' as OrgId;
    await reading.orgs.insert({ orgId: org, slug: 'cold', name: 'Cold' });
    for (const did of RPS.slice(0, 2))
      await runSql(
        stores.url,
        `insert into relying_parties (did, kind, name, org_id, proof_window_seconds, verify_rate_limit_per_minute, profile)
         values ($1, 'managed', $1, $2, 120, 600, 'svc-base-v1')`,
        [did, org],
      );
    const sinceMs = START_MS + DAY_MS / 2 + 1;
    const right = world.filter(
      ({ at, rp, counted }) => counted && at >= sinceMs && RPS.slice(0, 2).includes(rp as DidWeb),
    ).length;
    expect(right).toBeGreaterThan(10);
    const push = {
      ...{
        production: 'allowed' as const,
        productionUntilMs: null,
        checkCap: 1_000,
        reason: 'paid' as const,
      },
      ...{ capSinceMs: sinceMs, asOfMs: Date.now() },
    };
    expect(await reading.putEntitlement(org, push)).toBe(true);
    expect((await reading.entitlements.find(org))?.checksSinceCap).toBe(right);
  });

  it('an entitlement push reads no object if it begins no cap, or if the org has no production check in that cold day', async () => {
    const away = createStore({ databaseUrl: stores.url, cold: coldPlaceOf(unreachable), deadlines: PATIENT });
    const cap = { productionUntilMs: null, checkCap: 1_000, reason: 'paid' as const };
    const capSinceMs = START_MS + DAY_MS / 2 + 2;
    const push = (change: Partial<EntitlementPush>): EntitlementPush => ({
      ...{ ...cap, production: 'allowed', capSinceMs, asOfMs: Date.now() },
      ...change,
    });
    try {
      const org = await insertMember('org_away', `${RPS[0]}:away`);
      expect(await away.putEntitlement(org, push({}))).toBe(true);
      expect((await away.entitlements.find(org))?.checksSinceCap).toBe(0);
      await runSql(
        stores.url,
        `insert into usage_by_key (day, relying_party, key_id, reason, verifies, production_checks)
         values ($1, $2, null, null, 1, 1)`,
        [DAYS[0], `${RPS[0]}:away`],
      );
      // From here on a count of that day needs its objects.
      await expect(away.putEntitlement(org, push({ capSinceMs: capSinceMs + 1 }))).rejects.toThrow(
        ColdReadError,
      );
      expect(await away.putEntitlement(org, push({ production: 'blocked', checkCap: 5 }))).toBe(true);
      expect(await away.entitlements.find(org)).toMatchObject({ production: 'blocked', checksSinceCap: 0 });
      expect(await away.putEntitlement(org, push({ checkCap: null }))).toBe(true);
      await expect(away.putEntitlement(org, push({}))).rejects.toThrow(ColdReadError);
    } finally {
      await tamper(stores.url, 'delete from usage_by_key where relying_party = $1', [`${RPS[0]}:away`]);
      await away.close();
    }
  });

  it('an entitlement push whose cap was ended by a concurrent push is counted after all, in a second attempt', async () => {
    const org = 'org_cold' as OrgId;
    const stored = await reading.entitlements.find(org);
    if (stored === null || stored.checksSinceCap === null) throw new Error('the org has no cap');
    const right = stored.checksSinceCap;
    expect(right).toBeGreaterThan(10);
    let attempts = 0;
    const applied = await withSession(stores.url, async (session) =>
      putEntitlement(
        { database: databaseOn(session), cold: new ColdReader(coldPlaceOf(objects)) },
        async (work) => {
          attempts += 1;
          if (attempts === 1)
            await reading.putEntitlement(org, { ...stored, checkCap: null, capSinceMs: null });
          return work(databaseOn(session)).catch((error: unknown) => {
            throw toStoreError(error, 'nothing');
          });
        },
        org,
        stored,
      ),
    );
    expect({ applied, attempts }).toEqual({ applied: true, attempts: 2 });
    expect((await reading.entitlements.find(org))?.checksSinceCap).toBe(right);
  });

  it('hasDecided answers from the database alone, within a transaction', async () => {
    const unknown = createStore({ databaseUrl: stores.url, deadlines: PATIENT });
    try {
      // Removes the hot receipts, so that only what is kept of cold days can answer.
      await tamper(stores.url, 'create table kept as select * from receipts; delete from receipts');
      for (const [did, hasDecided] of [
        ...RPS.map((rp) => [rp, true] as const),
        [PRINCIPALS[0], false] as const,
      ])
        expect(await unknown.transaction((tx) => tx.usage.hasDecided(did as DidWeb))).toBe(hasDecided);
      await tamper(stores.url, 'insert into receipts select * from kept; drop table kept');
    } finally {
      await unknown.close();
    }
  });

  it('an entitlement push that waits for objects holds no connection, and counts a day that moves meanwhile once', async () => {
    const org = 'org_slow' as OrgId;
    await reading.orgs.insert({ orgId: org, slug: 'slow', name: 'Slow' });
    await runSql(
      stores.url,
      `insert into relying_parties (did, kind, name, org_id, proof_window_seconds, verify_rate_limit_per_minute, profile)
       values ($1, 'managed', $1, $2, 120, 600, 'svc-base-v1')`,
      [RPS[2], org],
    );
    const sinceMs = START_MS + DAY_MS / 2 + 1;
    const right = world.filter(({ at, rp, counted }) => counted && at >= sinceMs && rp === RPS[2]).length;
    let moved: Promise<boolean> | null = null;
    const move = async () => {
      const others = await slow.transaction((tx) => tx.orgs.exists(org), { lane: 'urgent' });
      await bringBack(stores.url);
      return others;
    };
    const slow: Store = createStore({
      databaseUrl: stores.url,
      deadlines: { connectMs: 20_000, waitMs: 20_000, readMs: 20_000, transactionWaitMs: 10_000 },
      poolSizes: { urgent: 1 },
      cold: coldPlaceOf({
        ...objects,
        async getRange(...args) {
          moved ??= move();
          await moved;
          return objects.getRange(...args);
        },
      }),
    });
    try {
      const push = {
        ...{ production: 'allowed' as const, productionUntilMs: null, checkCap: 1_000 },
        ...{ reason: 'paid' as const, capSinceMs: sinceMs, asOfMs: Date.now() },
      };
      expect(await slow.putEntitlement(org, push)).toBe(true);
      expect(await moved).toBe(true);
      expect((await reading.entitlements.find(org))?.checksSinceCap).toBe(right);
    } finally {
      await slow.close();
      await makeCold(DUE);
    }
  });

  it('one question has one time limit for all days that it reads, and the next question has a new one', async () => {
    const signals: unknown[] = [];
    const listening: ObjectStore = {
      ...objects,
      getRange(name, range, signal) {
        // Reads of an object's tail are shared with other callers, so they have no signal of one caller.
        if (signal !== undefined) signals.push(signal);
        return objects.getRange(name, range, signal);
      },
    };
    const store = createStore({ databaseUrl: stores.url, cold: coldPlaceOf(listening), deadlines: PATIENT });
    try {
      for (const questions of [1, 2]) {
        const { items: found } = await store.decisions.list({ relyingParties: null }, 500);
        expect(
          new Set(found.map(({ evaluatedAtMs }) => Math.floor(evaluatedAtMs / DAY_MS))).size,
        ).toBeGreaterThan(3);
        expect(signals.length).toBeGreaterThan(3 * questions);
        expect(new Set(signals).size).toBe(questions);
      }
    } finally {
      await store.close();
    }
  });

  it('missing and altered objects are reported with their day, and an unavailable object store reports no day', async () => {
    await makeCold(DUE);
    const cold = allowed();
    const manifests = await stores.first.coldDays.listLatestManifests(100);
    const hash = manifests.find((one) => one.day === dayOfId(cold.id))?.manifestHash;
    for (const [kind, isTold] of [
      ['missing', true],
      ['wrong-bytes', true],
      ['unavailable', false],
    ] as const) {
      const told: unknown[] = [];
      const fail = async () => {
        throw new ObjectStoreError(kind, `it is ${kind}`);
      };
      const place = coldPlaceOf({ ...objects, get: fail, getRange: fail });
      const store = createStore({
        databaseUrl: stores.url,
        cold: { ...place, onDamaged: (...damage) => told.push(damage) },
        deadlines: PATIENT,
      });
      try {
        await expect(store.receipts.find(cold.id)).rejects.toMatchObject({ kind: 'unavailable' });
      } finally {
        await store.close();
      }
      expect(told).toEqual(isTold ? [[dayOfId(cold.id), hash, `it is ${kind}`]] : []);
    }
  });

  it('without an object store cold days are unavailable, not absent, and hot days are readable', async () => {
    const gone = async () => {
      throw new ObjectStoreError('unavailable', 'no such store');
    };
    const failing = createStore({
      databaseUrl: stores.url,
      cold: coldPlaceOf({ ...objects, get: gone, getRange: gone }),
      deadlines: PATIENT,
    });
    const unknown = createStore({ databaseUrl: stores.url, deadlines: PATIENT });
    try {
      const hot = world.at(-1);
      const cold = allowed();
      for (const store of [failing, unknown]) {
        await expect(store.receipts.find(cold.id)).rejects.toMatchObject({ kind: 'unavailable' });
        await expect(store.decisions.list({ relyingParties: null }, 500)).rejects.toMatchObject({
          kind: 'unavailable',
        });
        expect((await store.receipts.find(hot?.id ?? cold.id))?.receiptId).toBe(hot?.id);
        expect((await store.decisions.list({ relyingParties: null }, 3)).items).toHaveLength(3);
      }
    } finally {
      await Promise.all([failing.close(), unknown.close()]);
    }
  });
});

describe('with every day cold', () => {
  /** Counts the reads of the object store during `work`. */
  const countReads = async (work: (store: Store) => Promise<unknown>): Promise<number> => {
    let reads = 0;
    const counted: ObjectStore = {
      ...objects,
      getRange(...args) {
        reads += 1;
        return objects.getRange(...args);
      },
    };
    const store = createStore({ databaseUrl: stores.url, cold: coldPlaceOf(counted), deadlines: PATIENT });
    try {
      await work(store);
      return reads;
    } finally {
      await store.close();
    }
  };
  beforeAll(() => makeCold(DUE));

  it('counts of a party that decided nothing in a day read no object of that day', async () => {
    const amid = { sinceMs: START_MS + 1, untilMs: START_MS + DUE.length * DAY_MS - 1 };
    const ofNobody = [
      { ...amid, relyingParties: [] },
      { ...amid, relyingParties: ['did:web:newcomer.example' as DidWeb] },
      { ...amid, relyingParties: null, principal: 'did:web:nobody.example' as DidWeb },
      { ...amid, relyingParties: null, keyId: 'none' as ApiKeyId },
    ];
    for (const filter of ofNobody)
      expect(
        await countReads(async ({ usage }) => {
          expect(await usage.countByDay(filter)).toEqual([]);
          expect(await usage.countByDayAndKey(filter)).toEqual({ days: [], keys: [] });
        }),
      ).toBe(0);
    expect(
      await countReads(({ usage }) => usage.countByDay({ ...amid, relyingParties: null })),
    ).toBeGreaterThan(0);
  });

  it('hasVerified answers for all days without reading an object', async () => {
    const isTrue = (of: readonly string[], by: string, id: string, from: readonly Receipt[]) =>
      from.some(({ rp, principal, grant }) => of.includes(rp ?? '') && principal === by && grant === id);
    const asked = [
      ...RPS.map((rp) => [rp]),
      RPS.slice(1),
      [],
      ['did:web:newcomer.example' as DidWeb],
    ].flatMap((relyingParties) =>
      PRINCIPALS.flatMap((principal) =>
        GRANTS.map((grantId) => ({ relyingParties, principal, grantId: grantId as GrantId })),
      ),
    );
    const hot = world.filter(({ at }) => at >= START_MS + DUE.length * DAY_MS);
    let coldAlone = 0;
    const reads = await countReads(async (store) => {
      for (const one of asked) {
        const known = isTrue(one.relyingParties, one.principal, one.grantId, world);
        expect(await store.decisions.hasVerified(one)).toBe(known);
        if (known && !isTrue(one.relyingParties, one.principal, one.grantId, hot)) coldAlone += 1;
      }
      const nobody = { relyingParties: RPS, principal: 'did:web:nobody.example' as DidWeb };
      expect(await store.decisions.hasVerified({ ...nobody, grantId: GRANTS[0] as GrantId })).toBe(false);
    });
    expect(reads).toBe(0);
    expect(coldAlone).toBeGreaterThan(0);
  });

  it('listing the leaves of a day reads each row group and the tail of each object once', async () => {
    const day = dayOf(world[0]?.at ?? 0);
    const reads = await countReads(async (store) => {
      const leaves: string[] = [];
      for await (const text of (await listLeaves({ store }, day)).text) leaves.push(text);
      expect(leaves.join('').split('\n').length).toBeGreaterThan(1);
    });
    const [recorded] = await runSql<{ manifest: string }>(
      stores.url,
      'select manifest from cold_days where cold_days.day = $1',
      [day],
    );
    const packed = parseColdDay(recorded?.manifest ?? '').tables.receipts;
    const groups = packed.flatMap((object) => object.groups);
    // Plus the tail of each object.
    expect(reads).toBe(groups.length + packed.length);
  });

  it.each([
    ['runs of one row group', 8, 0],
    ['runs of two row groups', 16, 0],
    // One group is read twice: the first run has exactly the length asked for, so it ends within a group.
    ['runs that end within a row group, with one more read', 20, 1],
  ])('listing the ids of a day in several runs reads each row group once: %s', async (_, limit, again) => {
    const day = DAYS[2] as string;
    const inDay = ({ at }: Receipt) => new Date(at).toISOString().startsWith(day);
    const ids = world
      .filter(inDay)
      .map(({ id }) => id)
      .sort();
    expect(ids.length).toBeGreaterThan(2 * limit);
    const packed = parseColdDay((await manifestOf(day)).manifest).tables.receipts;
    const once = packed.flatMap(({ groups }) => groups).length + packed.length;
    const walk = async (list: (start: LeafStart) => Promise<readonly ReceiptId[]>) => {
      const found: ReceiptId[] = [];
      for (let start: LeafStart = null; ; ) {
        const run: readonly ReceiptId[] = await list(start);
        const last = run.at(-1);
        if (last === undefined) return found;
        found.push(...run);
        start = { after: last };
      }
    };
    const reads = await countReads(async ({ checkpoints }) => {
      expect(await walk((start) => checkpoints.listReceiptIds(day, start, limit))).toEqual(ids);
    });
    expect(reads).toBe(once + again);
    if (again > 0) return;
    const readsOfLeaves = await countReads(async ({ checkpoints }) => {
      const list = async (start: LeafStart) =>
        (await checkpoints.listLeavesAgain(day, start, limit)).receiptIds;
      expect(await walk(list)).toEqual(ids);
    });
    expect(readsOfLeaves).toBe(once);
  });

  it('listing ids from the first id of a row group reads only that group', async () => {
    const day = DAYS[2] as string;
    const [, second] = parseColdDay((await manifestOf(day)).manifest).tables.receipts[0]?.groups ?? [];
    const at = second?.first as ReceiptId;
    const reads = await countReads(async ({ checkpoints }) => {
      const ids = await checkpoints.listReceiptIds(day, { at }, 8);
      expect([ids[0], ids.length]).toEqual([at, 8]);
    });
    // The row group and the tail.
    expect(reads).toBe(2);
  });
});
