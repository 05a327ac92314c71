/** `POST /conformance/runs`: who may start which run, and how often (interface §Conformance, §Limits). */
import { createOwnEngine, serveConformance } from '@svc/conformance/node';
import { beforeEach, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, DOMAIN } from '../../world/api-node.ts';
import { withOwnDeployment } from '../../world/deployment.ts';
import { untilSettled } from '../../world/tenants.ts';

const engine = await serveConformance(createOwnEngine());
const MAP = { 'engine.example': engine.url.replace(/\/$/, '') };
const deployment = withOwnDeployment(
  { SVC_OUTBOUND_MAP: JSON.stringify(MAP), SVC_STATUS_BASE_URL: 'https://lists.example' },
  2,
);

beforeEach(() => deployment.sql.query('delete from conformance_runs'));

const ENDPOINT = 'https://engine.example/';
const start = (key: string, endpoint: unknown = ENDPOINT) =>
  deployment.call('POST', '/conformance/runs', { key, body: { endpoint } });
const endAll = () =>
  deployment.sql.query(
    `update conformance_runs set status = 'error', error = 'test', finished_at = now() where status = 'running'`,
  );

describe('POST /conformance/runs checks the endpoint', () => {
  it.each([
    ['http://engine.test/', 'must be https'],
    ['http://127.0.0.1/', 'must be https'],
    ['https://user@engine.example/', 'must carry no credentials'],
    ['https://user:word@engine.example/', 'must carry no credentials'],
    ['https://engine.example/#part', 'must have no fragment'],
    ['https://ENGINE.example/', 'normal form: https://engine.example/'],
    ['https://engine.example\\@svc.test/', 'normal form'],
    ['https://engine.example/a/../b', 'normal form'],
    [`https://engine.example/${'a'.repeat(2026)}`, 'at most 2048 characters'],
    [`https://${DOMAIN}/conformance`, 'must not be a host of the service'],
    [`https://${DOMAIN}:8443/`, 'must not be a host of the service'],
    [`https://${DOMAIN}./`, 'must not be a host of the service'],
    [`https://${DOMAIN}../`, 'must not be a host of the service'],
    [`https://console.${DOMAIN}/`, 'must not be a host of the service'],
    ['https://lists.example/x', 'must not be a host of the service'],
    ['ftp://engine.example/', 'endpoint must be'],
    ['engine.example', 'endpoint must be'],
    [7, 'endpoint must be'],
  ])('%s is refused with 400 and starts no run', async (endpoint, why) => {
    const { status, json } = await start(ADMIN_TOKEN, endpoint);
    expect([status, json.error]).toEqual([400, 'INVALID_REQUEST']);
    expect(json.message).toContain(why);
    const { rowCount } = await deployment.sql.query('select from conformance_runs');
    expect(rowCount).toBe(0);
  });

  it('2,048 characters, a bare host, and http where the outbound map has the name are accepted', async () => {
    for (const endpoint of [
      `https://engine.example/${'a'.repeat(2048 - 'https://engine.example/'.length)}`,
      'https://engine.example',
      'http://engine.example/',
    ]) {
      expect((await start(ADMIN_TOKEN, endpoint)).status).toBe(202);
      await endAll();
    }
  });
});

describe('POST /conformance/runs per account', () => {
  it('allows one run at a time across nodes and keys (409); another account starts its own', async () => {
    const { rpKey, rpDid, principalKey } = await deployment.createTenants();
    const other = await deployment.createKey('rp', rpDid);
    const starts = await Promise.all(
      Array.from({ length: 8 }, (_, i) => {
        const { baseUrl } = deployment.processes[i % 2] ?? deployment.process;
        const headers = {
          authorization: `Bearer ${i < 4 ? rpKey : other}`,
          'content-type': 'application/json',
        };
        const body = JSON.stringify({ endpoint: ENDPOINT });
        return untilSettled(() => fetch(`${baseUrl}/conformance/runs`, { method: 'POST', headers, body }));
      }),
    );
    expect(starts.map(({ status }) => status).toSorted()).toEqual([202, ...Array(7).fill(409)]);
    expect((await start(rpKey)).json.error).toBe('CONFLICT');
    expect((await start(principalKey)).status).toBe(202);
    await endAll();
    expect((await start(rpKey)).status).toBe(202);
  });
});

it('POST /conformance/runs allows a key ten runs an hour (429); refused calls and other keys do not count for it', async () => {
  const { rpKey, rpDid } = await deployment.createTenants();
  for (let i = 0; i < 10; i++) {
    expect((await start(rpKey)).status).toBe(202);
    expect((await start(rpKey)).status).toBe(409);
    await endAll();
  }
  for (let i = 0; i < 2; i++) {
    const { status, json, headers } = await start(rpKey);
    expect([status, json.error]).toEqual([429, 'RATE_LIMITED']);
    const retryAfter = Number(headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(3500);
    expect(retryAfter).toBeLessThanOrEqual(3600);
  }
  expect((await start(await deployment.createKey('rp', rpDid))).status).toBe(202);
  await endAll();
  await deployment.sql.query(
    `update conformance_runs set created_at = created_at - interval '1 hour' where run_id =
       (select run_id from conformance_runs order by created_at limit 1)`,
  );
  expect((await start(rpKey)).status).toBe(202);
  await endAll();
  expect((await start(rpKey)).status).toBe(429);
});

describe('POST /conformance/runs per org', () => {
  it('allows four waiting or running runs of the org and its members (429); other orgs are not affected', async () => {
    const orgId = await deployment.createOrg();
    const keys = [await deployment.createKey('org:read', orgId)];
    for (let i = 0; i < 4; i++) keys.push((await deployment.createTenants({ orgId })).rpKey);
    const starts = await Promise.all(keys.map((key) => start(key)));
    expect(starts.map(({ status }) => status).toSorted()).toEqual([202, 202, 202, 202, 429]);
    const refused = starts.find(({ status }) => status === 429);
    expect(refused?.json).toMatchObject({
      error: 'RATE_LIMITED',
      message: expect.stringContaining('4 of the org and its members wait or are running'),
    });
    expect(Number(refused?.headers['retry-after'])).toBe(120);
    expect((await start((await deployment.createTenants()).rpKey)).status).toBe(202);
    await endAll();
    for (const [i, { status }] of starts.entries())
      if (status === 429) expect((await start(keys[i] as string)).status).toBe(202);
  });
});
