/**
 * `npm run bench -- scale`: the gain from more API processes on this machine, the cost of a decision for the primary
 * (CPU, WAL, pages, each function of the commit), and the capacity of one primary that follows. docs/scale.md builds on
 * its figures.
 */
import { count, ownApi, readOptions } from '../harness/command-line.ts';
import type { Place } from '../harness/contestants.ts';
import { CONNECTIONS, type Loaded, startLoaded } from '../harness/loaded.ts';
import { cpuUsPerDecision, figureOf } from '../harness/ratios.ts';
import { describeLoad, describeMachine, printFigures, table, transpose } from '../harness/report.ts';
import { perSecond } from '../harness/rounds.ts';
import { runBenchmark } from '../harness/run-benchmark.ts';
import type { LoadReport } from '../load/messages.ts';
import { median } from '../load/percentile.ts';
import { between, callsOf, readCounters, readFunctionTimes, timeFunctions } from './primary.ts';

const LEAD_IN_MS = 500;
/** More than the cores of one machine answer. */
const MOST_PER_SECOND = 6_000;
/** Share of a core beyond which callers wait. */
const BUSY_AT_MOST = 0.7;
const FUNCTIONS_SHOWN = 8;
const SECONDS_OF_YEAR = 365 * 86_400;

const options = readOptions('scale', {
  command: 'npm run bench -- scale [options]',
  options: {
    processes: count({
      ...{ default: 2, least: 2, most: 16 },
      text: 'API processes behind one port against one',
    }),
    pairs: count({ default: 5, least: 1, most: 50, text: 'turns of each' }),
    seconds: count({ default: 3, least: 1, most: 60, text: 'of load in each turn' }),
    api: ownApi,
  },
});

const startSide = (place: Place, processes: number): Promise<Loaded> =>
  startLoaded(place, { name: `of-${processes}`, api: options.api, processes });

async function turn({ target, load }: Loaded): Promise<LoadReport> {
  await load.sign(Math.ceil(MOST_PER_SECOND * (options.seconds + LEAD_IN_MS / 1_000)));
  const windowMs = options.seconds * 1_000;
  const report = await load.load({ ...target, connections: CONNECTIONS, leadInMs: LEAD_IN_MS, windowMs });
  for (const [what, count] of Object.entries(report.others).slice(0, 3))
    console.log(`answered other than ALLOW: ${count} × ${what}`);
  if (report.allowed === 0) throw new Error('nothing was allowed');
  return report;
}

const number = (value: number, digits = 0) =>
  value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });

await runBenchmark(async ({ place }) => {
  console.log(`${describeMachine()}, ${describeLoad()}`);
  const [one, several] = [await startSide(place, 1), await startSide(place, options.processes)];
  for (const side of [one, several]) await turn(side);
  const before = await readCounters(one.database.url);
  const reports: { readonly one: LoadReport; readonly several: LoadReport }[] = [];
  for (let pair = 0; pair < options.pairs; pair++) {
    const isReversed = pair % 2 === 1;
    const first = await turn(isReversed ? several : one);
    const second = await turn(isReversed ? one : several);
    reports.push(isReversed ? { one: second, several: first } : { one: first, several: second });
  }
  const counted = between(before, await readCounters(one.database.url));
  await timeFunctions(one.database.url);
  await turn(one);
  const functions = await readFunctionTimes(one.database.url);
  const commits = callsOf(functions, 'svc_commit_decisions');

  const sides = ['one', 'several'] as const;
  const of = (read: (report: LoadReport) => number, digits = 0) =>
    sides.map((side) => number(median(reports.map((pair) => read(pair[side]))), digits));
  const lines = [
    ['', 'one process', `${options.processes} processes`],
    ['decisions/s', ...of(perSecond)],
    ['Node and PostgreSQL µs', ...of(cpuUsPerDecision)],
    ['PostgreSQL µs', ...of(({ postgresCpuMs, allowed }) => (postgresCpuMs * 1_000) / allowed)],
    ['p99 ms', ...of(({ p99Ms }) => p99Ms, 1)],
    ['cores used by others', ...of(({ elsewhereCpuMs, seconds }) => elsewhereCpuMs / seconds / 1_000, 2)],
  ];
  console.log(`\n${table(transpose(lines), [0]).join('\n')}`);

  const each = (value: number) => value / counted.receipts;
  console.log(`\nPer decision, ${number(counted.receipts)} of them, one process:`);
  const costs = [
    ['bytes of log', number(each(counted.walBytes))],
    ['writes of log', number(each(counted.walWrites), 3)],
    ['fsyncs of log', number(each(counted.walSyncs), 3)],
    ['pages written or added, 8 KB', number(each(counted.pageWrites), 3)],
    ['pages read', number(each(counted.pageReads), 3)],
    ['bytes stored', number(each(counted.storedBytes))],
  ];
  console.log(table(transpose(costs), [0]).join('\n'));
  console.log(`\nPer commit of a batch, µs in each function by itself (of them ${number(commits)}):`);
  const times = functions
    .slice(0, FUNCTIONS_SHOWN)
    .map(({ name, calls, selfUs }) => [
      ...[name, number(selfUs / commits, 1), `${number(calls / commits, 1)} calls`],
    ]);
  console.log(table(transpose(times), [0, 2]).join('\n'));

  const us = median(reports.map((pair) => (pair.one.postgresCpuMs * 1_000) / pair.one.allowed));
  const perCore = (BUSY_AT_MOST * 1e6) / us;
  const terabytes = (perCore * each(counted.storedBytes) * SECONDS_OF_YEAR) / 1e12;
  console.log(`
One primary, per core that PostgreSQL has: ${BUSY_AT_MOST} × 1,000,000 µs / ${number(us)} µs = ${number(perCore)} decisions/s.
At that rate they write ${number((perCore * each(counted.walBytes)) / 1e6, 1)} MB/s of log and store ${number(terabytes, 1)} TB in a whole year.`);
  const ratios = reports.map((pair) => perSecond(pair.several) / perSecond(pair.one));
  const what = `decisions/s, ${options.processes} processes against one`;
  // No bar: the cores left for a second process depend on the machine.
  console.log(`\n${printFigures([figureOf(what, ratios, null, { atLeast: 1.6 })])}`);
});
