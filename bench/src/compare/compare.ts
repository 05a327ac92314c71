/**
 * `npm run bench -- compare --with FILE`: what a decision costs this build of the API against another one, in CPU time
 * of the server and of its PostgreSQL. The two take turns at the same load, so that changes of the machine's speed
 * affect both.
 */
import { writeFileSync } from 'node:fs';
import { assertBuilt, count, ownApi, path, readOptions } from '../harness/command-line.ts';
import type { Place } from '../harness/contestants.ts';
import { LEAD_IN_MS, type Loaded, MOST_PER_SECOND, startLoaded } from '../harness/loaded.ts';
import { describeMachine } from '../harness/report.ts';
import { runBenchmark } from '../harness/run-benchmark.ts';
import type { LoadReport } from '../load/messages.ts';
import { median, ratiosOf } from '../load/percentile.ts';

interface Side extends Loaded {
  readonly name: 'this' | 'other';
}

const startSide = async (place: Place, name: Side['name'], build: string, count: number): Promise<Side> => ({
  name,
  ...(await startLoaded(place, { name, api: build, processes: count })),
});

type Read = (report: LoadReport) => number;
const perDecision =
  (read: Read): Read =>
  (report) =>
    (read(report) * 1000) / report.allowed;

const figures: readonly (readonly [string, Read])[] = [
  ['Node µs', perDecision(({ serverCpuMs }) => serverCpuMs)],
  ['PostgreSQL µs', perDecision(({ postgresCpuMs }) => postgresCpuMs)],
  ['both µs', perDecision(({ serverCpuMs, postgresCpuMs }) => serverCpuMs + postgresCpuMs)],
  ['decisions/s', ({ allowed, seconds: window }) => allowed / window],
  ['p50 ms', ({ p50Ms }) => p50Ms],
];

/** The other build; where none is named, several processes of this build. Null where `processes` is 1 as well. */
const otherOf = ({ with: other, processes, api }: { with: string | null; processes: number; api: string }) =>
  other ?? (processes > 1 ? api : null);

const options = readOptions('compare', {
  command: 'npm run bench -- compare --with FILE | --processes N [options]',
  options: {
    with: path("the other build's apps/api/dist/main.js"),
    processes: count({
      ...{ default: 1, least: 1, most: 16 },
      text: 'the other runs with SVC_PROCESSES=N; without --with it is this build',
    }),
    api: ownApi,
    pairs: count({ default: 10, least: 1, most: 1_000, text: 'turns of each' }),
    seconds: count({ default: 2, least: 1, most: 60, text: 'of load in each turn' }),
    connections: count({ default: 64, least: 1, most: 1_000, text: 'that ask at once' }),
    json: path('write every figure of every turn'),
  },
  check: (values) => {
    const other = otherOf(values);
    if (other === null) throw new Error('with what is it to be compared?');
    assertBuilt(other);
  },
});
const { api, processes, pairs, seconds, connections, json } = options;
const other = otherOf(options) ?? api;

await runBenchmark(async ({ place }) => {
  console.log(describeMachine());
  const sides = [
    await startSide(place, 'this', api, 1),
    await startSide(place, 'other', other, processes),
  ] as const;
  for (const side of sides) await turn(side);
  const turns: Record<Side['name'], LoadReport[]> = { this: [], other: [] };
  for (let pair = 0; pair < pairs; pair++)
    // Order ABBA: a machine that becomes slower or faster favours neither.
    for (const side of pair % 2 === 0 ? sides : sides.toReversed()) turns[side.name].push(await turn(side));
  if (json !== null) writeFileSync(json, JSON.stringify({ machine: describeMachine(), ...turns }, null, 2));
  for (const [what, read] of figures)
    console.log(describe(what, turns.this.map(read), turns.other.map(read)));
});

async function turn({ name, target, database, load }: Side): Promise<LoadReport> {
  await load.sign(Math.ceil(MOST_PER_SECOND * (seconds + LEAD_IN_MS / 1000)));
  await database.checkpoint();
  const report = await load.load({
    ...target,
    connections,
    leadInMs: LEAD_IN_MS,
    windowMs: seconds * 1000,
  });
  const others = Object.entries(report.others).map(([what, count]) => `${count} × ${what}`);
  if (others.length > 0) console.log(`${name} answered other than ALLOW: ${others.slice(0, 5).join(', ')}`);
  if (report.allowed === 0) throw new Error(`${name} allowed nothing`);
  return report;
}

/** Medians, and the median of the ratios of each pair with its quartiles. */
function describe(what: string, own: readonly number[], others: readonly number[]): string {
  return [
    what.padEnd(14),
    `this ${median(own).toFixed(1).padStart(8)}`,
    `other ${median(others).toFixed(1).padStart(8)}`,
    ratiosOf(own, others).text,
  ].join('  ');
}
