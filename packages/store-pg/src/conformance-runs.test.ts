/**
 * The queue of conformance runs: one running per account, each taken once, none that stays running (interface
 * §Conformance run).
 */
import { randomBytes } from 'node:crypto';
import { encodeUlid, type Sha256 } from '@svc/protocol';
import type { Tenant } from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const stores = withStores();
const VECTORS = { sha256: `sha256:${'0'.repeat(64)}` as Sha256, conformanceVersion: '1.0.0' };
const ENDED = { status: 'passed', requests: 7, error: null, reportText: '{}' } as const;
const newRun = (account: string, keyId = 'key', org = account, crowd: Tenant['crowd'] = 'tenants') => ({
  runId: `cfr_${encodeUlid(Date.now(), randomBytes(10))}`,
  account,
  keyId,
  endpoint: 'https://engine.example/',
  vectors: VECTORS,
  tenant: { crowd, org },
});
let sql: Client;
beforeAll(async () => {
  sql = new Client({ connectionString: stores.url });
  await sql.connect();
});
afterAll(() => sql.end());
beforeEach(() => sql.query('delete from conformance_runs'));

const lapse = () => sql.query(`update conformance_runs set leased_until = now() - interval '1 ms'`);
const taken = async (lease: string) => {
  const run = await stores.first.conformanceRuns.take(lease, VECTORS);
  if (run === null) throw new Error('no run waits');
  return run;
};

it('of concurrent starts by one account one is stored, and another account can start its own', async () => {
  const starts = Array.from({ length: 12 }, (_, i) =>
    (i % 2 === 0 ? stores.first : stores.second).conformanceRuns.insert(newRun('rp a')),
  );
  expect((await Promise.all(starts)).filter((run) => run !== null)).toHaveLength(1);
  expect(await stores.first.conformanceRuns.insert(newRun('principal a'))).not.toBeNull();
});

it('a start that is rolled back does not block the account', async () => {
  const failing = stores.first.transaction(async (tx) => {
    await tx.conformanceRuns.insert(newRun('rp a'));
    throw new Error('rolled back');
  });
  await expect(failing).rejects.toThrow('rolled back');
  expect(await stores.second.conformanceRuns.insert(newRun('rp a'))).not.toBeNull();
});

it('runners on two nodes take each run once, the oldest first', async () => {
  const runs = Array.from({ length: 10 }, (_, i) => newRun(`rp ${i}`));
  for (const run of runs) await stores.first.conformanceRuns.insert(run);
  expect((await taken('first')).runId).toBe(runs[0]?.runId);
  const takes = Array.from({ length: 30 }, (_, i) =>
    (i % 2 === 0 ? stores.first : stores.second).conformanceRuns.take(`lease ${i}`, VECTORS),
  );
  const ids = (await Promise.all(takes)).flatMap((run) => (run === null ? [] : [run.runId]));
  expect(ids.toSorted()).toEqual(
    runs
      .slice(1)
      .map(({ runId }) => runId)
      .toSorted(),
  );
  await lapse();
  expect(await stores.first.conformanceRuns.take('again', VECTORS)).toBeNull();
});

it('a run has the vectors of the runner that took it, and finishes once', async () => {
  const { runId } = newRun('rp a');
  await stores.first.conformanceRuns.insert({ ...newRun('rp a'), runId });
  const vectors = { ...VECTORS, conformanceVersion: '2.0.0' };
  const run = await stores.first.conformanceRuns.take('lease', vectors);
  if (run === null) throw new Error('no run waits');
  expect(await stores.first.conformanceRuns.prolong(run, 3)).toBe(true);
  expect(await stores.second.conformanceRuns.find(runId)).toMatchObject({
    status: 'running',
    requests: 3,
    finishedAtMs: null,
    vectors,
  });
  expect(await stores.first.conformanceRuns.finish({ ...run, lease: 'other' }, ENDED)).toBe(false);
  expect(await stores.first.conformanceRuns.finish(run, ENDED)).toBe(true);
  expect(await stores.first.conformanceRuns.finish(run, { ...ENDED, status: 'failed' })).toBe(false);
  expect(await stores.first.conformanceRuns.prolong(run, 4)).toBe(false);
  const found = await stores.second.conformanceRuns.find(runId);
  expect(found).toMatchObject({ ...ENDED, vectors });
  expect(found?.finishedAtMs).toBeTypeOf('number');
});

it('a runner with a lapsed lease can neither prolong nor finish its run, which ends as interrupted', async () => {
  await stores.first.conformanceRuns.insert(newRun('rp a'));
  const run = await taken('lease');
  expect(await stores.second.conformanceRuns.endInterrupted(Date.now())).toBe(0);
  await lapse();
  expect(await stores.first.conformanceRuns.prolong(run, 1)).toBe(false);
  expect(await stores.first.conformanceRuns.finish(run, ENDED)).toBe(false);
  expect(await stores.second.conformanceRuns.endInterrupted(Date.now())).toBe(1);
  expect(await stores.first.conformanceRuns.find(run.runId)).toMatchObject({
    status: 'error',
    error: 'interrupted: the runner ended',
    reportText: null,
  });
  expect(await stores.first.conformanceRuns.insert(newRun('rp a'))).not.toBeNull();
});

it('a run that no runner takes ends after 15 minutes', async () => {
  const { runId } = (await stores.first.conformanceRuns.insert(newRun('rp a'))) ?? {};
  await sql.query(`update conformance_runs set created_at = now() - interval '14 minutes 50 seconds'`);
  expect(await stores.first.conformanceRuns.endInterrupted(Date.now())).toBe(0);
  await sql.query(`update conformance_runs set created_at = now() - interval '15 minutes 1 second'`);
  expect(await stores.first.conformanceRuns.endInterrupted(Date.now())).toBe(1);
  expect(await stores.first.conformanceRuns.find(runId ?? '')).toMatchObject({
    status: 'error',
    error: 'interrupted: no runner took the run',
  });
});

it('countStarts counts the starts of a key for an hour, including ended runs', async () => {
  const repository = stores.first.conformanceRuns;
  for (const age of ['61 minutes', '59 minutes', '1 minute']) {
    const run = await repository.insert(newRun('rp a', 'key a'));
    await sql.query(
      `update conformance_runs set status = 'failed', finished_at = now(), created_at = now() - $2::interval where run_id = $1`,
      [run?.runId, age],
    );
  }
  await repository.insert(newRun('rp a', 'key b'));
  const { starts, firstLeavesInSeconds } = await repository.countStarts('key a');
  expect(starts).toBe(2);
  expect(firstLeavesInSeconds).toBeGreaterThan(30);
  expect(firstLeavesInSeconds).toBeLessThanOrEqual(60);
});

it('runs are removed 30 days after their end, up to the limit per call', async () => {
  for (const age of ['31 days', '31 days', '29 days']) {
    const run = await stores.first.conformanceRuns.insert(newRun('rp a'));
    await sql.query(
      `update conformance_runs set status = 'error', finished_at = now() - $2::interval where run_id = $1`,
      [run?.runId, age],
    );
  }
  expect(await stores.first.conformanceRuns.removeOld(1, Date.now())).toBe(1);
  expect(await stores.first.conformanceRuns.removeOld(100, Date.now())).toBe(1);
  expect(await stores.first.conformanceRuns.removeOld(100, Date.now())).toBe(0);
});

it('the latest 1,000 runs of newcomers are kept, any for at least an hour, and runs of others stay unaffected', async () => {
  const fill = (count: number, isNewcomer: boolean, minutesAgo: number) =>
    sql.query(
      `insert into conformance_runs (run_id, account, key_id, endpoint, vectors_sha256, conformance_version, org, is_newcomer,
          status, finished_at)
        select 'cfr_' || gen_random_uuid(), 'rp ' || i, 'key', 'https://engine.example/', 'sha256:' || repeat('0', 64), '1.0.0',
          'org ' || i, $2, 'failed', now() - make_interval(mins => $3, secs => i / 1000.0)
        from generate_series(1, $1) as i`,
      [count, isNewcomer, minutesAgo],
    );
  const { conformanceRuns } = stores.first;
  await fill(5, false, 10_000);
  await fill(1_000, true, 120);
  expect(await conformanceRuns.removeOld(100, Date.now())).toBe(0);
  await fill(30, true, 30);
  expect(await conformanceRuns.removeOld(20, Date.now())).toBe(20);
  expect(await conformanceRuns.removeOld(100, Date.now())).toBe(10);
  await fill(1_500, true, 10);
  expect(await conformanceRuns.removeOld(2_000, Date.now())).toBe(970);
  const { rows } = await sql.query(
    'select is_newcomer, count(*)::integer as kept from conformance_runs group by is_newcomer order by 1',
  );
  expect(rows).toEqual([
    { is_newcomer: false, kept: 5 },
    { is_newcomer: true, kept: 1_530 },
  ]);
});

it('a database clock that is ahead does not end or remove runs before their time', async () => {
  const { conformanceRuns } = stores.first;
  const waiting = await conformanceRuns.insert(newRun('rp a'));
  await conformanceRuns.insert(newRun('rp b'));
  await sql.query(`update conformance_runs set status = 'error', finished_at = now() where account = 'rp b'`);
  // The process's clock is a month behind the database's: one of them has stepped.
  const heldMs = Date.now() - 31 * 86_400_000;
  const created = `update conformance_runs set created_at = now() - interval '31 days' where run_id = $1`;
  await sql.query(created, [waiting?.runId]);
  await sql.query(
    `update conformance_runs set finished_at = now() - interval '31 days' where account = 'rp b'`,
  );
  expect(await conformanceRuns.endInterrupted(heldMs)).toBe(0);
  expect(await conformanceRuns.removeOld(100, heldMs)).toBe(0);
  expect(await conformanceRuns.endInterrupted(Date.now())).toBe(1);
  expect(await conformanceRuns.removeOld(100, Date.now())).toBe(1);
});

describe('the order in which runs are taken', () => {
  const insertOf = async (org: string, runs: number, crowd: Tenant['crowd'] = 'tenants') => {
    for (let i = 0; i < runs; i++)
      await stores.first.conformanceRuns.insert(newRun(`rp ${org} ${i}`, 'key', org, crowd));
  };
  /** The orgs of the next runs. */
  const takeOrgs = async (count: number): Promise<string[]> => {
    const orgs: string[] = [];
    for (let i = 0; i < count; i++) {
      const { runId } = await taken(`lease ${i}`);
      const { rows } = await sql.query('select org from conformance_runs where run_id = $1', [runId]);
      orgs.push(rows[0].org);
    }
    return orgs;
  };

  it('alternates between orgs: a single run of one org is taken second, before 99 more of another', async () => {
    await insertOf('org_many', 100);
    await insertOf('org_one', 1);
    expect(await takeOrgs(3)).toEqual(['org_many', 'org_one', 'org_many']);
  });

  it('gives four concurrent runners the runs of four orgs, whoever was first in the queue', async () => {
    await insertOf('org_many', 20);
    for (const org of ['org_a', 'org_b', 'org_c']) await insertOf(org, 1);
    await Promise.all(['1', '2', '3', '4'].map(taken));
    const { rows } = await sql.query('select distinct org from conformance_runs where lease is not null');
    expect(rows).toHaveLength(4);
  });

  it('takes orgs in turn also if each run ends before the next one is taken', async () => {
    await insertOf('org_many', 5);
    await insertOf('org_one', 2);
    const orgs: string[] = [];
    for (let i = 0; i < 4; i++) {
      orgs.push(...(await takeOrgs(1)));
      await sql.query(
        `update conformance_runs set status = 'passed', finished_at = now() where status = 'running' and lease is not null`,
      );
    }
    expect(orgs).toEqual(['org_many', 'org_one', 'org_many', 'org_one']);
  });

  it('gives newcomers together the share of one org, and takes newcomers in turn', async () => {
    await insertOf('new_a', 10, 'newcomers');
    await insertOf('new_b', 1, 'newcomers');
    await insertOf('org_a', 2);
    expect(await takeOrgs(5)).toEqual(['new_a', 'org_a', 'new_b', 'org_a', 'new_a']);
  });

  it('counts runs without an org, started by a former version, by their accounts', async () => {
    await insertOf('org_many', 3);
    // Times have milliseconds, so the older runs are moved back to be earlier for certain.
    await sql.query(`update conformance_runs set org = null, created_at = created_at - interval '1 second'`);
    await insertOf('org_one', 1);
    await taken('first');
    expect((await takeOrgs(3)).at(-1)).toBe('org_one');
  });
});

it('countForUpdate counts every earlier run of an org when its accounts start runs concurrently', async () => {
  const counts = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      (i % 2 === 0 ? stores.first : stores.second).transaction(async (tx) => {
        const runs = await tx.conformanceRuns.countForUpdate('org_a');
        await tx.conformanceRuns.insert(newRun(`rp ${i}`, 'key', 'org_a'));
        return runs;
      }),
    ),
  );
  expect(counts.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});
