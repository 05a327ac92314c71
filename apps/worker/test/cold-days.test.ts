/** A worker has old days leave the database, and what is left of it is proven as before. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkDatabase } from '@svc/fsck';
import { daysAgo, withDatabase } from '@svc/testkit';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, expect, it } from 'vitest';
import { startWorker } from './harness.ts';
import { makeWorkForEveryJob } from './kill/work-for-every-job.ts';

const database = withDatabase();
const keysDir = mkdtempSync(join(tmpdir(), 'svc-worker-cold-'));
const coldDir = mkdtempSync(join(tmpdir(), 'svc-worker-objects-'));
afterAll(() => {
  for (const folder of [keysDir, coldDir]) rmSync(folder, { recursive: true, force: true });
});

it('packs and detaches days that are old enough, counts none twice, and the rest of the database has no fault', async () => {
  await makeWorkForEveryJob({ databaseUrl: database.url, keysDir });
  const counts = 'select day::text, verifies::integer from usage_by_day order by day, verifies';
  const env = { SVC_COLD: pathToFileURL(coldDir).href, SVC_HOT_DAYS: '1' };
  const run = async () => {
    const worker = startWorker({
      databaseUrl: database.url,
      keysDir,
      hosts: {},
      parameters: ['--once'],
      env,
    });
    expect(await worker.ended, worker.log.join('\n')).toBe(0);
    return worker.log;
  };
  const log = await run();
  expect(log.filter((line) => line.includes('"cold.packed"'))).toHaveLength(2);
  const counted = await runSql(database.url, counts);
  expect(counted.length).toBeGreaterThan(0);
  const cold = `select day::text, state from cold_days order by cold_days.day`;
  const left = [daysAgo(3), daysAgo(2)].map((day) => ({ day, state: 'cold' }));
  expect(await runSql(database.url, cold)).toEqual(left);
  expect(readdirSync(coldDir)).toEqual(expect.arrayContaining([daysAgo(3), daysAgo(2)]));

  await run();
  expect(await runSql(database.url, cold)).toEqual(left);
  const untold = startWorker({ databaseUrl: database.url, keysDir, hosts: {}, parameters: ['--once'] });
  expect(await untold.ended).not.toBe(0);
  expect(untold.log.join('\n')).toContain(
    'SVC_COLD is not set, and 2 days of this database can be read only from there',
  );
  expect(await runSql(database.url, counts)).toEqual(counted);
  const faults: string[] = [];
  const { notes } = await checkDatabase({
    databaseUrl: database.url,
    onFault: ({ check, where, problem }) => faults.push(`${check}: ${where}: ${problem}`),
  });
  expect(faults).toEqual([]);
  expect(notes.join()).toContain('2 days are cold');
}, 60_000);
