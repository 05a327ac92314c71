/** The cost of a decision with the full ledger against an empty one: interleaved rounds of the same load on both. */
import { join } from 'node:path';
import { makeWorld } from '../fixtures/world.ts';
import { type ApiNode, type Place, startApiNode } from '../harness/contestants.ts';
import { startDatabase } from '../harness/database.ts';
import type { LoadProcess } from '../harness/load-process.ts';
import { AGENTS, CONNECTIONS, LEAD_IN_MS, startLoadOf, WARM_UP_MS } from '../harness/loaded.ts';
import { cpuUsPerDecision } from '../harness/ratios.ts';
import { perSecond } from '../harness/rounds.ts';
import type { Progress } from '../harness/run-benchmark.ts';
import type { LoadReport } from '../load/messages.ts';
import { median } from '../load/percentile.ts';
import { execute, type LedgerDatabase } from './database.ts';
import { atMost, type Row } from './table.ts';

const BAR = 1.15;
const MOST_PER_SECOND = 8_000;
const MOST_ATTEMPTS = 5;

export interface DecisionsRun {
  readonly place: Place;
  readonly api: string;
  /** The node on the full ledger. */
  readonly node: ApiNode;
  readonly database: LedgerDatabase;
  readonly rounds: number;
  readonly seconds: number;
  readonly progress: Progress;
  readonly bar?: number;
}

interface Side {
  readonly name: 'full' | 'empty';
  readonly node: ApiNode;
  readonly database: LedgerDatabase;
  readonly load: LoadProcess;
  readonly reports: LoadReport[];
}

export async function measureDecisions(run: DecisionsRun): Promise<Row[]> {
  const { place, api, node, database, rounds, seconds, progress, bar = BAR } = run;
  const emptyDatabase = await startDatabase(join(place.folder, 'empty-database'), place.cleanup);
  const emptyNode = await startApiNode(place, { name: 'empty', api, databaseUrl: emptyDatabase.url });
  const sides = [
    await sideOf(place, 'empty', emptyNode, emptyDatabase),
    await sideOf(place, 'full', node, database),
  ];
  for (const side of sides) await loadCleanly(side, WARM_UP_MS, progress);
  for (let round = 1; round <= rounds; round++) {
    // The order alternates, since the second side starts on a warm machine.
    for (const side of round % 2 === 0 ? sides : [...sides].reverse())
      side.reports.push(await loadCleanly(side, seconds * 1000, progress));
    const speeds = sides.map(({ name, reports }) => `${name} ${Math.round(perSecondOfLast(reports))}/s`);
    progress(`round ${round} of ${rounds}: ${speeds.join(', ')}`);
  }
  const of = (name: Side['name']) => sides.find((side) => side.name === name)?.reports ?? [];
  const ratios = of('full').map((report, i) => {
    const empty = of('empty')[i];
    return empty === undefined ? Number.NaN : cpuUsPerDecision(report) / cpuUsPerDecision(empty);
  });
  const value = median(ratios);
  const cost = (name: Side['name']) => {
    const us = (read: (report: LoadReport) => number) =>
      Math.round(median(of(name).map((report) => (read(report) * 1000) / report.allowed)));
    return `${name}: ${us(({ serverCpuMs }) => serverCpuMs)} µs API, ${us(({ postgresCpuMs }) => postgresCpuMs)} µs PostgreSQL`;
  };
  return [
    {
      what: 'CPU of a decision, full against empty',
      p50: '',
      figure: value.toFixed(2),
      ...atMost(value, bar),
      note: `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}; ${cost('full')}, ${cost('empty')}`,
    },
  ];
}

async function sideOf(
  place: Place,
  name: Side['name'],
  node: ApiNode,
  database: LedgerDatabase,
): Promise<Side> {
  // New names, since a kept database has those of an earlier run.
  const world = await makeWorld(
    { baseUrl: node.origin, adminToken: node.adminToken },
    AGENTS,
    `bench-${Date.now().toString(36)}`,
  );
  return { name, node, database, load: startLoadOf(place, `${name}-world`, world), reports: [] };
}

/**
 * Returns a stretch of load in which every answer is an ALLOW. On a machine that is busy with other work a stretch may
 * fail; it is printed, discarded and repeated.
 */
async function loadCleanly(side: Side, windowMs: number, progress: Progress): Promise<LoadReport> {
  for (let attempt = 1; ; attempt++) {
    const report = await loadOnce(side, windowMs);
    const [other] = Object.entries(report.others);
    if (other === undefined) return report;
    const problem = `${side.name} answered other than ALLOW: ${other[1]} × ${other[0]}`;
    if (attempt === MOST_ATTEMPTS) throw new Error(problem);
    progress(`once more: ${problem}`);
  }
}

async function loadOnce({ node, database, load }: Side, windowMs: number): Promise<LoadReport> {
  await load.sign(Math.ceil(MOST_PER_SECOND * ((windowMs + LEAD_IN_MS) / 1000)));
  await execute(database.url, 'checkpoint');
  const pids = { serverPid: node.program.pid, postgresPid: database.postgresPid };
  const report = await load.load({
    url: node.url,
    connections: CONNECTIONS,
    leadInMs: LEAD_IN_MS,
    windowMs,
    ...pids,
  });
  return report;
}

const perSecondOfLast = (reports: readonly LoadReport[]): number => {
  const last = reports.at(-1);
  return last === undefined ? 0 : perSecond(last);
};
