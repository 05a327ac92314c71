/** What the worker promises: everything due is done once, whoever dies meanwhile (interface §Limits, protocol §9). */

import type { DidWeb } from '@svc/protocol';
import type { Store } from '@svc/service';
import { withDatabase } from '@svc/testkit';
import { isDeep } from '@svc/testkit/sampled';
import { openStore } from '@svc/testkit/store/open-store';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Hosts, insertGrants, insertHosted, runOnce, startHosts, startWorker } from './harness.ts';

const database = withDatabase();
let store: Store;
let sql: Client;
let hosts: Hosts;
beforeAll(async () => {
  store = openStore(database.url);
  sql = new Client({ connectionString: database.url });
  await sql.connect();
});
afterAll(async () => {
  await sql?.end();
  await store?.close();
});
beforeEach(async () => {
  await sql.query(`update principals set last_checked_at = now(), last_proven_at = now()`);
  hosts = await startHosts();
});
afterEach(() => hosts?.close());

type Hosted = Awaited<ReturnType<typeof insertHosted>>;

const insertMany = (count: number): Promise<Hosted[]> =>
  Promise.all(Array.from({ length: count }, () => insertHosted(store)));
const optionsFor = (principals: readonly Hosted[]) => ({
  databaseUrl: database.url,
  hosts: Object.fromEntries(principals.map(({ name }) => [name, hosts.url])),
});
const namesOf = (principals: readonly Hosted[]) => principals.map(({ name }) => name).sort();
const setChecked = (dids: readonly DidWeb[], checked: string, proven = checked) =>
  sql.query(
    `update principals set verification_state = 'verified', verified_since = now() - interval '9 days',
       last_checked_at = now() - $2::interval, last_proven_at = now() - $3::interval where did = any ($1)`,
    [dids, checked, proven],
  );
/** A server notices a client's death in its own time. */
const isAnyJobLocked = async (): Promise<boolean> => {
  const locks = `select from pg_locks where locktype = 'advisory' and classid = 6
    and database = (select oid from pg_database where datname = current_database())`;
  return (await sql.query(locks)).rowCount !== 0;
};
const stateOf = async (did: DidWeb) => (await store.principals.find(did))?.verificationState;
const audited = async (did: DidWeb) =>
  (await store.audit.list({ scope: null, action: 'principal.verify', target: did, limit: 10 })).map(
    ({ actor, details }) => [actor.kind, details.from, details.to, details.outcome],
  );

describe('re-verification', () => {
  it('records what is found, audits what changes, and leaves alone what is not due', async () => {
    const [proven, lost, early] = (await insertMany(3)) as [Hosted, Hosted, Hosted];
    hosts.proofs.set(proven.name, { did: proven.did, token: proven.token });
    await setChecked([lost.did], '24 hours 1 second');
    await setChecked([early.did], '23 hours 59 minutes');
    await runOnce(optionsFor([proven, lost, early]));
    expect(hosts.asked.toSorted()).toEqual(namesOf([proven, lost]));
    expect(await Promise.all([proven, lost, early].map(({ did }) => stateOf(did)))).toEqual([
      'verified',
      'unverified',
      'verified',
    ]);
    expect(await audited(proven.did)).toEqual([['system', 'unverified', 'verified', 'proven']]);
    expect(await audited(lost.did)).toEqual([['system', 'verified', 'unverified', 'absent']]);
    expect(await audited(early.did)).toEqual([]);
  });

  it('two workers at once ask each domain that is due once; the next round asks none', async () => {
    const due = await insertMany(30);
    await Promise.all([runOnce(optionsFor(due)), runOnce(optionsFor(due))]);
    expect(hosts.asked.toSorted()).toEqual(namesOf(due));
    await runOnce(optionsFor(due));
    expect(hosts.asked).toHaveLength(due.length);
  });

  it.runIf(isDeep)(
    'after downtime everything that came due meanwhile is done, the longest unchecked first',
    async () => {
      const due = await insertMany(20);
      for (const [i, { did }] of due.entries()) await setChecked([did], `${50 - i} days`);
      await runOnce(optionsFor(due));
      const place = (i: number) => hosts.asked.indexOf(due[i]?.name ?? '');
      expect(hosts.asked.toSorted()).toEqual(namesOf(due));
      expect(place(0)).toBeLessThan(place(19));
    },
  );

  it('a domain that cannot be asked is asked again within the hour, and at the latest when its 72 h are over', async () => {
    const [retried, waiting, over] = (await insertMany(3)) as [Hosted, Hosted, Hosted];
    await setChecked([retried.did], '61 minutes', '30 hours');
    await setChecked([waiting.did], '59 minutes', '30 hours');
    await setChecked([over.did], '1 minute', '72 hours 1 minute');
    // No host answers: the map leads to a closed port.
    await hosts.close();
    await runOnce(optionsFor([retried, waiting, over]));
    const checkedNow = async ({ did }: Hosted) =>
      Date.now() - ((await store.principals.find(did))?.lastCheckedMs ?? 0) < 50_000;
    expect(await Promise.all([retried, waiting, over].map(checkedNow))).toEqual([true, false, true]);
    expect(await Promise.all([retried, waiting, over].map(({ did }) => stateOf(did)))).toEqual([
      'verified',
      'verified',
      'unverified',
    ]);
  });

  it('SIGTERM amid a round: what is under way is recorded, the exit code is 0, the rest is done by the next', async () => {
    const due = await insertMany(40);
    let open = () => {};
    hosts.gate = new Promise((resolve) => {
      open = resolve;
    });
    const worker = startWorker(optionsFor(due));
    while (hosts.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    worker.signal('SIGTERM');
    while (!worker.log.some((line) => line.includes('stopping')))
      await new Promise((resolve) => setImmediate(resolve));
    open();
    expect(await worker.ended).toBe(0);
    const asked = hosts.asked.length;
    expect(asked).toBeLessThan(due.length);
    await runOnce(optionsFor(due));
    expect(hosts.asked.toSorted()).toEqual(namesOf(due));
  });

  it.runIf(isDeep)(
    'SIGTERM amid a single round: no further job is begun, and the exit code says that it was not whole',
    async () => {
      const due = await insertMany(1);
      let open = () => {};
      hosts.gate = new Promise((resolve) => {
        open = resolve;
      });
      const worker = startWorker({ ...optionsFor(due), parameters: ['--once'] });
      while (hosts.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
      worker.signal('SIGTERM');
      open();
      expect(await worker.ended).toBe(1);
    },
  );

  it('SIGKILL amid a round: the lock goes with the process, and the next one does what was not recorded', async () => {
    const due = await insertMany(10);
    let open = () => {};
    hosts.gate = new Promise((resolve) => {
      open = resolve;
    });
    const worker = startWorker(optionsFor(due));
    while (hosts.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    worker.signal('SIGKILL');
    await worker.ended;
    while (await isAnyJobLocked());
    open();
    await runOnce(optionsFor(due));
    for (const { did } of due) expect((await store.principals.find(did))?.lastCheckedMs).not.toBeNull();
  });
});

describe('revocations cut off between their phases', () => {
  it('are stamped once nobody can be at them any more; others are left alone', async () => {
    const { did } = await insertHosted(store);
    const [cutOff, underWay, active] = await insertGrants(store, did, 3);
    await sql.query(
      `update grants set revocation_recorded_at = now() - case id when $1 then interval '11 seconds' else '0' end
       where id in ($1, $2)`,
      [cutOff, underWay],
    );
    await runOnce(optionsFor([]));
    const revokedAt = async (id = '') => (await store.grants.find(id))?.revokedAtMs;
    expect(await revokedAt(cutOff)).toBeGreaterThan(Date.now() - 60_000);
    expect(await revokedAt(underWay)).toBeNull();
    expect(await revokedAt(active)).toBeNull();
    const first = await revokedAt(cutOff);
    await runOnce(optionsFor([]));
    expect(await revokedAt(cutOff)).toBe(first);
  });

  it.runIf(isDeep)('a Principal whose barrier is held up does not hold up the others', async () => {
    const [held, free] = (await insertMany(2)) as [Hosted, Hosted];
    const [heldGrant] = await insertGrants(store, held.did, 1);
    const [freeGrant] = await insertGrants(store, free.did, 1);
    const ids = [heldGrant, freeGrant];
    await sql.query(
      `update grants set revocation_recorded_at = now() - interval '1 minute' where id = any ($1)`,
      [ids],
    );
    await sql.query('begin');
    await sql.query('select pg_advisory_xact_lock_shared(1, hashtext($1))', [held.did]);
    try {
      await runOnce(optionsFor([held, free]));
    } finally {
      await sql.query('rollback');
    }
    expect((await store.grants.find(heldGrant ?? ''))?.revokedAtMs).toBeNull();
    expect((await store.grants.find(freeGrant ?? ''))?.revokedAtMs).not.toBeNull();
  });
});

it('the admin port tells that the worker lives, is ready, and what its jobs did', async () => {
  const worker = startWorker(optionsFor([]));
  const { adminPort, jobs } = JSON.parse(await worker.line('"working"')) as {
    adminPort: number;
    jobs: string[];
  };
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${adminPort}${path}`);
    return { status: response.status, text: await response.text() };
  };
  const done = jobs.map((job) => `svc_job_rounds_total{job_name="${job}",outcome="done"} 1`);
  let metrics = '';
  while (!done.every((line) => metrics.includes(line))) metrics = (await get('/metrics')).text;
  expect(jobs).toContain('close-days');
  expect(metrics).toContain('svc_content_broken_days 0');
  expect((await get('/livez')).status).toBe(200);
  const ready = await get('/readyz');
  expect([ready.status, JSON.parse(ready.text)]).toEqual([
    200,
    {
      ok: true,
      checks: {
        storage: 'ok',
        clock: 'ok',
        fence: 'none',
        keys: 'ok',
        signer: 'ok',
        jobs: 'ok',
        content: 'ok',
        cold: 'ok',
      },
    },
  ]);
  worker.signal('SIGTERM');
  expect(await worker.ended).toBe(0);
});

it('partitions of the days to come are made ahead', async () => {
  const countPartitions = `select count(*)::int as n from pg_inherits where inhparent = 'receipts'::regclass`;
  const before = (await sql.query<{ n: number }>(countPartitions)).rows[0]?.n ?? 0;
  const { rows } = await sql.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'receipts'::regclass
     order by 1 desc limit 1`,
  );
  await sql.query(`drop table ${rows[0]?.name}`);
  await runOnce(optionsFor([]));
  expect((await sql.query<{ n: number }>(countPartitions)).rows[0]?.n).toBe(before);
});
