/**
 * Reports on a real standby that is paused, frozen, killed and promoted: a caller that was given a Receipt finds it.
 */
import type { ReceiptId } from '@svc/protocol';
import { DAY_MS } from '@svc/protocol';
import {
  type DecisionListFilter,
  type ReplicaState,
  type Reports,
  type Store,
  StoreError,
} from '@svc/service';
import { type OwnCluster, startOwnCluster, startStandby } from '@svc/testkit';
import { isDeep, sampled } from '@svc/testkit/sampled';
import { openStore } from '@svc/testkit/store/open-store';
import { runSql, untilRow, withSession } from '@svc/testkit/store/session';
import { createWorld, denyCommit, newOutcome, type World } from '@svc/testkit/store/world';
import { until } from '@svc/testkit/until';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ColdReadError, DayMovedError } from './cold/cold-errors.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import { DeadlineError, NoTurnError } from './errors.ts';
import { positionSql, Replica } from './replica.ts';

const PATIENT = { connectMs: 20_000, patientConnectMs: 20_000, waitMs: 20_000, readMs: 10_000 };

const clusters: OwnCluster[] = [];
let primary: OwnCluster;
let standby: OwnCluster;
/** A writing node, and one that reads reports on the standby. */
let writer: Store;
let node: Store;
let world: World;

const openNode = (
  databaseReadUrl: string,
  replica: StoreOptions['deadlines'] = { replicaReadMs: 20_000, replicaLookMs: 20_000, catchUpMs: 10_000 },
  onReplicaChange: (state: ReplicaState) => void = () => {},
): Store => {
  const deadlines = { ...PATIENT, replicaLateMs: 0, ...replica };
  return createStore({ databaseUrl: primary.url, databaseReadUrl, deadlines, onReplicaChange });
};
/** Short limits for waiting on a standby. */
const HASTY = { replicaReadMs: 500, replicaLookMs: 500, patientConnectMs: 500, catchUpMs: 50 };

beforeAll(async () => {
  primary = await startOwnCluster({ durable: false });
  clusters.push(primary);
  standby = await startStandby(primary);
  clusters.push(standby);
  writer = openStore(primary.url);
  node = openNode(standby.url);
  world = await createWorld(writer);
}, 120_000);
afterAll(async () => {
  await Promise.all([writer?.close(), node?.close()]);
  for (const cluster of clusters.reverse()) await cluster.stop();
});

const decided: ReceiptId[] = [];
const decide = async (by = writer, evaluatedAtMs = Date.now()): Promise<ReceiptId> => {
  const commit = denyCommit(world, { evaluatedAtMs });
  expect(await by.verify.commitDecisions([commit])).toEqual(['STORED']);
  return commit.receiptId;
};

const ofWorld = (change: Partial<DecisionListFilter> = {}): DecisionListFilter => ({
  relyingParties: [world.relyingParty.did],
  ...change,
});
const idsIn = (store: Store, change?: Partial<DecisionListFilter>): Promise<readonly ReceiptId[]> =>
  store.report(async ({ decisions }) => (await decisions.listIds(ofWorld(change), decided.length + 1)).items);
const readsOf = (store: Store) => store.describeReplica()?.reads ?? { replica: 0, primary: 0 };

const untilInStep = (store: Store) => until(() => store.describeReplica()?.fault === null);
const untilLost = (store: Store) => until(() => store.describeReplica()?.fault !== null);

/** Checks that every kind of report has all existing Receipts. */
const expectAll = async (store: Store, ids: readonly ReceiptId[]): Promise<void> => {
  const range = { sinceMs: 0, untilMs: Date.now() + DAY_MS, relyingParties: [world.relyingParty.did] };
  const sum = (rows: readonly { verifies: number }[]) =>
    rows.reduce((all, { verifies }) => all + verifies, 0);
  const newest = [...ids].sort().reverse();
  const reports: Readonly<Record<string, (from: Reports) => Promise<unknown>>> = {
    list: async ({ decisions }) =>
      (await decisions.list(ofWorld(), ids.length + 1)).items.map(({ receiptId }) => receiptId),
    export: async ({ decisions }) =>
      (await decisions.listForExport(newest, 'jws')).map(({ receiptId }) => receiptId),
  };
  for (const [name, report] of Object.entries(reports))
    expect(await store.report(report), name).toEqual(newest);
  const counts = await store.report(async ({ usage }) => [
    sum(await usage.countByDay(range)),
    (await usage.countByDayAndKey(range)).keys.reduce((all, { deny }) => all + deny, 0),
    (await usage.figuresByPrincipal(range)).reduce(
      (all, { figure, amount }) => (figure === 'verifies' ? all + amount : all),
      0,
    ),
  ]);
  expect(counts).toEqual([ids.length, ids.length, ids.length]);
};

it('a Receipt from any node is at once in every report, which the replica answers', async () => {
  await untilInStep(node);
  for (let round = 0; round < sampled({ quick: 15, deep: 300 }); round++) {
    decided.push(await decide());
    await expectAll(node, decided);
  }
  const [receiptId] = decided;
  await writer.outcomes.insert(newOutcome(receiptId as ReceiptId, 1), null);
  const outcomes = await node.report((from) => from.outcomes.listOfReceipts(decided));
  expect(outcomes.map((one) => one.receiptId)).toEqual([receiptId]);
  expect(readsOf(node).replica).toBeGreaterThan(sampled({ quick: 40, deep: 900 }));
  expect(readsOf(node).primary).toBe(0);
});

it('a cursor skips and repeats nothing if every other page is read on the primary, while decisions go on', async () => {
  const before = [...decided].sort().reverse();
  for (const stores of [
    [node, writer],
    [writer, node],
  ]) {
    const paged: ReceiptId[] = [];
    for (let page = 0; ; page++) {
      const store = stores[page % 2] as Store;
      const filter = ofWorld({ beforeId: paged.at(-1) });
      const { items: ids } = await store.report(({ decisions }) => decisions.listIds(filter, 2));
      paged.push(...ids);
      if (ids.length < 2) break;
      decided.push(await decide());
    }
    expect(new Set(paged).size).toBe(paged.length);
    expect(paged).toEqual(
      [...decided]
        .sort()
        .reverse()
        .filter((id) => id <= (paged[0] ?? '')),
    );
    expect(paged).toEqual(expect.arrayContaining(before));
  }
});

const states: [how: string, begin: () => unknown, end: () => unknown][] = [
  [
    'paused',
    () => runSql(standby.adminUrl, 'select pg_wal_replay_pause()'),
    () => runSql(standby.adminUrl, 'select pg_wal_replay_resume()'),
  ],
  ['frozen', () => standby.signal('SIGSTOP'), () => standby.signal('SIGCONT')],
  ['killed', () => standby.signal('SIGKILL'), () => standby.restart()],
];
// The next tests read from a paused one.
const tried = isDeep ? states : states.slice(-1);

it(`under load, with the standby ${tried.map(([how]) => how).join(' and ')}, reports contain every issued Receipt and decisions go on`, async () => {
  const told: ReplicaState[] = [];
  const hasty = openNode(standby.url, HASTY, (state) => told.push(state));
  let rounds = 0;
  let isOver = false;
  const load = Array.from({ length: 3 }, async () => {
    while (!isOver) {
      const nowMs = Date.now();
      const receiptId = await decide(hasty, nowMs);
      decided.push(receiptId);
      expect(await idsIn(hasty, { sinceMs: nowMs, untilMs: nowMs + 1 })).toContain(receiptId);
      rounds += 1;
    }
  });
  const some = () => {
    const enough = rounds + sampled({ quick: 10, deep: 200 });
    return until(() => rounds >= enough);
  };
  try {
    for (const [, begin, end] of tried) {
      await untilInStep(hasty);
      await some();
      await begin();
      await untilLost(hasty);
      const { replica } = readsOf(hasty);
      await some();
      // Reports that were under way when the replica was lost.
      expect(readsOf(hasty).replica).toBeLessThanOrEqual(replica + load.length);
      await until(() => told.at(-1)?.fault !== null);
      await end();
    }
    await untilInStep(hasty);
    await some();
    await until(() => told.at(-1)?.fault === null);
    // Loss and recovery alternate, each with the reads of each server.
    expect(told.length).toBeGreaterThanOrEqual(1 + 2 * tried.length);
    expect(told.every(({ fault }, index) => (fault === null) === (index % 2 === 0))).toBe(true);
    // The first of all of them is paused.
    if (isDeep) expect(told[1]?.fault).toContain('behind');
    expect(told.at(-1)?.reads.primary).toBeGreaterThan(0);
    expect(told.at(-1)?.reads.replica).toBeGreaterThan(0);
  } finally {
    isOver = true;
    await Promise.all(load);
    await hasty.close();
  }
  await expectAll(node, decided);
}, 120_000);

it('a report waits for a position that the replica has not replayed yet, and is then read on the replica', async () => {
  await untilInStep(node);
  await runSql(standby.adminUrl, 'select pg_wal_replay_pause()');
  const receiptId = await decide();
  decided.push(receiptId);
  const before = readsOf(node);
  const listed = idsIn(node);
  // One session waits for the requested position, the other one looks.
  const waiting = `select from pg_stat_activity where query like '%pg_last_wal_replay_lsn%' and pid <> pg_backend_pid()
    having count(*) = 2`;
  await withSession(standby.adminUrl, (session) => untilRow(session, waiting));
  await runSql(standby.adminUrl, 'select pg_wal_replay_resume()');
  expect(await listed).toContain(receiptId);
  expect(readsOf(node)).toEqual({ ...before, replica: before.replica + 1 });
});

it('reports on a paused standby are read on the primary: the standby itself lacks the Receipt', async () => {
  const hasty = openNode(standby.url, HASTY);
  try {
    await untilInStep(hasty);
    await runSql(standby.adminUrl, 'select pg_wal_replay_pause()');
    const receiptId = await decide();
    decided.push(receiptId);
    // Reads the standby directly, without the wait for its position.
    expect(await runSql(standby.url, 'select from receipts where receipt_id = $1', [receiptId])).toEqual([]);
    const { replica } = readsOf(hasty);
    await expectAll(hasty, decided);
    expect(readsOf(hasty).replica).toBe(replica);
    await untilLost(hasty);
    expect(hasty.describeReplica()?.fault).toContain('behind');
  } finally {
    await runSql(standby.adminUrl, 'select pg_wal_replay_resume()');
    await hasty.close();
  }
});

it('a mark of another or earlier server process is ignored: the primary must write a new one', async () => {
  const markAfter = (change: string) =>
    withSession(primary.url, async (session) => {
      await session.query(`begin; ${change}`);
      const { rows } = await session.query<{ mark: string | null; isDue: boolean }>(positionSql);
      await session.query('rollback');
      return rows[0];
    });
  await untilInStep(node);
  const mark = expect.stringMatching(/^[0-9a-f-]{36}$/);
  expect(await markAfter('')).toMatchObject({ mark });
  const former = `update replica_marks set server = server - interval '1 minute', marked_at = clock_timestamp()`;
  expect(await markAfter(former)).toMatchObject({ mark: null, isDue: true });
});

it('of several replicas one that answers is used', async () => {
  const url = new URL(standby.url);
  const several = openNode(standby.url.replace(url.host, `127.0.0.1:1,${url.host}`));
  try {
    await untilInStep(several);
    expect(await idsIn(several)).toHaveLength(decided.length);
    expect(readsOf(several)).toEqual({ replica: 1, primary: 0 });
  } finally {
    await several.close();
  }
});

it('a report that arrives during a position query of the primary uses the next query', async () => {
  let answer: ((lsn: number) => void) | null = null;
  let isHeld = false;
  let lsn = 10;
  const read = () =>
    new Promise<never[]>((resolve) => {
      const resolveWith = (at: number) => resolve([{ lsn: at, mark: 'm', isDue: false } as never]);
      if (isHeld) answer ??= resolveWith;
      else resolveWith(lsn);
    });
  const client = { query: async () => ({ rows: [{ isStandby: true, lsn: 20, marks: ['m'] }] }) };
  const pool = { run: async (work: (session: unknown) => unknown) => work(client), close: async () => {} };
  const replica = new Replica({
    url: standby.url,
    primary: { read, write: async () => [] },
    pools: { replicaReads: pool, replicaLooks: pool } as never,
    catchUpMs: 0,
    lateMs: 60_000,
    onChange: () => {},
  });
  await until(() => replica.state.fault === null);
  isHeld = true;
  const first = replica.report(async () => 'read', null);
  await until(() => answer !== null);
  const second = replica.report(async () => 'read', null);
  // The answer under way does not include what is committed now.
  [isHeld, lsn] = [false, 30];
  (answer as ((lsn: number) => void) | null)?.(20);
  expect([await first, await second]).toMatchObject([{ value: 'read' }, null]);
  await replica.close();
});

it('a report that waits for the replica holds no report session', async () => {
  let [lsn, looks, taken] = [10, 0, 0];
  const client = {
    async query() {
      looks += 1;
      return { rows: [{ isStandby: true, lsn, marks: ['m'] }] };
    },
  };
  const pool = { run: async (work: (session: unknown) => unknown) => work(client), close: async () => {} };
  const reads = {
    ...pool,
    run: async (work: (session: unknown) => unknown) => {
      taken += 1;
      return work(client);
    },
  };
  const position = { lsn: 10, mark: 'm', isDue: false };
  const replica = new Replica({
    url: standby.url,
    primary: { read: async () => [{ ...position }] as never, write: async () => [] },
    pools: { replicaReads: reads, replicaLooks: pool } as never,
    catchUpMs: 20_000,
    lateMs: 60_000,
    onChange: () => {},
  });
  try {
    await until(() => replica.state.fault === null);
    position.lsn = 20;
    const reports = Array.from({ length: 10 }, () => replica.report(async () => 'read', null));
    const before = looks;
    await until(() => looks > before + 2);
    expect(taken).toBe(0);
    lsn = 20;
    expect(await Promise.all(reports)).toEqual(reports.map(() => ({ value: 'read' })));
    expect(taken).toBe(10);
  } finally {
    await replica.close();
  }
});

it('a report waits for its own position only, not for that of later reports', async () => {
  let [lsn, asked] = [10, 0];
  const client = { query: async () => ({ rows: [{ isStandby: true, lsn, marks: ['m'] }] }) };
  const pool = { run: async (work: (session: unknown) => unknown) => work(client), close: async () => {} };
  const position = { lsn: 10, mark: 'm', isDue: false };
  const read = async () => {
    asked += 1;
    return [{ ...position }] as never;
  };
  const replica = new Replica({
    url: standby.url,
    primary: { read, write: async () => [] },
    pools: { replicaReads: pool, replicaLooks: pool } as never,
    catchUpMs: 20_000,
    lateMs: 60_000,
    onChange: () => {},
  });
  const reportAt = async (next: number) => {
    position.lsn = next;
    const before = asked;
    const report = replica.report(async () => next, null);
    await until(() => asked > before);
    return { report };
  };
  try {
    await until(() => replica.state.fault === null);
    const [first, second, last] = [await reportAt(20), await reportAt(30), await reportAt(1_000)];
    lsn = 30;
    expect(await Promise.all([first.report, second.report])).toEqual([{ value: 20 }, { value: 30 }]);
    lsn = 1_000;
    expect(await last.report).toEqual({ value: 1_000 });
  } finally {
    await replica.close();
  }
});

it('the session of a lagging server is closed, so that another server may be next, and the replica has no fault', async () => {
  let [lsn, closed] = [10, 0];
  const client = { query: async () => ({ rows: [{ isStandby: true, lsn: 10, marks: ['m'] }] }) };
  const pool = { run: async (work: (session: unknown) => unknown) => work(client), close: async () => {} };
  // The pool closes a session when the work in it fails.
  const looks = {
    ...pool,
    run: (work: (session: unknown) => Promise<unknown>) =>
      work(client).catch((error: unknown) => {
        closed += 1;
        throw error;
      }),
  };
  // Only the report needs what the server has not replayed; looks at its health need nothing.
  const read = async () => {
    const row = { lsn, mark: 'm', isDue: false };
    lsn = 10;
    return [row] as never;
  };
  const replica = new Replica({
    url: standby.url,
    primary: { read, write: async () => [] },
    pools: { replicaReads: pool, replicaLooks: looks } as never,
    catchUpMs: 30,
    lateMs: 60_000,
    onChange: () => {},
  });
  try {
    await until(() => replica.state.fault === null);
    expect(closed).toBe(0);
    lsn = 20;
    expect(await replica.report(async () => 'read', null)).toBeNull();
    expect(replica.state.fault).toBeNull();
    await until(() => closed > 0);
  } finally {
    await replica.close();
  }
});

it('a report that waits for objects holds no replica session, and its next statement again gets one that is in step', async () => {
  let lsn = 20;
  const asked: string[] = [];
  const client = {
    async query({ text = 'look' }: { text?: string }) {
      asked.push(text);
      return { rows: [{ isStandby: true, lsn, marks: ['m'] }] };
    },
  };
  let held = 0;
  const pool = { run: async (work: (session: unknown) => unknown) => work(client), close: async () => {} };
  const reads = {
    ...pool,
    async run(work: (session: unknown) => unknown) {
      held += 1;
      try {
        return await work(client);
      } finally {
        held -= 1;
      }
    },
  };
  const position = { lsn: 10, mark: 'm', isDue: false } as never;
  const replica = new Replica({
    url: standby.url,
    primary: { read: async () => [position], write: async () => [] },
    pools: { replicaReads: reads, replicaLooks: pool } as never,
    catchUpMs: 0,
    lateMs: 60_000,
    onChange: () => {},
  });
  const statement = { text: 'statement', values: [] };
  const report = (behindLater: boolean) =>
    replica.report(async (database) => {
      await database.read(statement);
      expect(held).toBe(1);
      database.rest?.();
      await until(() => held === 0);
      if (behindLater) lsn = 5;
      asked.length = 0;
      await database.read(statement);
      expect([held, asked.at(-2), asked.at(-1)]).toEqual([1, 'look', 'statement']);
      return 'read';
    }, null);
  try {
    await until(() => replica.state.fault === null);
    expect(await report(false)).toEqual({ value: 'read' });
    await until(() => held === 0);
    expect(await report(true)).toBeNull();
    await until(() => held === 0);
  } finally {
    await replica.close();
  }
});

it('unreadable cold objects and slow reports are not a fault of the replica, and a lost session is', async () => {
  const position = { lsn: 10, mark: 'm', isDue: false } as never;
  const client = { query: async () => ({ rows: [{ isStandby: true, lsn: 20, marks: ['m'] }] }) };
  const pool = { run: async (work: (session: unknown) => unknown) => work(client), close: async () => {} };
  let isSlow = false;
  const reads = {
    ...pool,
    run: async (work: (session: unknown) => unknown) => {
      if (isSlow) throw new DeadlineError('no answer within 3000 ms');
      return pool.run(work);
    },
  };
  const replica = new Replica({
    url: standby.url,
    primary: { read: async () => [position], write: async () => [] },
    pools: { replicaReads: reads, replicaLooks: pool } as never,
    catchUpMs: 0,
    lateMs: 60_000,
    onChange: () => {},
  });
  const failing = (error: Error) => replica.report(() => Promise.reject(error), null);
  try {
    await until(() => replica.state.fault === null);
    // The primary would read the same objects, with the same result.
    await expect(failing(new ColdReadError('cold days: no such store'))).rejects.toThrow(ColdReadError);
    expect(await failing(new DayMovedError())).toBeNull();
    isSlow = true;
    expect(await replica.report(async () => 'read', null)).toBeNull();
    isSlow = false;
    expect(await failing(new NoTurnError('8192 stand in line'))).toBeNull();
    expect(replica.state.fault).toBeNull();
    expect(await failing(new StoreError('unavailable', 'connection lost'))).toBeNull();
    expect(replica.state.fault).toBe('connection lost');
  } finally {
    await replica.close();
  }
});

it('a promoted standby is no longer read, and a standby that follows it is not accepted as a replica', async () => {
  await untilInStep(node);
  const { replica } = readsOf(node);
  await runSql(standby.adminUrl, 'select pg_promote(true, 60)');
  decided.push(await decide());
  await expectAll(node, decided);
  expect(readsOf(node).replica).toBe(replica);
  await untilLost(node);
  await until(() => /takes writes/.test(node.describeReplica()?.fault ?? ''));

  // Its log is ahead of the primary's, on another timeline.
  await runSql(standby.url, `select pg_logical_emit_message(true, 'svc', repeat('x', 1000000))`);
  await runSql(standby.url, 'create table of_another_history ()');
  const follower = await startStandby(standby);
  clusters.push(follower);
  const other = openNode(follower.url, HASTY);
  try {
    await until(() => /another cluster or timeline/.test(other.describeReplica()?.fault ?? ''));
    decided.push(await decide());
    await expectAll(other, decided);
    expect(readsOf(other).replica).toBe(0);
  } finally {
    await other.close();
  }
}, 120_000);
