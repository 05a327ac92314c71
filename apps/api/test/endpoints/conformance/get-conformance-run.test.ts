/**
 * `GET /conformance/runs/{run_id}`: a run from its start to its report, and who may read it (interface §Conformance).
 */

import { readFileSync } from 'node:fs';
import { createOwnEngine, serveConformance } from '@svc/conformance/node';
import { createRunTransport, readConfig, readVectorsBeside, runWaiting } from '@svc/process';
import { openStore } from '@svc/testkit/store/open-store';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ADMIN_TOKEN, DOMAIN } from '../../world/api-node.ts';
import { withOwnDeployment } from '../../world/deployment.ts';

const engine = await serveConformance(createOwnEngine());
const VECTORS = new URL('../../../../../vectors/', import.meta.url);
const MAP = { 'engine.example': engine.url.replace(/\/$/, '') };
const deployment = withOwnDeployment(
  { SVC_OUTBOUND_MAP: JSON.stringify(MAP), SVC_STATUS_BASE_URL: 'https://lists.example' },
  2,
);

beforeEach(() => deployment.sql.query('delete from conformance_runs'));

const ENDPOINT = 'https://engine.example/';
const start = (key: string, endpoint: unknown = ENDPOINT) =>
  deployment.call('POST', '/conformance/runs', { key, body: { endpoint } });
const get = (key: string, runId: unknown) => deployment.call('GET', `/conformance/runs/${runId}`, { key });
const manifest = JSON.parse(readFileSync(new URL('manifest.json', VECTORS), 'utf8'));

/** Runs what waits with the runner's code, within this process. */
const runAll = async () => {
  const store = openStore(deployment.databaseUrl);
  onTestFinished(() => store.close());
  const config = readConfig({ SVC_OUTBOUND_MAP: JSON.stringify(MAP) });
  const statuses: string[] = [];
  const deps = {
    runs: store.conformanceRuns,
    clock: { nowMs: Date.now },
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

it('POST /conformance/runs answers 202 with the running run, which has a report once a runner has executed it', async () => {
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

describe('A conformance run', () => {
  it('is visible only to the account that started it; others get 404 as for an unknown run', async () => {
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

  it('of a relying party is not visible to the Principal with the same DID, which is an account of its own', async () => {
    const { rpKey, rpDid } = await deployment.createTenants();
    const asPrincipal = await deployment.createKey('principal', rpDid);
    const { json } = await start(rpKey);
    expect((await get(asPrincipal, json.run_id)).status).toBe(404);
    expect((await start(asPrincipal)).status).toBe(202);
  });
});
