/**
 * Guarantees of a runner: every run ends with the right result, and only one runner calls its endpoint (interface
 * §Conformance run).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ConformanceEngine } from '@svc/conformance';
import { createOwnEngine, readVectorSet, serveConformance } from '@svc/conformance/node';
import type { Store } from '@svc/service';
import { createStore } from '@svc/store-pg';
import { withDatabase } from '@svc/testkit';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { insertRun, readRun, runOnce, startRunner, untilRunner } from './harness.ts';

const INDEPENDENT = fileURLToPath(
  new URL('../../../examples/independent-engine/server.mjs', import.meta.url),
);
const database = withDatabase();
const published = readVectorSet();
let store: Store;
let sql: Client;
let independent: { readonly url: string; readonly process: ChildProcess };
beforeAll(async () => {
  // Long, since the endpoints run in this process and keep it busy.
  const deadlines = { connectMs: 20_000, readMs: 20_000, transactionMs: 20_000 };
  store = createStore({ databaseUrl: database.url, deadlines });
  sql = new Client({ connectionString: database.url });
  await sql.connect();
  const child = spawn(process.execPath, [INDEPENDENT, '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  independent = { url: String(line).replace(/^.* at /, ''), process: child };
});
afterAll(async () => {
  independent?.process.kill();
  await sql?.end();
  await store?.close();
});

const ENDPOINT = 'https://engine.example/';
const originOf = (url: string) => url.replace(/\/$/, '');
const options = (hosts: Readonly<Record<string, string>> = {}) => ({ databaseUrl: database.url, hosts });

const serve = async (engine: ConformanceEngine = createOwnEngine()) => {
  const server = await serveConformance(engine);
  onTestFinished(() => server.close());
  return originOf(server.url);
};

/** An endpoint that makes every run fail at once. */
const serveNothing = async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

/** Counts `describe` requests by path. Every request waits for the gate, and then gets no answer. */
const startSilent = async () => {
  const asked: string[] = [];
  const server = createServer((request) => void asked.push(request.url ?? ''));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

/** One runner sends these requests, one after another or at once. */
describe('a conformance run', () => {
  const engines = ['independent.example', 'own.example'];
  // A sample is enough: the tests of @svc/cli check that our engine passes.
  const right = sampleOf(engines, 1);
  const faulty = published.cases.find(({ op, expected }) => op === 'isJti' && expected === true);
  const refused = {
    'https://127.0.0.1/': 'not a host name',
    'https://[::1]/': 'not a host name',
    'https://10.0.0.1/': 'not a host name',
    'https://localhost/': 'not a host name',
    'https://engine.internal/': 'special-use name',
    'https://engine.example:8443/': 'a port other than 443',
    'http://engine.example/': 'not https',
    'https://svc.example/': 'a host of the service itself',
    'https://status.svc.example/': 'a host of the service itself',
    'https://svc.example../': 'not a host name',
  };
  const FAULTY = 'https://faulty.example/';
  const ids = new Map<string, string>();
  beforeAll(async () => {
    const own = createOwnEngine();
    const isJti: NonNullable<typeof own.ops.isJti> = (input) =>
      input === faulty?.input ? false : (own.ops.isJti?.(input) ?? null);
    const [server, wrong] = await Promise.all([
      serveConformance(own),
      serveConformance({ ...own, ops: { ...own.ops, isJti } }),
    ]);
    try {
      for (const endpoint of [...right.map((name) => `https://${name}/`), FAULTY, ...Object.keys(refused)])
        ids.set(endpoint, await insertRun(store, endpoint));
      const hosts = {
        ...{ 'independent.example': originOf(independent.url), 'own.example': originOf(server.url) },
        'faulty.example': originOf(wrong.url),
      };
      await runOnce(options(hosts));
    } finally {
      await Promise.all([server.close(), wrong.close()]);
    }
  }, 60_000);
  const ended = (endpoint: string) => readRun(store, ids.get(endpoint) ?? '');

  it.each(right)('against %s passes every vector in at most 50 requests', async (name) => {
    const run = await ended(`https://${name}/`);
    expect(run).toMatchObject({
      status: 'passed',
      error: null,
      vectors: { sha256: published.sha256, conformanceVersion: published.conformanceVersion },
      report: { totals: { cases: published.cases.length, passed: published.cases.length } },
    });
    expect(run.requests).toBeGreaterThan(1);
    expect(run.requests).toBeLessThanOrEqual(50);
    expect(run.report?.requests).toBe(run.requests);
  });

  it('against an engine with one fault fails, and its report names the case and the difference', async () => {
    expect(faulty).toBeDefined();
    const { status, report } = await ended(FAULTY);
    expect(status).toBe('failed');
    const failed = report?.sets.flatMap(({ cases }) => cases.filter(({ outcome }) => outcome !== 'passed'));
    expect(failed).toMatchObject([
      { id: faulty?.id, outcome: 'failed', difference: { pointer: '', expected: 'true', got: 'false' } },
    ]);
  });

  it.each(Object.entries(refused))('against %s ends as an error that says why: %s', async (endpoint, why) => {
    const run = await ended(endpoint);
    expect([run.status, run.requests, run.endpoint]).toEqual(['error', 0, endpoint]);
    expect(run.error).toMatch(new RegExp(`^describe: .*(${why}|without a dot)`));
  });
});

describe('a run under way', () => {
  it('is not taken again after SIGKILL, and another runner ends it as interrupted once its lease is over', async () => {
    const silent = await startSilent();
    const [id, leased] = [
      await insertRun(store, 'https://engine.example/killed'),
      await insertRun(store, 'https://engine.example/leased'),
    ];
    const runner = startRunner(options({ 'engine.example': silent.url }));
    await untilRunner(runner, () => silent.asked.length === 2);
    runner.signal('SIGKILL');
    await runner.ended;
    await sql.query(`update conformance_runs set leased_until = now() where run_id = $1`, [id]);
    await runOnce(options({ 'engine.example': silent.url }));
    expect(await readRun(store, leased)).toMatchObject({ status: 'running' });
    expect(await readRun(store, id)).toMatchObject({
      status: 'error',
      error: 'interrupted: the runner ended',
      report: null,
    });
    expect(silent.asked).toHaveLength(2);
    // Later tests must not see this run as expired.
    await sql.query(`delete from conformance_runs where run_id = $1`, [leased]);
  });

  it('ends as interrupted on SIGTERM with exit code 0, and waiting runs are left; the admin port answers before that', async () => {
    const silent = await startSilent();
    const hosts = { 'engine.example': silent.url, 'nothing.example': (await serveNothing()).url };
    // A runner looks for runs at its start, and then every second.
    await insertRun(store, 'https://nothing.example/');
    const runner = startRunner(options(hosts));
    const { adminPort } = JSON.parse(await runner.line('"working"'));
    await runner.line('conformance.ended');
    const admin = (path: string) => fetch(`http://127.0.0.1:${adminPort}${path}`);
    expect((await admin('/readyz')).status).toBe(200);
    expect(await (await admin('/metrics')).text()).toContain(
      'svc_conformance_runs_total{outcome="failed"} 1',
    );
    expect(runner.log.some((line) => line.includes('nothing.example/'))).toBe(false);

    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await insertRun(store, `https://engine.example/${i}`));
    await untilRunner(runner, () => silent.asked.length === 4);
    runner.signal('SIGTERM');
    expect(await runner.ended).toBe(0);
    const runs = await Promise.all(ids.map((id) => readRun(store, id)));
    expect(runs.map(({ status, error }) => [status, error])).toEqual([
      ...Array(4).fill(['error', 'interrupted: the runner was stopped']),
      ['running', null],
    ]);
    expect(runs.map(({ requests }) => requests)).toEqual([1, 1, 1, 1, 0]);
    if (isDeep) {
      await runOnce(options({ 'engine.example': (await serveNothing()).url }));
      expect((await readRun(store, ids[4] ?? '')).status).toBe('failed');
    } else await sql.query('delete from conformance_runs where run_id = $1', [ids[4]]);
  });
});

it.runIf(isDeep)('two runners at once call each endpoint once', async () => {
  const { asked, url } = await serveNothing();
  const hosts = { 'engine.example': url };
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) ids.push(await insertRun(store, `https://engine.example/${i}`));
  await Promise.all([runOnce(options(hosts)), runOnce(options(hosts))]);
  expect(asked.toSorted()).toEqual(ids.map((_, i) => `/${i}`).toSorted());
  for (const id of ids) expect((await readRun(store, id)).status).toBe('failed');
});

it.runIf(isDeep)(
  'endpoints that send without end raise the peak memory of a runner by less than 128 MiB',
  async () => {
    const poison = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const piece = Buffer.alloc(65_536, 0x20);
      const pour = () => {
        while (!response.destroyed) if (!response.write(piece)) break;
      };
      response.on('drain', pour);
      pour();
    });
    await new Promise<void>((resolve) => poison.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      poison.closeAllConnections();
      poison.close();
    });
    const hosts = {
      'engine.example': await serve(),
      'poison.example': `http://127.0.0.1:${(poison.address() as AddressInfo).port}`,
    };
    const runner = startRunner(options(hosts));
    const runAll = async (endpoint: string, count: number) => {
      const ids: string[] = [];
      for (let i = 0; i < count; i++) ids.push(await insertRun(store, endpoint));
      await untilRunner(runner, async () => {
        const { rowCount } = await sql.query(
          `select from conformance_runs where status = 'running' and run_id = any ($1)`,
          [ids],
        );
        return rowCount === 0;
      });
      const { rows } = await sql.query<{ error: string }>(
        'select distinct error from conformance_runs where run_id = any ($1)',
        [ids],
      );
      return rows.map(({ error }) => error);
    };
    await runAll(ENDPOINT, 4);
    const before = highWaterMarkMiB(runner.pid);
    expect(await runAll('https://poison.example/', 24)).toEqual(['describe: more than 4194304 bytes']);
    expect(highWaterMarkMiB(runner.pid) - before).toBeLessThan(128);
  },
);

/** Peak resident memory. Only Linux reports it; elsewhere the test requires nothing. */
const highWaterMarkMiB = (pid: number): number => {
  if (process.platform !== 'linux') return 0;
  const [, kib = '0'] = /VmHWM:\s+([0-9]+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
};
