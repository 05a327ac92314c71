/**
 * A typo in SVC_DOMAIN changes nothing in the database: it belongs to one service, and only an operator gives that
 * service another name.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { daysAgo, insertReceipts, receiptIdsOf } from '@svc/testkit';
import { programFile } from '@svc/testkit/process/program-file';
import { afterAll, expect, it } from 'vitest';
import { ADMIN_TOKEN, nodeEnv } from '../world/api-node.ts';
import { startApiProcess } from '../world/api-process.ts';
import { withProcesses } from '../world/deployment.ts';
import { call, issueGrant, receiptOf, verifyBody } from '../world/tenants.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'svc-did-test-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const deployment = withProcesses({ SVC_DATA_DIR: dataDir });
const TYPO = { SVC_DATA_DIR: dataDir, SVC_DOMAIN: 'scv.test', SVC_BASE_URL: 'http://scv.test' };
const bothNamed = /is that of did:web:svc\.test, .* configured to be did:web:scv\.test\. Set SVC_DOMAIN/;

const admin = (parameters: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [programFile('apps/admin'), ...parameters], {
    encoding: 'utf8',
    timeout: 30_000,
    env: { PATH: process.env.PATH, DATABASE_URL: deployment.databaseUrl, ...env },
  });
  return { status, out: stdout, err: stderr };
};

const listKids = async () => (await deployment.sql.query('select kid from service_keys order by kid')).rows;

it('an API and svc-admin refuse a database of another service DID, and store no key in it', async () => {
  const before = await listKids();
  await expect(startApiProcess(deployment.databaseUrl, TYPO)).rejects.toThrow(bothNamed);
  const command = admin(['restore', 'withheld'], nodeEnv(deployment.databaseUrl, TYPO));
  expect([command.status, command.err]).toEqual([2, expect.stringMatching(bothNamed)]);
  expect(await listKids()).toEqual(before);
  expect(admin(['service-did'])).toMatchObject({
    status: 0,
    out: expect.stringContaining('did:web:svc.test  since'),
  });
});

it('service-did change shows its effect first, then only the new DID starts; earlier keys work and fsck passes', async () => {
  const tenants = await deployment.createTenants();
  const body = await verifyBody(tenants, await issueGrant(tenants));
  expect(receiptOf(await deployment.call('POST', '/verify', { key: tenants.rpKey, body })).decision).toBe(
    'ALLOW',
  );
  const asAdmin = { key: ADMIN_TOKEN };
  const { json: observer } = await deployment.call('POST', '/observer-keys', { ...asAdmin, body: {} });
  const asked = admin(['service-did', 'change', 'did:web:new.test']);
  expect([asked.status, asked.out]).toEqual([
    1,
    expect.stringMatching(/1 Receipts [\s\S]*Nothing was changed/),
  ]);
  expect(admin(['service-did', 'change', 'did:web:new.test:path']).status).toBe(2);
  expect(admin(['service-did', 'change', 'did:web:new.test', '--apply']).status).toBe(0);
  await expect(startApiProcess(deployment.databaseUrl, { SVC_DATA_DIR: dataDir })).rejects.toThrow(
    'did:web:new.test',
  );
  const renamed = { SVC_DATA_DIR: dataDir, SVC_DOMAIN: 'new.test', SVC_BASE_URL: 'http://new.test' };
  const node = await startApiProcess(deployment.databaseUrl, renamed);
  // The operator can still list and end what was issued under the former name.
  const me = async () => (await call(node.baseUrl, 'GET', '/me', { key: String(observer.api_key) })).status;
  expect(await me()).toBe(200);
  const { text: listed } = await call(node.baseUrl, 'GET', '/observer-keys', asAdmin);
  expect(JSON.parse(listed).keys).toMatchObject([{ key_id: observer.key_id, subject: 'did:web:svc.test' }]);
  const revocation = `/observer-keys/${observer.key_id}/revoke`;
  expect((await call(node.baseUrl, 'POST', revocation, asAdmin)).status).toBe(200);
  expect(await me()).toBe(401);
  expect(await node.stop()).toBe(0);
  expect(admin(['fsck'])).toMatchObject({
    status: 0,
    out: expect.stringContaining('database of did:web:new.test'),
  });
});

it('fsck shows 20 faults of a kind and counts all; --all shows all', async () => {
  const ids = receiptIdsOf(daysAgo(2), 30);
  await insertReceipts(deployment.databaseUrl, ids, [daysAgo(2)]);
  const shownIn = (text: string) =>
    ids.filter((id) => text.includes(`receipts: ${id}: it is no Receipt`)).length;
  const { status, out, err } = admin(['fsck']);
  expect([status, shownIn(err)]).toEqual([1, 20]);
  expect(out).toContain(
    '30 faults of this kind, of which 20 are shown (--all shows each): receipts: it is no Receipt',
  );
  expect(shownIn(admin(['fsck', '--all']).err)).toBe(30);
  const { faults, kinds } = JSON.parse(admin(['fsck', '--json']).out);
  expect(kinds).toContainEqual({ check: 'receipts', problem: 'it is no Receipt', count: 30, shown: 20 });
  expect(faults.filter(({ problem }: { problem: string }) => problem === 'it is no Receipt')).toHaveLength(
    20,
  );
});
