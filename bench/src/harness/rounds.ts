/** The measurement: interleaved rounds at 64 connections, then at one, and commits without other load. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { CommitAlone } from '../floor/lone-commit.ts';
import type { LoadReport } from '../load/messages.ts';
import { builtProgram, type Contestant, type Field, NAMES, type Name, type Place } from './contestants.ts';
import { STATISTICS_SETTLE_MS } from './database.ts';
import { askProgram, type LoadProcess } from './load-process.ts';
import { CONNECTIONS, LEAD_IN_MS, WARM_UP_MS } from './loaded.ts';
import { startProgram } from './program.ts';
import type { Progress } from './run-benchmark.ts';

export type PerContestant<Value> = Readonly<Record<Name, Value>>;

export interface Measured {
  /** At 64 connections. */
  readonly rounds: readonly PerContestant<LoadReport>[];
  readonly fsyncsPerDecision: PerContestant<number>;
  /** At one connection: medians in milliseconds. */
  readonly alone: readonly (PerContestant<number> & { readonly commit: number })[];
}

const ALONE_MS = 1_000;
/** Factor on the highest rate so far, so that the requests do not run out. */
const HEADROOM = 1.3;
/** More than any contestant answers, at 64 connections and at one. */
const MOST_PER_SECOND = 12_000;
const MOST_PER_SECOND_ALONE = 5_000;

export interface Run {
  readonly place: Place;
  readonly field: Field;
  readonly load: LoadProcess;
  readonly rounds: number;
  readonly seconds: number;
  readonly progress: Progress;
}

export async function measure(run: Run): Promise<Measured> {
  const { field, progress } = run;
  const before = await totals(field);
  progress('warming up');
  let fastest = await warmUp(run);
  const rounds: PerContestant<LoadReport>[] = [];
  for (let round = 1; round <= run.rounds; round++) {
    const count = Math.ceil(fastest * HEADROOM * (run.seconds + LEAD_IN_MS / 1000));
    const reports = await oneRound(run, count, { connections: CONNECTIONS, windowMs: run.seconds * 1000 });
    fastest = Math.max(fastest, ...NAMES.map((name) => perSecond(reports[name])));
    const speeds = NAMES.map((name) => `${name} ${Math.round(perSecond(reports[name]))}/s`);
    progress(`round ${round} of ${run.rounds}: ${speeds.join(', ')}`);
    rounds.push(reports);
  }
  progress('waiting for the statistics of PostgreSQL');
  await delay(STATISTICS_SETTLE_MS);
  const after = await totals(field);
  progress('one connection');
  const alone = await measureAlone(run);
  return {
    rounds,
    fsyncsPerDecision: forEach((name) => {
      const receipts = after[name].receipts - before[name].receipts;
      const counted = rounds.reduce((sum, reports) => sum + reports[name].allowed, 0);
      if (receipts < counted) throw new Error(`${name} stored ${receipts} Receipts for ${counted} ALLOWs`);
      return (after[name].fsyncs - before[name].fsyncs) / receipts;
    }),
    alone,
  };
}

/** Returns the decisions a second of the fastest contestant. */
async function warmUp(run: Run): Promise<number> {
  const count = MOST_PER_SECOND * ((WARM_UP_MS + LEAD_IN_MS) / 1000);
  const reports = await oneRound(run, count, { connections: CONNECTIONS, windowMs: WARM_UP_MS });
  return Math.max(...NAMES.map((name) => perSecond(reports[name])));
}

/** Signs new requests and sends the same ones to each contestant in turn. */
async function oneRound(
  { field, load }: Run,
  count: number,
  how: { readonly connections: number; readonly windowMs: number },
  contestants = field.contestants,
): Promise<PerContestant<LoadReport>> {
  await load.sign(count);
  const reports = new Map<Name, LoadReport>();
  for (const { name, url, program, database } of contestants) {
    await database.checkpoint();
    const pids = { serverPid: program.pid, postgresPid: database.postgresPid };
    const report = await load.load({ url, leadInMs: LEAD_IN_MS, ...how, ...pids });
    refuseOthers(name, report);
    reports.set(name, report);
  }
  return forEach((name) => get(reports, name));
}

async function measureAlone(run: Run): Promise<Measured['alone']> {
  const { folder, cleanup } = run.place;
  const floor = run.field.contestants.find(({ name }) => name === 'floor') as Contestant;
  const environment = {
    BENCH_PORT: '0',
    BENCH_WORLD: run.field.worldFile,
    DATABASE_URL: floor.database.url,
  };
  const command = [builtProgram('lone-commit')];
  const logFile = join(folder, 'lone-commit.log');
  const committer = startProgram({ name: 'the committer', command, environment, logFile }, cleanup);
  const count = MOST_PER_SECOND_ALONE * ((ALONE_MS + LEAD_IN_MS) / 1000);
  const order: CommitAlone = { leadInMs: LEAD_IN_MS, forMs: ALONE_MS };
  const commitAlone = async () => {
    await floor.database.checkpoint();
    return askProgram<number>(committer, order);
  };
  await commitAlone();
  const alone: (PerContestant<number> & { commit: number })[] = [];
  const { contestants } = run.field;
  for (let round = 1; round <= run.rounds; round++) {
    const isForward = round % 2 === 1;
    const first = isForward ? await commitAlone() : null;
    const inOrder = isForward ? contestants : contestants.toReversed();
    const how = { connections: 1, windowMs: ALONE_MS };
    const reports = await oneRound(run, count, how, inOrder);
    alone.push({ commit: first ?? (await commitAlone()), ...forEach((name) => reports[name].p50Ms) });
  }
  return alone;
}

/** Throws unless every answer was an ALLOW: only then does a round count. */
function refuseOthers(name: Name, { allowed, others }: LoadReport): void {
  const seen = Object.entries(others).map(([what, count]) => `${count} × ${what}`);
  if (seen.length > 0)
    throw new Error(`${name} answered other than ALLOW:\n  ${seen.slice(0, 5).join('\n  ')}`);
  if (allowed === 0) throw new Error(`${name} answered nothing`);
}

const totals = async ({ contestants }: Field) => {
  const found = await Promise.all(
    contestants.map(async ({ name, database }) => [name, await database.readTotals()] as const),
  );
  const byName = new Map(found);
  return forEach((name) => get(byName, name));
};

export const perSecond = ({ allowed, seconds }: LoadReport) => allowed / seconds;

const forEach = <Value>(of: (name: Name) => Value): PerContestant<Value> => ({
  floor: of('floor'),
  plain: of('plain'),
  svc: of('svc'),
});

function get<Value>(map: ReadonlyMap<Name, Value>, name: Name): Value {
  const value = map.get(name);
  if (value === undefined) throw new Error(`nothing measured for ${name}`);
  return value;
}
