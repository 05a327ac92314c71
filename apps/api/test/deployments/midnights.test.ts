/**
 * Days of 15 ms: the day lock keeps every Receipt in the day that is published for it (protocol §12). The commit is the
 * real one with another day length, and a delay between its look-up of closed days and its inserts, so that fast
 * machines cross midnights there too. Two API nodes make real verifications; two concurrent closers close each day as
 * soon as it is over.
 */
import { withDatabase } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import { alterFunction, untilWaiting } from '@svc/testkit/store/session';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiNodes, startApiNodes } from '../world/api-node.ts';
import { startSeparateNodes } from '../world/api-process.ts';
import { call, createTenants, issueGrant, verifyBody } from '../world/tenants.ts';

const DAY_MS = 15;
const MIDNIGHTS = sampled({ quick: 40, deep: 600 });
const VERIFIERS = 12;
/** Lock that makes a commit wait between its look-up of closed days and its inserts. */
const GATE = 4_711;

/** A request that is denied before any of it is read. */
const NOTHING = { grant: '', proof: '', action: {} };

interface Closing {
  readonly day: number;
  readonly receiptIds: readonly string[];
}

const JUDGED = '  if v_any.caps then\n    v_outcomes := svc_judge_caps';

/**
 * Replaces the commit by one with days of `DAY_MS` since `epochMs`, and `between` its look-up of closed days and its
 * inserts.
 */
const shortenDays = async (url: string, epochMs: number, between: string): Promise<void> => {
  await alterFunction(url, 'svc_day_number', 'p_ms / 86400000', `(p_ms - ${epochMs}) / ${DAY_MS}`);
  await alterFunction(url, 'svc_commit_decisions', JUDGED, `  perform ${between};\n${JUDGED}`);
};

/**
 * Closes a day by its number, whatever its length; then lists the Receipts of the day, as a checkpoint would name them.
 */
const closeDay = async (sql: pg.Client, epochMs: number, day: number): Promise<Closing> => {
  await sql.query(`select svc_close_day(date '1970-01-01' + $1::integer)`, [day]);
  return { day, receiptIds: await listReceipts(sql, epochMs, day) };
};

const listReceipts = async (sql: pg.Client, epochMs: number, day: number): Promise<string[]> => {
  const { rows } = await sql.query<{ id: string }>(
    `select receipt_id as id from receipts
     where receipt_id >= svc_lowest_receipt_id(to_timestamp($1 / 1000.0))
       and receipt_id < svc_lowest_receipt_id(to_timestamp($2 / 1000.0))
     order by receipt_id`,
    [epochMs + day * DAY_MS, epochMs + (day + 1) * DAY_MS],
  );
  return rows.map(({ id }) => id);
};

const databases = { locked: withDatabase(), unlocked: withDatabase() };
const apis: ApiNodes[] = [];
const sessions: pg.Client[] = [];

beforeAll(async () => {
  // The second deployment has no race: its commit waits at a gate.
  apis.push(
    await startSeparateNodes(2, databases.locked.url),
    await startApiNodes(1, databases.unlocked.url),
  );
});
afterAll(async () => {
  await Promise.all(sessions.map((session) => session.end()));
  await Promise.all(apis.map((api) => api.stop()));
});

const connect = async (url: string): Promise<pg.Client> => {
  const session = new pg.Client({ connectionString: url });
  await session.connect();
  sessions.push(session);
  return session;
};

/**
 * Closes `midnights` days while verifications run, and returns the Receipts that were named too early or never. It
 * continues until more Receipts than `midnights` were named: a slow machine stores few of them a day, and none in the
 * first.
 */
const crossMidnights = async (url: string, api: ApiNodes, midnights: number) => {
  const [sql, ...closers] = await Promise.all([connect(url), connect(url), connect(url)]);
  const tenants = await createTenants(api.processes[0]?.baseUrl ?? '', { proof_window_seconds: 300 });
  const grant = await issueGrant(tenants);
  const epochMs = Date.now();
  await shortenDays(url, epochMs, 'pg_sleep(0.005)');
  const isOver = (day: number) => Date.now() >= epochMs + (day + 1) * DAY_MS;

  let going = true;
  const stored: string[] = [];
  const verify = async (index: number): Promise<void> => {
    const baseUrl = api.processes[index % 2]?.baseUrl ?? '';
    while (going) {
      const body = index % 3 === 0 ? await verifyBody(tenants, grant) : NOTHING;
      const { status, text } = await call(baseUrl, 'POST', '/verify', { key: tenants.rpKey, body });
      if (status === 200) stored.push((JSON.parse(text) as { receipt_id: string }).receipt_id);
      else if (status !== 503) throw new Error(`answered ${status}: ${text}`);
    }
  };
  let named = 0;
  // Both closers of each day use it, so that they decide alike.
  const wanted: boolean[] = [];
  const isWanted = (day: number): boolean => {
    wanted[day] ??= day < midnights || named <= midnights;
    return wanted[day];
  };
  const close = async (closer: pg.Client): Promise<Closing[]> => {
    const closings: Closing[] = [];
    for (let day = 0; isWanted(day); day++) {
      while (!isOver(day)) await new Promise((resolve) => setImmediate(resolve));
      const closing = await closeDay(closer, epochMs, day);
      closings.push(closing);
      named += closing.receiptIds.length;
    }
    return closings;
  };
  const verifiers = Promise.all(Array.from({ length: VERIFIERS }, (_, index) => verify(index)));
  const closings = (await Promise.all(closers.map(close))).flat();
  going = false;
  await verifiers;

  const missing: string[] = [];
  for (const { day, receiptIds } of closings) {
    const atLast = await listReceipts(sql, epochMs, day);
    missing.push(...atLast.filter((id) => !receiptIds.includes(id)));
  }
  return { missing, stored, closings };
};

/**
 * Closes the day of a decision while its commit waits at the gate. Returns the Receipt, and the Receipts named for its
 * day. Tries again where the commit stops waiting, or is late and belongs to a day that is not over.
 */
const closeBesideCommit = async (url: string, api: ApiNodes) => {
  const [sql, gate] = await Promise.all([connect(url), connect(url)]);
  const baseUrl = api.processes[0]?.baseUrl ?? '';
  const tenants = await createTenants(baseUrl);
  const epochMs = Date.now();
  await shortenDays(url, epochMs, `pg_advisory_xact_lock_shared(${GATE})`);
  const today = () => Math.floor((Date.now() - epochMs) / DAY_MS);
  for (;;) {
    await gate.query('select pg_advisory_lock($1)', [GATE]);
    const first = today();
    const verified = call(baseUrl, 'POST', '/verify', { key: tenants.rpKey, body: NOTHING });
    await Promise.race([untilWaiting(sql), verified]);
    const last = today();
    while (today() <= last) await new Promise((resolve) => setImmediate(resolve));
    const closings: Closing[] = [];
    for (let day = first; day <= last; day++) closings.push(await closeDay(sql, epochMs, day));
    await gate.query('select pg_advisory_unlock($1)', [GATE]);
    const { status, text } = await verified;
    if (status !== 200) continue;
    const { receipt_id } = JSON.parse(text) as { receipt_id: string };
    for (const { day, receiptIds } of closings)
      if ((await listReceipts(sql, epochMs, day)).includes(receipt_id)) return { receipt_id, receiptIds };
  }
};

describe('days of 15 ms', () => {
  it(`${MIDNIGHTS} closed by two closers during verifications on two nodes: each Receipt is in one day, and no closed day changes`, async () => {
    const { missing, stored, closings } = await crossMidnights(
      databases.locked.url,
      apis[0] as ApiNodes,
      MIDNIGHTS,
    );
    expect(missing).toEqual([]);
    expect(closings.length).toBeGreaterThanOrEqual(2 * MIDNIGHTS);
    const named = closings.flatMap(({ receiptIds }) => receiptIds);
    expect(named.length).toBeGreaterThan(MIDNIGHTS);
    // Both closers name each Receipt, in the same day; a Receipt after the last midnight is in none.
    const times = new Map<string, number>();
    for (const id of named) times.set(id, (times.get(id) ?? 0) + 1);
    expect([...new Set(times.values())]).toEqual([2]);
    const last =
      closings
        .flatMap(({ receiptIds }) => receiptIds)
        .sort()
        .at(-1) ?? '';
    expect(stored.filter((id) => id <= last && !times.has(id))).toEqual([]);
  }, 180_000);

  it('without the day lock a Receipt is stored into a closed day, so the test above can fail', async () => {
    await alterFunction(
      databases.unlocked.url,
      'svc_take_locks',
      '(2, svc_day_number(d.evaluated_at_ms), false),',
      '',
    );
    const { receipt_id, receiptIds } = await closeBesideCommit(databases.unlocked.url, apis[1] as ApiNodes);
    expect(receiptIds).not.toContain(receipt_id);
  }, 180_000);
});
