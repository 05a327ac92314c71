/** A deployment and its fence (protocol §10): the first start, two nodes, storage that fails, and wrong fences. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nativeCrypto } from '@svc/protocol/native';
import { HEAD_KEY } from '@svc/service';
import { withDatabase } from '@svc/testkit';
import { startS3Server } from '@svc/testkit/s3-server';
import { sampleOf } from '@svc/testkit/sampled';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ADMIN_TOKEN, type ApiNode, type ApiNodes, startApiNodes } from '../world/api-node.ts';
import { createFence, readiness, svcAdmin, type TestFence, until } from '../world/fence.ts';
import {
  call,
  callJson,
  callUntilSettled,
  createTenants,
  type HeldGrant,
  issueGrant,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

const database = withDatabase();
const s3 = await startS3Server('fences');
const S3_ENV = {
  SVC_FENCE: 's3://fences/svc',
  SVC_FENCE_ENDPOINT: s3.endpoint,
  SVC_FENCE_MAX_AGE_MS: '2000',
};
let sql: Client;
let api: ApiNodes | null = null;

beforeAll(async () => {
  process.env.AWS_ACCESS_KEY_ID = 'test';
  process.env.AWS_SECRET_ACCESS_KEY = 'test';
  sql = new Client({ connectionString: database.url });
  await sql.connect();
});
afterEach(async () => {
  s3.behave('well');
  await api?.stop();
  api = null;
  s3.objects.clear();
  await sql.query('truncate fence_beats');
});
afterAll(async () => {
  await sql.end();
  await s3.stop();
});

const start = async (count: number, env: Readonly<Record<string, string>>): Promise<ApiNode> => {
  await api?.stop();
  api = await startApiNodes(count, database.url, env);
  return api.processes[0] as ApiNode;
};

const headOf = async ({ fenceStore }: TestFence) => {
  const found = await fenceStore.find(HEAD_KEY);
  return found === null ? null : (JSON.parse(found.text) as { seq: number; at_ms: number });
};

const decide = async ({ baseUrl }: ApiNode, tenants: Tenants, grant: HeldGrant) =>
  call(baseUrl, 'POST', '/verify', { key: tenants.rpKey, body: await verifyBody(tenants, grant) });

it('the first start creates the fence, and with two nodes its median age is below a second', async () => {
  const fence = createFence();
  await start(2, fence.env);
  for (const node of api?.processes ?? []) expect((await readiness(node)).checks.fence).toBe('ok');
  const first = await headOf(fence);
  await until(async () => ((await headOf(fence))?.seq ?? 0) > (first?.seq ?? 0) + 3);
  const ages: number[] = [];
  for (let look = 0; look < 20; look++) {
    const { rows } = await sql.query<{ ms: number }>('select svc_ms(clock_timestamp())::float8 as ms');
    const looked = await headOf(fence);
    ages.push((rows[0]?.ms ?? 0) - (looked?.at_ms ?? 0));
    await until(async () => (await headOf(fence))?.seq !== looked?.seq);
  }
  expect(ages.sort((a, b) => a - b)[10]).toBeLessThan(1_000);
}, 60_000);

it.each(sampleOf(['hang', 'fail'] as const, 1))(
  'fence storage that begins to %s stops decisions, but not revocations and reads; decisions resume by themselves',
  async (how) => {
    const node = await start(2, S3_ENV);
    const tenants = await createTenants(node.baseUrl);
    const grant = await issueGrant(tenants);
    expect(receiptOf(await decide(node, tenants, grant)).decision).toBe('ALLOW');
    const { grantId } = await issueGrant(tenants);
    s3.behave(how);
    await until(async () => (await readiness(node)).status === 503);
    expect((await readiness(node)).checks.fence).toContain('was not confirmed');
    expect((await decide(node, tenants, grant)).status).toBe(503);
    const revoked = await callUntilSettled(node.baseUrl, 'POST', '/revoke', {
      key: tenants.principalKey,
      body: { grant_id: grantId },
    });
    expect(revoked.status).toBe(200);
    expect((await call(node.baseUrl, 'GET', '/me', { key: tenants.rpKey })).status).toBe(200);
    s3.behave('well');
    await until(async () => (await readiness(node)).status === 200);
    expect(receiptOf(await decide(node, tenants, grant)).decision).toBe('ALLOW');
  },
  60_000,
);

it('a process that has not yet read its fence answers 503 to reads of the database until it has', async () => {
  s3.behave('fail');
  const node = await start(1, S3_ENV);
  expect((await readiness(node)).checks.fence).toContain('not confirmed yet');
  for (const path of ['/status-lists/a.example/1', '/checkpoints/latest'])
    expect((await call(node.baseUrl, 'GET', path)).status).toBe(503);
  expect((await call(node.baseUrl, 'GET', '/.well-known/did.json')).status).toBe(200);
  s3.behave('well');
  await until(async () => (await readiness(node)).status === 200);
  expect((await call(node.baseUrl, 'GET', '/checkpoints/latest')).status).toBe(404);
}, 60_000);

it('a copy that cannot be written does not block others or readiness; /readyz names it after a minute', async () => {
  const fence = createFence();
  const node = await start(1, fence.env);
  const keyOf = (slug: string) => `names/${nativeCrypto.sha256Hex(`org:${slug}`)}`;
  const isKept = async (slug: string) => (await fence.fenceStore.find(keyOf(slug))) !== null;
  mkdirSync(join(fence.folder, 'names'), { recursive: true });
  const inTheWay = join(fence.folder, keyOf('blocked'));
  writeFileSync(inTheWay, 'a file where the object has its folder');
  for (const slug of ['blocked', 'free'])
    await callJson(node.baseUrl, 'POST', '/orgs', { key: ADMIN_TOKEN, body: { slug, name: slug } });
  await until(() => isKept('free'));
  expect(await readiness(node)).toMatchObject({ status: 200, checks: { 'fence-copies': 'ok' } });
  await sql.query(`update fence_notes set noted_at = noted_at - interval '61 seconds'`);
  await until(async () => (await readiness(node)).checks['fence-copies'] !== 'ok');
  const { status, checks } = await readiness(node);
  expect({ status, checks }).toMatchObject({ status: 200, checks: { fence: 'ok', storage: 'ok' } });
  expect(checks['fence-copies']).toMatch(/^what changed 6\d s ago is not copied beside the fence: names\//);
  expect((await call(node.baseUrl, 'GET', '/healthz')).status).toBe(200);
  const { text } = await call(node.adminUrl, 'GET', '/metrics');
  expect(Number(/^svc_fence_oldest_note_seconds (\S+)$/m.exec(text)?.[1])).toBeGreaterThan(60);
  rmSync(inTheWay);
  await until(async () => (await readiness(node)).checks['fence-copies'] === 'ok');
  expect(await isKept('blocked')).toBe(true);
}, 60_000);

it('without a fence /readyz shows none', async () => {
  const node = await start(1, {});
  const { checks } = await readiness(node);
  expect([checks.fence, checks['fence-copies']]).toEqual(['none', undefined]);
}, 60_000);

it('a fence that was set back is advanced; a missing fence and one of another service are refused', async () => {
  const fence = createFence();
  const node = await start(1, fence.env);
  const early = await fence.fenceStore.find(HEAD_KEY);
  const seqOf = async () => (await headOf(fence))?.seq ?? 0;
  const begun = await seqOf();
  await until(async () => (await seqOf()) > begun + 4);
  const put = async (text: string) => {
    let isPut = false;
    while (!isPut)
      isPut = await fence.fenceStore.put(
        HEAD_KEY,
        text,
        (await fence.fenceStore.find(HEAD_KEY))?.tag ?? null,
      );
  };
  await put(early?.text ?? '');
  await until(async () => (await seqOf()) > begun + 6);
  expect((await readiness(node)).status).toBe(200);

  await api?.stop();
  api = null;
  const elsewhere = createFence();
  const lost = await start(1, elsewhere.env);
  expect((await readiness(lost)).checks.fence).toContain('svc-admin fence');
  const unsure = await svcAdmin(database.url, elsewhere.env, 'fence', 'reset');
  expect(unsure).toMatchObject({ code: 2, text: expect.stringContaining('--database-is-the-latest') });
  await passLong();
  const reset = (...more: string[]) =>
    svcAdmin(database.url, elsewhere.env, 'fence', 'reset', '--database-is-the-latest', ...more);
  expect((await reset('--without-quarantine')).code).toBe(0);
  await until(async () => (await readiness(lost)).status === 200);
  expect(await svcAdmin(database.url, elsewhere.env, 'fence', 'show')).toMatchObject({ code: 0 });

  const head = JSON.parse((await elsewhere.fenceStore.find(HEAD_KEY))?.text ?? '{}') as object;
  while ((await readiness(lost)).status === 200)
    await putAt(elsewhere, JSON.stringify({ ...head, service: 'did:web:other.example' }));
  expect((await readiness(lost)).checks.fence).toBe('the fence is that of did:web:other.example');
}, 60_000);

it('a service without a fence does not start on a database with one until the operator runs fence give-up', async () => {
  const fence = createFence();
  await start(1, fence.env);
  await api?.stop();
  api = null;
  await expect(start(1, {})).rejects.toThrow('svc-admin fence give-up');
  expect(await svcAdmin(database.url, {}, 'fence', 'give-up')).toMatchObject({ code: 2 });
  const given = await svcAdmin(database.url, {}, 'fence', 'give-up', '--database-is-the-latest');
  expect(given.code).toBe(0);
  expect((await readiness(await start(1, {}))).status).toBe(200);
}, 60_000);

it('fence reset blocks decisions until no Proof is fresh, and clock repair does not shorten that', async () => {
  const fence = createFence();
  await start(1, fence.env);
  await api?.stop();
  api = null;
  const elsewhere = createFence();
  await passLong();
  const reset = await svcAdmin(database.url, elsewhere.env, 'fence', 'reset', '--database-is-the-latest');
  expect(reset).toMatchObject({ code: 0, text: expect.stringContaining('Decisions begin at') });
  expect(await svcAdmin(database.url, {}, 'clock', 'repair')).toMatchObject({ code: 0 });
  const node = await start(1, elsewhere.env);
  expect((await readiness(node)).checks.fence).toMatch(/decisions begin in 3\d\d s$/);
  // All other calls are answered, above all those that remove authority.
  const tenants = await createTenants(node.baseUrl);
  expect((await decide(node, tenants, await issueGrant(tenants))).status).toBe(503);
  const kid = encodeURIComponent(`${tenants.principalDid}#key-1`);
  await callJson(node.baseUrl, 'POST', `/keys/${kid}/retire`, { key: tenants.principalKey });
  const { rows } = await sql.query<{ ahead: number }>(
    'select extract(epoch from sealed_until - clock_timestamp())::float8 as ahead from ledger_seal',
  );
  expect(rows[0]?.ahead).toBeGreaterThan(280);
}, 60_000);

it('fence reset is refused for a database that is behind its fence, which needs a restore', async () => {
  const fence = createFence();
  await start(1, fence.env);
  await api?.stop();
  api = null;
  const head = await headOf(fence);
  await sql.query('delete from fence_beats where seq >= $1', [head?.seq]);
  await sql.query(`insert into fence_beats (seq, nonce, at) values ($1, 'another', now())`, [head?.seq]);
  for (const more of [[], ['--without-quarantine']])
    expect(
      await svcAdmin(database.url, fence.env, 'fence', 'reset', '--database-is-the-latest', ...more),
    ).toMatchObject({ code: 2, text: expect.stringContaining('Run svc-admin restore') });
  expect(await headOf(fence)).toEqual(head);
  expect((await readiness(await start(1, fence.env))).checks.fence).toContain('svc-admin restore');
}, 60_000);

/** Ages the beats as if every process had stopped long ago. */
const passLong = () => sql.query(`update fence_beats set at = at - interval '1 minute'`);

const putAt = async ({ fenceStore }: TestFence, text: string) => {
  await fenceStore.put(HEAD_KEY, text, (await fenceStore.find(HEAD_KEY))?.tag ?? null);
};
