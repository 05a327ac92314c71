/** `/conformance/runs`: who may start what, how often, and who sees it (interface §Conformance, §Limits). */
import { readFileSync } from 'node:fs';
import { createOwnEngine, serveConformance } from '@svc/conformance/node';
import { createRunTransport, readConfig, readVectorsBeside, runWaiting } from '@svc/process';
import { createStore } from '@svc/store-pg';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ADMIN_TOKEN, DOMAIN } from '../world/api-process.ts';
import { withDeployment } from '../world/deployment.ts';

const engine = await serveConformance(createOwnEngine());
const VECTORS = new URL('../../../../vectors/', import.meta.url);
const MAP = { 'engine.example': engine.url.replace(/\/$/, '') };
const deployment = withDeployment(
  { SVC_OUTBOUND_MAP: JSON.stringify(MAP), SVC_STATUS_BASE_URL: 'https://lists.example' },
  2,
);

beforeEach(() => deployment.sql.query('delete from conformance_runs'));

const ENDPOINT = 'https://engine.example/';
const start = (key: string, endpoint: unknown = ENDPOINT) =>
  deployment.call('POST', '/conformance/runs', { key, body: { endpoint } });
const get = (key: string, runId: unknown) => deployment.call('GET', `/conformance/runs/${runId}`, { key });
const endAll = () =>
  deployment.sql.query(
    `update conformance_runs set status = 'error', error = 'test', finished_at = now() where status = 'running'`,
  );
const manifest = JSON.parse(readFileSync(new URL('manifest.json', VECTORS), 'utf8'));

/** What is waiting, by the code of the runner, within this process. */
const runAll = async () => {
  const store = createStore({ databaseUrl: deployment.databaseUrl });
  onTestFinished(() => store.close());
  const config = readConfig({ SVC_OUTBOUND_MAP: JSON.stringify(MAP) });
  const statuses: string[] = [];
  const deps = {
    runs: store.conformanceRuns,
    vectors: readVectorsBeside(VECTORS),
    transport: createRunTransport(config, {
      baseUrl: `http://${DOMAIN}`,
      statusBaseUrl: 'https://lists.example',
      domain: DOMAIN,
    }),
    onTaken: () => {},
    onRan: ({ outcome }: { outcome: string }) => void statuses.push(outcome),
    onInterrupted: () => {},
    onFailure: (error: unknown) => {
      throw error;
    },
  };
  await runWaiting(deps, new AbortController().signal);
  return statuses;
};

it('answers the run at once, and its report when a runner has been at it', async () => {
  const { rpKey } = await deployment.createTenants();
  const { status, json } = await start(rpKey);
  expect(status).toBe(202);
  const begun = {
    run_id: expect.stringMatching(/^cfr_/),
    status: 'running',
    endpoint: ENDPOINT,
    created_at: expect.any(String),
    finished_at: null,
    requests: 0,
    vectors: { sha256: manifest.sha256, conformance_version: manifest.conformance_version },
    error: null,
    report: null,
    signed: false,
  };
  expect(json).toEqual(begun);
  expect((await get(rpKey, json.run_id)).json).toEqual(json);
  expect(await runAll()).toEqual(['passed']);
  const ended = (await get(rpKey, json.run_id)).json;
  expect(ended).toMatchObject({
    ...begun,
    status: 'passed',
    finished_at: expect.any(String),
    requests: expect.any(Number),
    report: expect.anything(),
  });
  expect(ended.requests).toBeGreaterThan(1);
  expect(ended.requests).toBeLessThanOrEqual(50);
  const report = ended.report as Record<string, { cases: number; passed: number }>;
  expect(report.totals?.passed).toBe(report.totals?.cases);
});

describe('400', () => {
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
  ])('%s', async (endpoint, why) => {
    const { status, json } = await start(ADMIN_TOKEN, endpoint);
    expect([status, json.error]).toEqual([400, 'INVALID_REQUEST']);
    expect(json.message).toContain(why);
    const { rowCount } = await deployment.sql.query('select from conformance_runs');
    expect(rowCount).toBe(0);
  });

  it('neither for 2,048 characters, nor for a bare host, nor for http where development maps the name', async () => {
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

describe('an account', () => {
  it('has one run at a time, on all nodes and with all its keys; each account its own', async () => {
    const { rpKey, rpDid, principalKey } = await deployment.createTenants();
    const other = await deployment.createKey('rp', rpDid);
    const starts = await Promise.all(
      Array.from({ length: 8 }, (_, i) => {
        const { baseUrl } = deployment.processes[i % 2] ?? deployment.process;
        return fetch(`${baseUrl}/conformance/runs`, {
          method: 'POST',
          headers: { authorization: `Bearer ${i < 4 ? rpKey : other}`, 'content-type': 'application/json' },
          body: JSON.stringify({ endpoint: ENDPOINT }),
        });
      }),
    );
    expect(starts.map(({ status }) => status).toSorted()).toEqual([202, ...Array(7).fill(409)]);
    expect((await start(rpKey)).json.error).toBe('CONFLICT');
    expect((await start(principalKey)).status).toBe(202);
    await endAll();
    expect((await start(rpKey)).status).toBe(202);
  });

  it('alone sees its runs: every other one is answered as for a run that is not there', async () => {
    const orgId = await deployment.createOrg();
    const [mine, foreign] = [await deployment.createTenants({ orgId }), await deployment.createTenants()];
    const orgKey = await deployment.createKey('org:read', orgId);
    const runs = new Map<string, unknown>();
    for (const key of [mine.rpKey, mine.principalKey, orgKey, foreign.rpKey, ADMIN_TOKEN])
      runs.set(key, (await start(key)).json.run_id);
    for (const [reader] of runs)
      for (const [owner, runId] of runs) {
        const { status, json } = await get(reader, runId);
        expect(status).toBe(reader === owner ? 200 : 404);
        if (reader !== owner) expect(json.message).toBe(`No conformance run ${runId}.`);
      }
  });

  it('named by one DID as relying party and as Principal is two', async () => {
    const { rpKey, rpDid } = await deployment.createTenants();
    const asPrincipal = await deployment.createKey('principal', rpDid);
    const { json } = await start(rpKey);
    expect((await get(asPrincipal, json.run_id)).status).toBe(404);
    expect((await start(asPrincipal)).status).toBe(202);
  });
});

it('a key starts ten runs in an hour; what is refused is not counted, and another key of the account is', async () => {
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
