/**
 * A server that answers but does not accept writes: readiness says why, and verifies fail closed within two seconds.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OwnCluster, SERVICE_ROLE, startOwnCluster } from '@svc/testkit';
import { isDeep } from '@svc/testkit/sampled';
import { endSessions, runSql } from '@svc/testkit/store/session';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiProcesses, startApiProcesses } from '../world/api-process.ts';
import {
  call,
  createTenants,
  type HeldGrant,
  issueGrant,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

const WITHIN_MS = 2_000;
const RECOVERED = { timeout: 15_000, interval: 100 };

/** A small disk for this test, which needs root on Linux; null where there is none. */
const mountDisk = (): string | null => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null;
  const place = mkdtempSync(join(tmpdir(), 'svc-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=300m,mode=1777', 'tmpfs', place]);
  if (status === 0) return place;
  rmSync(place, { recursive: true });
  return null;
};

const disk = mountDisk();
if (disk === null)
  console.warn('SKIPPED: a disk that is really full. It takes root on Linux, to mount a tmpfs');

let cluster: OwnCluster;
let api: ApiProcesses;
let tenants: Tenants;
let grant: HeldGrant;
beforeAll(async () => {
  cluster = await startOwnCluster({ durable: false, parent: disk ?? undefined });
  api = await startApiProcesses(1, cluster.url);
  tenants = await createTenants(baseUrl());
  grant = await issueGrant(tenants);
}, 60_000);
afterAll(async () => {
  await api?.stop();
  await cluster?.stop();
  if (disk === null) return;
  spawnSync('umount', [disk]);
  rmSync(disk, { recursive: true, force: true });
}, 60_000);

const baseUrl = () => api.processes[0]?.baseUrl ?? '';
const readyz = async () => {
  const { status, text } = await call(api.processes[0]?.adminUrl ?? '', 'GET', '/readyz');
  return { status, storage: JSON.parse(text).checks.storage as string };
};

/**
 * Alters the database for new sessions, and ends the others. In a sample it alters the server for all sessions, so that
 * none has to be opened again.
 */
const alter = async (change: string) => {
  if (!isDeep) {
    await runSql(cluster.adminUrl, `alter system ${change}`);
    await runSql(cluster.adminUrl, 'select pg_reload_conf()');
    return;
  }
  await runSql(cluster.adminUrl, `alter database svc ${change}`);
  await endSessions(cluster.adminUrl, `select pid from pg_stat_activity where datname = 'svc'`);
};

const expectRefusals = async (storage: unknown) => {
  await expect.poll(readyz, RECOVERED).toEqual({ status: 503, storage });
  expect((await call(baseUrl(), 'GET', '/healthz')).status).toBe(503);
  const body = await verifyBody(tenants, grant);
  const startedAtMs = performance.now();
  const answer = await call(baseUrl(), 'POST', '/verify', { key: tenants.rpKey, body });
  expect(answer.status).toBe(503);
  expect(performance.now() - startedAtMs).toBeLessThan(WITHIN_MS);
};

const expectRecovery = async () => {
  await expect.poll(readyz, RECOVERED).toEqual({ status: 200, storage: 'ok' });
  const verify = async () => {
    const body = await verifyBody(tenants, grant);
    return (await call(baseUrl(), 'POST', '/verify', { key: tenants.rpKey, body })).status;
  };
  await expect.poll(verify, RECOVERED).toBe(200);
};

it('a read-only database: /readyz names it, verifications are 503, and decisions resume afterwards', async () => {
  await alter('set default_transaction_read_only = on');
  await expectRefusals('read-only');
  await alter('reset default_transaction_read_only');
  await expectRecovery();
}, 60_000);

it('a disk without room for a new file: /readyz says disk full, and decisions resume afterwards', async () => {
  // Raises the server's error for a full disk in a function of the same name, which is found first.
  await runSql(
    cluster.url,
    `create schema disk;
     grant usage on schema disk to ${SERVICE_ROLE};
     create function disk.pg_export_snapshot() returns text language plpgsql as
       $$ begin raise exception 'could not write to file: No space left on device' using errcode = 'disk_full'; end $$`,
  );
  await alter('set search_path = disk, public, pg_catalog');
  await expect.poll(readyz, RECOVERED).toEqual({ status: 503, storage: expect.stringMatching(/^disk full/) });
  await alter('reset search_path');
  await expectRecovery();
}, 60_000);

it('a file system that refuses writes: /readyz shows the error of the server, and decisions resume afterwards', async () => {
  const folder = join(cluster.dataDir, 'cluster', 'pgdata', 'pg_snapshots');
  const { mode } = statSync(folder);
  chmodSync(folder, 0o500);
  await expect.poll(readyz, RECOVERED).toEqual({
    status: 503,
    storage: expect.stringMatching(
      /^refuses writes: could not create file "pg_snapshots[^:]*": Permission denied$/,
    ),
  });
  chmodSync(folder, mode);
  await expectRecovery();
}, 60_000);

it.skipIf(disk === null)(
  'a full disk: /readyz names it, every answer comes within two seconds, and decisions resume without a restart',
  async () => {
    const filler = join(disk ?? '', 'filler');
    fill(filler);
    await expect.poll(readyz, RECOVERED).toEqual({
      status: 503,
      storage: expect.stringMatching(/^(disk full|unreachable)/),
    });
    for (let i = 0; i < 20; i++) {
      const body = await verifyBody(tenants, grant);
      const startedAtMs = performance.now();
      // A write that fits into an existing page is stored.
      const { status } = await call(baseUrl(), 'POST', '/verify', { key: tenants.rpKey, body });
      expect([200, 503]).toContain(status);
      expect(performance.now() - startedAtMs).toBeLessThan(WITHIN_MS);
    }
    rmSync(filler);
    await expectRecovery();
  },
  60_000,
);

const fill = (path: string): void => {
  for (let bytes = 1 << 20; bytes >= 1; bytes >>= 1) {
    const piece = Buffer.alloc(bytes);
    try {
      for (;;) appendFileSync(path, piece);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
};
