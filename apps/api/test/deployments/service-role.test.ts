/** The service as a role that owns nothing (docs/operations.md): it works, and finds its database migrated. */
import { randomBytes } from 'node:crypto';
import { withDatabase } from '@svc/testkit';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ADMIN_TOKEN, type ApiNodes, startApiNodes } from '../world/api-node.ts';
import { createFence, svcAdmin } from '../world/fence.ts';
import {
  call,
  callUntilSettled,
  createTenants,
  issueGrant,
  receiptOf,
  verifyBody,
} from '../world/tenants.ts';

const database = withDatabase();
const fence = createFence();
const role = `svc_role_${randomBytes(4).toString('hex')}`;
let api: ApiNodes;

beforeAll(async () => {
  await runSql(database.url, `create role ${role} login password 'p'`);
  const migrated = await svcAdmin(database.url, fence.env, 'migrate', '--service-role', role);
  expect(migrated).toEqual({
    code: 0,
    text: `The schema was up to date.\n${role} may run the service.`,
  });
  const url = Object.assign(new URL(database.url), { username: role, password: 'p' }).href;
  api = await startApiNodes(1, url, { ...fence.env, SVC_DEMO: '1' });
});
afterAll(async () => {
  await api?.stop();
  await runSql(database.url, `drop owned by ${role}`);
  await runSql(database.url, `drop role ${role}`);
});

it('a node with a role that owns nothing decides, reports, revokes, disables Agents and closes days', async () => {
  const baseUrl = api.processes[0]?.baseUrl ?? '';
  const tenants = await createTenants(baseUrl, { profile: 'svc-base-v2' });
  const grant = await issueGrant(tenants);
  const verify = async () => {
    const body = await verifyBody(tenants, grant);
    return receiptOf(
      await callUntilSettled(baseUrl, 'POST', '/verify', {
        key: tenants.rpKey,
        body,
        headers: { 'idempotency-key': randomBytes(8).toString('hex') },
      }),
    );
  };
  const receipt = await verify();
  expect(receipt.decision).toBe('ALLOW');
  const reported = await call(baseUrl, 'POST', `/decisions/${receipt.receipt_id}/outcomes`, {
    key: tenants.rpKey,
    body: { type: 'fulfilled', occurred_at: receipt.evaluated_at },
  });
  expect(reported.status).toBe(201);
  for (const path of ['/decisions', '/decisions/export']) {
    const listed = await call(baseUrl, 'GET', path, { key: tenants.rpKey });
    expect([listed.status, listed.text.includes(receipt.receipt_id)]).toEqual([200, true]);
  }
  const revoked = await callUntilSettled(baseUrl, 'POST', '/revoke', {
    key: tenants.principalKey,
    body: { grant_id: grant.grantId },
  });
  expect(revoked.status).toBe(200);
  expect((await verify()).reason).toBe('AUTHORITY_REVOKED');
  const agent = encodeURIComponent(tenants.agent.did);
  const disabled = await callUntilSettled(baseUrl, 'POST', `/agents/${agent}/disable`, {
    key: tenants.principalKey,
  });
  expect(disabled.status).toBe(200);
  expect((await call(baseUrl, 'POST', '/checkpoints/close', { key: ADMIN_TOKEN })).status).toBe(200);
  expect((await call(baseUrl, 'POST', '/demo/mint', { body: {} })).status).toBe(200);
}, 60_000);

it('svc-admin clock repair refuses a role that does not own the tables, and names the owner', async () => {
  const url = Object.assign(new URL(database.url), { username: role, password: 'p' }).href;
  const refused = await svcAdmin(url, {}, 'clock', 'repair');
  expect(refused).toMatchObject({
    code: 2,
    text: expect.stringMatching(/^svc-admin: the tables belong to \w+, and DATABASE_URL names svc_role_/),
  });
});
