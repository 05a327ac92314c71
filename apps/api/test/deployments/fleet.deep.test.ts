/**
 * Several API processes behind one port (`SVC_PROCESSES`): all have one admin port, a lost process is replaced, and
 * SIGHUP replaces all of them without losing a request.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withDatabase } from '@svc/testkit';
import { until } from '@svc/testkit/until';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ApiProcess, type ApiProcesses, startApiProcesses } from '../world/api-process.ts';
import { dataFolder } from '../world/data-folder.ts';
import {
  call,
  createTenants,
  type HeldGrant,
  issueGrant,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

const database = withDatabase();
const PROCESSES = 3;
/**
 * Clients that verify without a pause while all processes are replaced. More clients would only take CPU from the
 * processes that start.
 */
const CLIENTS = 12;
const ANSWERS = 50;

let api: ApiProcesses;
let one: ApiProcess;
let tenants: Tenants;
let grant: HeldGrant;
beforeEach(async () => {
  api = await startApiProcesses(1, database.url, { SVC_PROCESSES: String(PROCESSES) });
  const [started] = api.processes;
  if (started === undefined) throw new Error('no process');
  one = started;
  tenants = await createTenants(one.baseUrl);
  grant = await issueGrant(tenants);
}, 60_000);
afterEach(() => api?.stop());

const logged = (event: string): readonly Record<string, unknown>[] =>
  one.log.filter((line) => line.includes(`"msg":"${event}"`)).map((line) => JSON.parse(line));
const processIds = () => logged('process.listening').map(({ processId }) => Number(processId));

/**
 * Repeats after a 503, as the SDK does, since on a loaded machine storage misses its deadlines. Rejects where nothing
 * answers.
 */
const verify = async () => {
  for (;;) {
    const body = await verifyBody(tenants, grant);
    const answer = await call(one.baseUrl, 'POST', '/verify', { key: tenants.rpKey, body });
    if (answer.status !== 503) return receiptOf(answer);
    repeats += 1;
  }
};
let repeats = 0;

/** Verifies without a pause until it is stopped; records each failure. */
const startLoad = (clients: number) => {
  const failed: unknown[] = [];
  let answered = 0;
  let isOver = false;
  const client = async () => {
    while (!isOver)
      try {
        await verify();
        answered += 1;
      } catch (error) {
        failed.push(error);
      }
  };
  const clientsAtWork = Array.from({ length: clients }, client);
  return {
    failed,
    answered: () => answered,
    stop: async () => {
      isOver = true;
      await Promise.all(clientsAtWork);
    },
  };
};

const readyz = async () => {
  const response = await fetch(`${one.adminUrl}/readyz`);
  return { status: response.status, ...((await response.json()) as { checks: Record<string, string> }) };
};

/** The sum of a metric's series, as Prometheus adds them. */
const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${one.adminUrl}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  if (lines.length === 0) throw new Error(`no ${name}`);
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
};

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it('every process of a fleet answers requests, and one admin port reports on all', async () => {
  // Each process logs separately.
  await until(() => new Set(processIds()).size === PROCESSES);
  const load = startLoad(24);
  await until(() => load.answered() >= 120);
  await load.stop();
  expect(load.failed).toEqual([]);
  const requests = logged('request').filter(({ route }) => route === 'verify');
  expect(new Set(requests.map(({ processId }) => processId))).toEqual(new Set(processIds()));
  expect(await metric('svc_decisions_total')).toBeGreaterThanOrEqual(load.answered());
  // A state that is on or off counts once for all processes.
  expect(await metric('svc_holds')).toBe(0);
  expect([await metric('svc_processes'), await metric('svc_process_deaths_total')]).toEqual([PROCESSES, 0]);
  expect(await metric('process_start_time_seconds')).toBeLessThan(Date.now() / 1000);
  expect(await readyz()).toMatchObject({
    status: 200,
    checks: { storage: 'ok', http: 'ok', processes: 'ok' },
  });
  // Lines of different processes are never mixed.
  for (const line of one.log) expect(() => JSON.parse(line)).not.toThrow();
}, 90_000);

describe('SIGHUP', () => {
  it('replaces every process without a failed request or a falling counter; processes end with their supervisor', async () => {
    const before = processIds();
    const load = startLoad(CLIENTS);
    await until(() => load.answered() > ANSWERS);
    const counts: number[] = [];
    let isOver = false;
    const scraping = (async () => {
      while (!isOver) counts.push(await metric('svc_decisions_total'));
    })();
    one.signal('SIGHUP');
    await one.line('"restarted"');
    const replaced = load.answered();
    await until(() => load.answered() > replaced + ANSWERS);
    await load.stop();
    isOver = true;
    await scraping;
    expect(load.failed).toEqual([]);
    // A process that accepted requests before it could decide would refuse all of them.
    expect(repeats).toBeLessThan(load.answered() / 5);
    await until(() => !before.some(isAlive));
    await until(() => new Set(processIds()).size === 2 * PROCESSES);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(await metric('svc_decisions_total')).toBeGreaterThanOrEqual(load.answered());
    expect([await metric('svc_processes'), await metric('svc_process_deaths_total')]).toEqual([PROCESSES, 0]);

    one.signal('SIGKILL');
    await until(() => !processIds().some(isAlive));
  }, 120_000);

  it('with an invalid configuration replaces nothing; restarts of a lost process then have increasing pauses', async () => {
    const path = join(dataFolder(), 'receipt-keys.json');
    const keys = readFileSync(path);
    try {
      writeFileSync(path, '{');
      one.signal('SIGHUP');
      await one.line('"process.not_replaced"');
      expect(await readyz()).toMatchObject({ status: 200 });
      process.kill(processIds()[0] ?? -1, 'SIGKILL');
      await until(() => logged('process.lost').length === 3, 60_000);
      // The process that was to take over, the one that was killed, and the first that was to replace it.
      expect(logged('process.lost').map(({ pauseMs }) => pauseMs)).toEqual([500, 1_000, 2_000]);
      for (let i = 0; i < 10; i++) await verify();
      expect(await readyz()).toMatchObject({
        status: 200,
        checks: { processes: `${PROCESSES - 1} of ${PROCESSES} at work` },
      });
    } finally {
      writeFileSync(path, keys);
    }
    await one.line('"process.replaced"');
    expect(await readyz()).toMatchObject({ status: 200, checks: { processes: 'ok' } });
  }, 120_000);
});

it('a killed process is replaced, the others answer, and its counters stay in the sum', async () => {
  for (let i = 0; i < 30; i++) await verify();
  const counted = await metric('svc_decisions_total');
  const [killed = -1, ...others] = processIds();
  process.kill(killed, 'SIGKILL');
  await one.line('"process.lost"');
  for (let i = 0; i < 10; i++) await verify().catch(() => verify());
  await one.line('"process.replaced"');
  await until(() => processIds().length === PROCESSES + 1);
  expect([killed, ...others].filter(isAlive)).toEqual(others);
  expect(await metric('svc_decisions_total')).toBeGreaterThanOrEqual(counted + 10);
  expect(await metric('svc_process_deaths_total')).toBe(1);
  expect(await readyz()).toMatchObject({ status: 200, checks: { processes: 'ok' } });
}, 90_000);

it('SIGTERM ends all processes: every request sent before is answered, exit code 0', async () => {
  const failed: unknown[] = [];
  let exit: Promise<number | null> | undefined;
  let answered = 0;
  const client = async () => {
    while (exit === undefined)
      try {
        await verify();
        answered += 1;
        if (answered === 60) exit = one.stop();
      } catch (error) {
        failed.push(error);
      }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  expect([failed, await exit]).toEqual([[], 0]);
  expect(processIds().some(isAlive)).toBe(false);
}, 60_000);
