/**
 * `npm run bench -- reports`: what reports cost the primary, read there or on a streaming replica, beside verifies at a
 * steady rate. Ends with 1 where a request failed, or no report was read on the replica.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DAY_MS } from '@svc/protocol';
import { findFreePort } from '@svc/testkit/process/free-ports';
import { SteadyLoad } from '../day/steady-load.ts';
import { VerifyRequests } from '../fixtures/verify-requests.ts';
import { makeWorld } from '../fixtures/world.ts';
import { count, ownApi, readOptions } from '../harness/command-line.ts';
import { type ApiNode, startApiNode } from '../harness/contestants.ts';
import { startDatabase } from '../harness/database.ts';
import { describeLoad, describeMachine } from '../harness/report.ts';
import { runBenchmark } from '../harness/run-benchmark.ts';
import { DAYS, startOfDay } from '../ledger/days.ts';
import { fill } from '../ledger/fill.ts';
import { get } from '../ledger/nodes.ts';
import { countUsage, homeOf } from '../ledger/prepare.ts';
import { printRows, type Row } from '../ledger/table.ts';
import { takeTemplates } from '../ledger/templates.ts';
import { insertTenants, type Tenants } from '../ledger/tenants.ts';
import { cpuMsOfTree } from '../load/cpu.ts';
import { median, percentile } from '../load/percentile.ts';
import { startStandby } from './standby.ts';

const options = readOptions('reports', {
  command: 'npm run bench -- reports [options]',
  options: {
    receipts: count({ default: 1e6, least: 1e4, most: 1e7, text: 'of the year that is asked about' }),
    rate: count({ default: 20, least: 1, most: 40, text: 'reports a second' }),
    verifies: count({ default: 200, least: 0, most: 1_000, text: 'a second' }),
    rounds: count({ default: 3, least: 1, most: 20, text: 'of each kind' }),
    seconds: count({ default: 15, least: 5, most: 60, text: 'of each round' }),
    api: ownApi,
  },
});

/** The requests of a dashboard. */
const pathsOf = (firstDayMs: number, endMs: number, { largestPrincipal }: Tenants): readonly string[] => {
  const period = `since=${new Date(firstDayMs).toISOString()}&until=${new Date(endMs).toISOString()}`;
  return [
    '/decisions?limit=200',
    '/decisions?limit=200&decision=DENY',
    `/decisions?limit=200&principal=${largestPrincipal}`,
    `/usage?${period}`,
    `/decisions/stats?${period}`,
  ];
};

/** Where a node has read its reports, by its own metrics. */
async function readsOf(adminPort: string): Promise<Record<'replica' | 'primary', number>> {
  const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  const countOf = (server: string) =>
    Number(
      new RegExp(`^svc_report_reads_total\\{server="${server}"[^}]*\\} (\\d+)`, 'm').exec(metrics)?.[1] ?? 0,
    );
  return { replica: countOf('replica'), primary: countOf('primary') };
}

await runBenchmark(
  async ({ place, progress }) => {
    const { folder, cleanup } = place;
    progress(`${describeMachine()}, ${describeLoad()}`);
    const database = await startDatabase(join(folder, 'database'), cleanup);
    const home = join(folder, 'home');
    mkdirSync(home);
    const environment = homeOf(home);
    const nodeOf = (name: string, more: Readonly<Record<string, string>>, first?: ApiNode) =>
      startApiNode(place, {
        ...{ name, api: options.api, databaseUrl: database.url, environment: { ...environment, ...more } },
        ...(first === undefined ? {} : { first }),
      });
    const plain = await nodeOf('primary', {});
    const templates = await takeTemplates(plain, false);
    const endMs = startOfDay(Date.now());
    const firstDayMs = endMs - DAYS * DAY_MS;
    const tenants = await insertTenants(database.url, firstDayMs, DAYS);
    const { receipts, rate, verifies, rounds, seconds } = options;
    await fill({ databaseUrl: database.url, firstDayMs, days: DAYS, receipts, templates, progress });
    await countUsage(database.url, receipts, progress);
    progress('starting the standby');
    const standbyUrl = await startStandby(database, cleanup);
    const adminPort = `${await findFreePort()}`;
    const replicated = await nodeOf(
      'replica',
      { DATABASE_READ_URL: standbyUrl, SVC_ADMIN_PORT: adminPort },
      plain,
    );
    const world = await makeWorld({ baseUrl: plain.origin, adminToken: plain.adminToken }, 20);
    const requests = new VerifyRequests(world);
    const paths = pathsOf(firstDayMs, endMs, tenants);
    const keys = tenants.keys['largest RP'];
    let asked = 0;
    let failures = 0;

    /** Milliseconds of the primary's CPU in a second of verifies, and of reports where a node is given. */
    const round = async (node: ApiNode | null) => {
      const target = { url: `${plain.origin}/verify`, apiKey: world.relyingParty.apiKey };
      const load = new SteadyLoad(target, requests.sign(verifies * (seconds + 20)), Math.max(verifies, 1));
      await delay(1_000);
      const cpuBefore = cpuMsOfTree(database.postgresPid);
      const beganMs = performance.now();
      const ms: number[] = [];
      const answers: Promise<void>[] = [];
      while (performance.now() - beganMs < seconds * 1_000) {
        if (node !== null) {
          const [path = '', key = ''] = [paths[asked % paths.length], keys[asked % keys.length]];
          asked += 1;
          answers.push(
            get(node, path, { key }).then(
              (answer) => void ms.push(answer.ms),
              (problem: unknown) => {
                if (failures++ === 0) progress(problem instanceof Error ? problem.message : String(problem));
              },
            ),
          );
        }
        await delay(1_000 / rate);
      }
      await Promise.all(answers);
      const elapsedMs = performance.now() - beganMs;
      const cpuMs = ((cpuMsOfTree(database.postgresPid) - cpuBefore) * 1_000) / elapsedMs;
      const verified = load.between(beganMs, beganMs + elapsedMs);
      await load.stop();
      failures += verified.filter(({ isAllowed }) => !isAllowed).length;
      return {
        cpuMs,
        ms,
        reports: (answers.length * 1_000) / elapsedMs,
        latencies: verified.map(({ latencyMs }) => latencyMs),
      };
    };

    const kinds = [
      ['verifies alone', null],
      ['reports on the primary', plain],
      ['reports on a replica', replicated],
    ] as const;
    const measured = new Map(
      kinds.map(([what]) => [what as string, [] as Awaited<ReturnType<typeof round>>[]]),
    );
    for (const [, node] of kinds)
      if (node !== null) for (const path of paths) await get(node, path, { key: keys[0] ?? '' });
    for (let n = 1; n <= rounds; n++)
      for (const [what, node] of kinds) {
        const one = await round(node);
        measured.get(what)?.push(one);
        progress(
          `round ${n} of ${rounds}, ${what}: ${one.cpuMs.toFixed(0)} ms of the primary's CPU a second`,
        );
      }
    const cpuOf = (what: string) => median(measured.get(what)?.map(({ cpuMs }) => cpuMs) ?? []);
    const alone = cpuOf('verifies alone');
    const rows = kinds.map(([what, node]): Row => {
      const all = measured.get(what) ?? [];
      const ms = all.flatMap((one) => one.ms);
      const latencies = all.flatMap((one) => one.latencies);
      const perSecond = median(all.map(({ reports }) => reports));
      const each =
        node === null
          ? ''
          : `${(((cpuOf(what) - alone) * 1_000) / perSecond).toFixed(0)} µs of it a report; `;
      const took =
        node === null
          ? ''
          : `reports: p50 ${percentile(ms, 50).toFixed(0)}, p99 ${percentile(ms, 99).toFixed(0)} ms; `;
      return {
        ...{ what: `PostgreSQL of the primary, ${what}`, p50: '', figure: `${cpuOf(what).toFixed(0)} ms/s` },
        ...{ bar: '', isMissed: false },
        note: `${each}${took}verifies: p99 ${latencies.length === 0 ? '-' : percentile(latencies, 99).toFixed(1)} ms`,
      };
    });
    console.log(printRows(rows));
    const { replica, primary } = await readsOf(adminPort);
    progress(`the node with a replica read ${replica} reports there, and ${primary} on the primary`);
    if (replica === 0) throw new Error('no report was read on the replica');
    if (failures > 0) throw new Error(`${failures} requests failed`);
  },
  { reads: 'CPU times', atEnd: (progress) => progress(`${describeLoad()} at the end`) },
);
