/**
 * A worker is killed (SIGKILL) at any request to the store while it packs, proves and moves days. The next round
 * repairs all that is left: every day is cold and complete, and no Receipt is lost, stored twice or counted twice.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseColdDay } from '@svc/cold-ledger';
import { checkDatabase } from '@svc/fsck';
import { openObjects } from '@svc/object-store';
import { daysAgo, withDatabase } from '@svc/testkit';
import { type S3Server, startS3Server } from '@svc/testkit/s3-server';
import { sampled } from '@svc/testkit/sampled';
import { runSql, untilAlone } from '@svc/testkit/store/session';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorker } from '../harness.ts';
import { onCopy } from './copies.ts';
import { makeWorkForEveryJob } from './work-for-every-job.ts';

const prepared = withDatabase();
const keysDir = mkdtempSync(join(tmpdir(), 'svc-pack-killed-'));
const credentials = { AWS_ACCESS_KEY_ID: 'svc:test', AWS_SECRET_ACCESS_KEY: 'secret' };
const before = Object.keys(credentials).map((name) => [name, process.env[name]] as const);
const DUE = [daysAgo(3), daysAgo(2)];
let server: S3Server;
let counted: unknown;
/** Number of requests of an undisturbed round. */
let requests: number;

beforeAll(async () => {
  server = await startS3Server('cold', 1_000);
  Object.assign(process.env, credentials);
  await makeWorkForEveryJob({ databaseUrl: prepared.url, keysDir });
  // Does the work of all other jobs.
  const others = startWorker({ databaseUrl: prepared.url, keysDir, hosts: {}, parameters: ['--once'] });
  expect(await others.ended, others.log.join('\n')).toBe(0);
  counted = await runSql(prepared.url, COUNTS);
  await untilAlone(prepared.url);
  await onCopy(prepared.url, async (url) => {
    const worker = pack(url);
    expect(await worker.ended, worker.log.join('\n')).toBe(0);
    requests = server.asked;
    await expectPacked(url);
  });
  expect(requests).toBeGreaterThan(8);
}, 120_000);
afterAll(async () => {
  for (const [name, value] of before)
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  await server?.stop();
  rmSync(keysDir, { recursive: true, force: true });
});

const COUNTS =
  'select day::text, relying_party, reason, verifies::integer from usage_counts order by 1, 2, 3';

const pack = (databaseUrl: string) =>
  startWorker({
    ...{ databaseUrl, keysDir, hosts: {}, parameters: ['--once'] },
    env: { ...credentials, SVC_COLD: 's3://cold/p', SVC_COLD_ENDPOINT: server.endpoint, SVC_HOT_DAYS: '1' },
  });

const expectPacked = async (databaseUrl: string): Promise<void> => {
  const days = await runSql<{ day: string; state: string; manifest: string }>(
    databaseUrl,
    'select day::text, state, manifest from cold_days order by cold_days.day',
  );
  expect(days.map(({ day, state }) => [day, state])).toEqual(DUE.map((day) => [day, 'cold']));
  const opened = await openObjects('s3://cold/p', server.endpoint);
  const faults: string[] = [];
  const { notes } = await checkDatabase({
    databaseUrl,
    objects: opened.objects,
    onFault: ({ check, where, problem }) => faults.push(`${check}: ${where}: ${problem}`),
  });
  opened.close();
  // Objects that no manifest names would be reported as notes.
  expect([faults, notes]).toEqual([[], []]);
  expect(await runSql(databaseUrl, COUNTS)).toEqual(counted);
  const named = days.flatMap(({ manifest }) => Object.values(parseColdDay(manifest).tables).flat()).length;
  const parquet = [...server.objects.keys()].filter((name) => name.endsWith('.parquet'));
  expect(parquet).toHaveLength(named);
  const left = `select count(*)::integer as count from receipts where evaluated_at < '${daysAgo(1)}'`;
  const old = `and evaluated_at > now() - interval '1 year'`;
  expect(await runSql(databaseUrl, `${left} ${old}`)).toEqual([{ count: 0 }]);
};

it('after a worker was killed at a request to the store, the next one packs every day, with nothing lost or stored twice', async () => {
  const tries = Math.min(requests, sampled({ quick: 1, deep: 100 }));
  for (let i = 0; i < tries; i++) {
    const point = 1 + Math.floor(((i + 0.5) * requests) / tries);
    await onCopy(prepared.url, async (url) => {
      server.objects.clear();
      const from = server.asked;
      const worker = pack(url);
      server.listen((asked) => {
        if (asked - from === point) worker.signal('SIGKILL');
      });
      expect(await worker.ended, `alive at request ${point}`).toBeNull();
      server.listen(() => {});
      await untilAlone(url);
      const next = pack(url);
      expect(await next.ended, next.log.join('\n')).toBe(0);
      await expectPacked(url);
    });
  }
}, 300_000);
