/** The admin port: liveness, readiness and Prometheus metrics (protocol §13). */
import { endSessions, runSql } from '@svc/testkit/store/session';
import { expect, inject, it } from 'vitest';
import { approve, askAbout, askedOf, DEAR, reject, verifyAction } from '../world/approvals.ts';
import { withOwnDeployment } from '../world/deployment.ts';
import { call, issueGrant, verifyBody } from '../world/tenants.ts';

const deployment = withOwnDeployment();
const get = (path: string) => call(deployment.process.adminUrl, 'GET', path);

it('/livez and /readyz of a healthy node answer 200, /readyz with the result of each check', async () => {
  const [live, ready] = [await get('/livez'), await get('/readyz')];
  expect([live.status, JSON.parse(live.text)]).toEqual([200, { ok: true }]);
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
        http: 'ok',
        content: 'ok',
      },
    },
  ]);
  expect(live.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  });
});

it('/metrics counts requests by route and status, and stored decisions by reason, and contains no DID and no path', async () => {
  const tenants = await deployment.createTenants();
  const body = await verifyBody(tenants, await issueGrant(tenants));
  for (let i = 0; i < 2; i++) await deployment.call('POST', '/verify', { key: tenants.rpKey, body });
  await deployment.call('GET', '/no/such/path');
  // A request is counted after its answer was sent, which the client may have received before.
  await expect
    .poll(async () => (await get('/metrics')).text.split('\n'))
    .toEqual(
      expect.arrayContaining([
        'svc_http_requests_total{route="verify",status="200"} 2',
        'svc_http_requests_total{route="none",status="404"} 1',
        'svc_decisions_total{decision="ALLOW",reason=""} 1',
        'svc_decisions_total{decision="DENY",reason="PROOF_REPLAYED"} 1',
      ]),
    );
  const { status, text, headers } = await get('/metrics');
  expect([status, headers['content-type']]).toEqual([
    200,
    expect.stringMatching(/^text\/plain; version=0\.0\.4/),
  ]);
  for (const subject of [tenants.principalDid, tenants.rpDid, tenants.agent.did, 'no/such'])
    expect(text).not.toContain(subject);
});

it('the admin port supports only GET and HEAD and only its own paths, and the API port has none of these paths', async () => {
  const post = await call(deployment.process.adminUrl, 'POST', '/livez');
  expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD']);
  for (const path of ['/', '/healthz', '/verify', '/livez/']) expect((await get(path)).status).toBe(404);
  for (const path of ['/livez', '/readyz', '/servez'])
    expect((await deployment.call('GET', path)).status).toBe(404);
});

it('without its database a node is live but not ready, and /healthz is 503; once the database is back it is ready', async () => {
  const { rows } = await deployment.sql.query<{ name: string }>('select current_database() as name');
  const name = rows[0]?.name ?? '';
  const adminUrl = inject('databaseAdminUrl');
  deployment.sql.on('error', () => undefined);
  try {
    await runSql(adminUrl, `alter database ${name} allow_connections false`);
    await endSessions(adminUrl, `select pid from pg_stat_activity where datname = '${name}'`);
    await expect.poll(async () => (await get('/readyz')).status).toBe(503);
    expect(JSON.parse((await get('/readyz')).text).checks).toEqual({
      ...{
        storage: 'unreachable',
        clock: 'ok',
        fence: 'none',
        keys: 'ok',
        signer: 'ok',
        http: 'ok',
        content: 'unknown',
      },
    });
    // A node serves from its caches for as long as a failover takes (packages/process, readiness).
    expect((await get('/servez')).status).toBe(200);
    expect((await get('/livez')).status).toBe(200);
    const health = await deployment.call('GET', '/healthz');
    expect([health.status, health.json.ok]).toEqual([503, false]);
  } finally {
    await runSql(adminUrl, `alter database ${name} allow_connections true`);
  }
  await expect.poll(async () => (await get('/readyz')).status).toBe(200);
  expect((await deployment.call('GET', '/healthz')).status).toBe(200);
});

it('during a hold /verify, /healthz and /readyz are 503, /readyz names the cause, revocation works and /servez is 200', async () => {
  const tenants = await deployment.createTenants();
  const grant = await issueGrant(tenants);
  const other = await issueGrant(tenants);
  const body = await verifyBody(tenants, grant);
  const { holds } = deployment.process.service;
  holds.set('fence', 'the database is 90 s behind the fence');
  try {
    const refused = await deployment.call('POST', '/verify', { key: tenants.rpKey, body });
    expect([refused.status, refused.json.error]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(refused.text).not.toContain('fence');
    const ready = await get('/readyz');
    expect([ready.status, JSON.parse(ready.text).checks.fence]).toEqual([
      503,
      'the database is 90 s behind the fence',
    ]);
    expect((await deployment.call('GET', '/healthz')).status).toBe(503);
    expect((await get('/servez')).status).toBe(200);
    const key = tenants.principalKey;
    const order = await deployment.call('POST', '/grants', { key, body: { agent: tenants.agent.did } });
    expect(order.status).toBe(503);
    expect((await tenants.principal.grants.revoke(other.grantId)).grantId).toBe(other.grantId);
  } finally {
    holds.set('fence', null);
  }
  expect((await get('/readyz')).status).toBe(200);
  const decided = await deployment.call('POST', '/verify', { key: tenants.rpKey, body });
  expect(decided.json.decision).toBe('ALLOW');
});

const everywhere = withOwnDeployment({ SVC_HOST: '0.0.0.0' });

it.runIf(process.platform === 'linux')(
  'the admin port listens on loopback only, even where the API listens on all addresses',
  async () => {
    // Another address of this machine, which only a listener on all addresses has.
    const at = (url: string) => fetch(new URL('/healthz', url.replace('127.0.0.1', '127.0.0.2')));
    expect((await at(everywhere.process.baseUrl)).status).toBe(200);
    await expect(at(everywhere.process.adminUrl)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    expect((await call(everywhere.process.adminUrl, 'GET', '/livez')).status).toBe(200);
  },
);

it('/metrics counts approvals by outcome: requested, limited, not approved, denied, approved', async () => {
  const tenants = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
  const held = await issueGrant(tenants);
  const denied = await Promise.all(
    Array.from({ length: 6 }, (_, n) =>
      verifyAction(deployment, tenants, held, { ...DEAR, resource: `order/m${n}` }),
    ),
  );
  const answers = await Promise.all(
    denied.map(({ receipt_id }) => askAbout(deployment, tenants, receipt_id)),
  );
  const [asked] = answers.filter(({ status }) => status === 202).map(askedOf);
  if (asked === undefined) throw new Error('nothing was asked');
  expect((await approve(deployment, tenants, asked.id, held.grant)).status).toBe(400);
  await reject(deployment, tenants, asked.id);
  expect((await get('/metrics')).text.split('\n')).toEqual(
    expect.arrayContaining([
      'svc_approvals_total{outcome="requested"} 5',
      'svc_approvals_total{outcome="limited"} 1',
      'svc_approvals_total{outcome="not_approved"} 1',
      'svc_approvals_total{outcome="denied"} 1',
      'svc_approvals_total{outcome="approved"} 0',
      'svc_approval_waits 0',
    ]),
  );
});
