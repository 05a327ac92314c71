/**
 * Guarantees of the worker: everything that is due is done once, even if a worker dies meanwhile (interface §Limits,
 * protocol §9).
 */

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
/** A server notices the death of a client with some delay. */
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

/** Sums of the counts that rounds of re-verification logged, for all workers of a log. */
const countsOf = (log: readonly string[]): Record<string, number> => {
  const sums: Record<string, number> = {};
  const rounds = log
    .filter((line) => line.includes('"job.done"') && line.includes('"reverify-domains"'))
    .map((line) => JSON.parse(line) as Record<string, number>);
  for (const round of rounds)
    for (const item of ['proven', 'absent', 'unknown', 'unasked', 'astray', 'lost'])
      sums[item] = (sums[item] ?? 0) + (round[item] ?? Number.NaN);
  return sums;
};

describe('two rounds of the worker', () => {
  /** Three Principals whose host answers, and three whose host does not. */
  let answering: [Hosted, Hosted, Hosted];
  let away: [Hosted, Hosted, Hosted];
  let grants: readonly string[];
  let asked: readonly string[];
  let partitions: number;
  const countPartitions = async () =>
    (
      await sql.query<{ n: number }>(
        `select count(*)::int as n from pg_inherits where inhparent = 'receipts'::regclass`,
      )
    ).rows[0]?.n ?? 0;
  const stampsOf = () => Promise.all(grants.map(async (id) => (await store.grants.find(id))?.revokedAtMs));
  const checksOf = (principals: readonly Hosted[]) =>
    Promise.all(principals.map(async ({ did }) => (await store.principals.find(did))?.lastCheckedMs ?? 0));
  const statesOf = (principals: readonly Hosted[]) => Promise.all(principals.map(({ did }) => stateOf(did)));
  const ofFirst = { stamps: [] as unknown[], checks: [] as number[], counted: {} as Record<string, number> };

  beforeAll(async () => {
    await sql.query(`update principals set last_checked_at = now(), last_proven_at = now()`);
    const serving = await startHosts();
    try {
      answering = (await insertMany(3)) as typeof answering;
      away = (await insertMany(3)) as typeof away;
      const [proven, lost, early] = answering;
      serving.proofs.set(proven.name, { did: proven.did, token: proven.token });
      await setChecked([lost.did], '24 hours 1 second');
      await setChecked([early.did], '23 hours 50 minutes');
      const [retried, waiting, over] = away;
      await setChecked([retried.did], '61 minutes', '30 hours');
      await setChecked([waiting.did], '50 minutes', '30 hours');
      await setChecked([over.did], '1 minute', '72 hours 1 minute');
      const { did } = await insertHosted(store);
      await sql.query('update principals set last_checked_at = now() where did = $1', [did]);
      const claim = await insertHosted(store);
      grants = await insertGrants(store, did, 3);
      // The second one is so late that it is under way however long the worker takes to start.
      await sql.query(
        `update grants set revocation_recorded_at = now() - case id when $1 then interval '11 seconds' else '-1 minute' end
         where id in ($1, $2)`,
        [grants[0], grants[1]],
      );
      partitions = await countPartitions();
      const { rows } = await sql.query<{ name: string }>(
        `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'receipts'::regclass
         order by 1 desc limit 1`,
      );
      await sql.query(`drop table ${rows[0]?.name}`);
      const options = {
        databaseUrl: database.url,
        hosts: Object.fromEntries([
          ...answering.map(({ name }) => [name, serving.url]),
          ...[...away, claim].map(({ name }) => [name, 'http://127.0.0.1:1']),
        ]),
      };
      ofFirst.counted = countsOf(await runOnce(options));
      ofFirst.stamps = await stampsOf();
      ofFirst.checks = await checksOf([...answering, ...away]);
      await sql.query(`update grants set revocation_recorded_at = now() where id = $1`, [grants[1]]);
      await runOnce(options);
      asked = [...serving.asked];
    } finally {
      await serving.close();
    }
  }, 60_000);

  it('ask only the domains that are due, record the results and audit the changes; the second round asks none', async () => {
    const [proven, lost, early] = answering;
    expect(asked.toSorted()).toEqual(namesOf([proven, lost]));
    expect(await statesOf(answering)).toEqual(['verified', 'unverified', 'verified']);
    expect(await audited(proven.did)).toEqual([['system', 'unverified', 'verified', 'proven']]);
    expect(await audited(lost.did)).toEqual([['system', 'verified', 'unverified', 'absent']]);
    expect(await audited(early.did)).toEqual([]);
  });

  it('repeat a check without an answer after an hour, and mark the Principal unverified once its 72 h are over', async () => {
    const isRecent = (ms: number) => Date.now() - ms < 10 * 60_000;
    expect(ofFirst.checks.slice(3).map(isRecent)).toEqual([true, false, true]);
    expect(await statesOf(away)).toEqual(['verified', 'verified', 'unverified']);
  });

  it('count proofs that were found, absent or unknown, and separately those of domains that were proven before', () => {
    expect(ofFirst.counted).toEqual({ proven: 1, absent: 1, unknown: 3, unasked: 2, astray: 3, lost: 2 });
  });

  it('complete a revocation that was cut off between its phases, and leave others alone', async () => {
    const [cutOff, underWay, active] = ofFirst.stamps;
    expect(cutOff).toBeGreaterThan(Date.now() - 10 * 60_000);
    expect([underWay, active]).toEqual([null, null]);
    expect((await stampsOf())[0]).toBe(cutOff);
  });

  it('create missing partitions of the days to come', async () => {
    expect(await countPartitions()).toBe(partitions);
  });
});

describe('re-verification', () => {
  it.runIf(isDeep)('asks each due domain once, even if two workers run at once', async () => {
    const due = await insertMany(30);
    await Promise.all([runOnce(optionsFor(due)), runOnce(optionsFor(due))]);
    expect(hosts.asked.toSorted()).toEqual(namesOf(due));
    for (const { did } of due) expect((await store.principals.find(did))?.lastCheckedMs).not.toBeNull();
  });

  it.runIf(isDeep)('does everything that came due during downtime, the longest unchecked first', async () => {
    const due = await insertMany(20);
    for (const [i, { did }] of due.entries()) await setChecked([did], `${50 - i} days`);
    await runOnce(optionsFor(due));
    const place = (i: number) => hosts.asked.indexOf(due[i]?.name ?? '');
    expect(hosts.asked.toSorted()).toEqual(namesOf(due));
    expect(place(0)).toBeLessThan(place(19));
  });

  it('stopped by SIGTERM records what is under way, exits with 0 and leaves the rest to the next worker', async () => {
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
    const checked = await Promise.all(
      due.map(async ({ did }) => (await store.principals.find(did))?.lastCheckedMs),
    );
    expect(checked.filter((ms) => ms !== null)).toHaveLength(asked);
    // Another test shows that a worker asks every domain that was never checked.
    if (!isDeep) return;
    await runOnce(optionsFor(due));
    expect(hosts.asked.toSorted()).toEqual(namesOf(due));
  });

  it.runIf(isDeep)(
    'stopped by SIGTERM in a single round (--once) begins no further job and exits with 1',
    async () => {
      const due = await insertMany(1);
      // A later job of the round would complete this revocation.
      const [revoked = ''] = await insertGrants(store, due[0]?.did as DidWeb, 1);
      await sql.query(
        `update grants set revocation_recorded_at = now() - interval '1 minute' where id = $1`,
        [revoked],
      );
      let open = () => {};
      hosts.gate = new Promise((resolve) => {
        open = resolve;
      });
      const worker = startWorker({ ...optionsFor(due), parameters: ['--once'] });
      while (hosts.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
      worker.signal('SIGTERM');
      open();
      expect(await worker.ended).toBe(1);
      expect((await store.grants.find(revoked))?.revokedAtMs).toBeNull();
      await runOnce(optionsFor(due));
      expect((await store.grants.find(revoked))?.revokedAtMs).not.toBeNull();
    },
  );

  it.runIf(isDeep)(
    'stopped by SIGKILL loses its lock with the process, and the next worker checks what was not recorded',
    async () => {
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
    },
  );
});

describe('revocations cut off between their phases', () => {
  it.runIf(isDeep)('are completed for other Principals while the barrier of one is held up', async () => {
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

it('the admin port reports that the worker is alive and ready, and the rounds of its jobs', async () => {
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
