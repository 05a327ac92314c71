/**
 * Secrets of the runner: it calls hosts that customers name, so it has no signing key, and no credential of the
 * service.
 */

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOwnEngine, serveConformance } from '@svc/conformance/node';
import type { Store } from '@svc/service';
import { grantRunner, migrate } from '@svc/store-pg';
import { type OwnCluster, startOwnCluster } from '@svc/testkit';
import { isDeep } from '@svc/testkit/sampled';
import { openStore } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { insertRun, readRun, runOnce, startRunner } from './harness.ts';

const role = 'svc_runner';
/** Production accepts only a durable database. */
let cluster: OwnCluster;
let store: Store;
let folder: string;
let databaseUrlFile: string;
beforeAll(async () => {
  cluster = await startOwnCluster({ durable: true });
  await migrate(cluster.url);
  store = openStore(cluster.url);
  await runSql(cluster.url, `create role ${role} login password 'p'`);
  await grantRunner(cluster.url, role);
  folder = mkdtempSync(join(tmpdir(), 'svc-runner-test-'));
  databaseUrlFile = join(folder, 'database-url');
  const url = Object.assign(new URL(cluster.url), { username: role, password: 'p' }).href;
  writeFileSync(databaseUrlFile, `${url}\n`, { mode: 0o600 });
}, 60_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await store?.close();
  await cluster?.stop();
}, 60_000);

const engine = async () => {
  const server = await serveConformance(createOwnEngine());
  onTestFinished(() => server.close());
  return { 'engine.example': server.url.replace(/\/$/, '') };
};
const refusing = async () => {
  const server = createServer((_, response) => void response.writeHead(503).end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { 'engine.example': `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};
const PRODUCTION = { SVC_ENV: 'production', SVC_BASE_URL: 'https://svc.example', SVC_OUTBOUND_MAP: '' };

it('the runner needs only a database role and the address of the database', async () => {
  const id = await insertRun(store, 'https://engine.example/');
  const env = { DATABASE_URL_FILE: databaseUrlFile };
  // In a sample the endpoint refuses its first call, which ends the run as well.
  const hosts = isDeep ? await engine() : await refusing();
  await runOnce({ databaseUrl: '', hosts, env });
  expect(await readRun(store, id)).toMatchObject({ status: isDeep ? 'passed' : 'failed' });
});

it('the runner starts in production without keys, token and fence', async () => {
  const env = { ...PRODUCTION, DATABASE_URL_FILE: databaseUrlFile };
  const runner = startRunner({ databaseUrl: '', env });
  const { adminPort } = JSON.parse(await runner.line('"working"'));
  expect((await fetch(`http://127.0.0.1:${adminPort}/readyz`)).status).toBe(200);
  expect(runner.log.some((line) => line.includes('"secrets"'))).toBe(false);
});

it.runIf(isDeep)(
  'the runner reads no secret that it does not need, and names those that it should not have been given',
  async () => {
    // Each value would end a process that reads it: a missing file, a token that is too short, an invalid place.
    const missing = join(folder, 'missing');
    const given = {
      SVC_RECEIPT_KEYS: missing,
      SVC_STATUS_KEYS: missing,
      SVC_SANDBOX_KEYS: missing,
      SVC_KEY_PASSPHRASE_FILE: missing,
      SVC_PROVISION_KEYS_FILE: missing,
      SVC_ADMIN_TOKEN: 'short',
    };
    const env = { ...PRODUCTION, DATABASE_URL_FILE: databaseUrlFile, SVC_FENCE: 'nowhere', ...given };
    const runner = startRunner({ databaseUrl: '', env });
    await runner.line('"working"');
    const notes = runner.log
      .filter((line) => line.includes('"secrets"'))
      .map((line) => JSON.parse(line).note);
    expect(notes.map((note: string) => note.split(' ')[0]).toSorted()).toEqual(Object.keys(given).toSorted());
    expect(runner.log.join()).not.toContain('short');
  },
);

it.runIf(isDeep)('the runner does not start on the database of another service', async () => {
  await runSql(cluster.url, `insert into service_dids (number, did) values (1, 'did:web:svc.example')`);
  const env = { DATABASE_URL_FILE: databaseUrlFile, SVC_BASE_URL: 'http://scv.example' };
  const runner = startRunner({ databaseUrl: '', env, parameters: ['--once'] });
  expect([await runner.ended, runner.log.join()]).toEqual([
    1,
    expect.stringMatching(/is that of did:web:svc\.example, .* did:web:scv\.example/),
  ]);
});
