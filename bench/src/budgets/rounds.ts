/** One round of each kind of load, in turn, on two nodes of one service. Every answer must be an ALLOW. */
import { join } from 'node:path';
import { BUDGETED, makeWorld, type WorldKind } from '../fixtures/world.ts';
import { type ApiNode, type Place, startApiNode } from '../harness/contestants.ts';
import { type Database, startDatabase } from '../harness/database.ts';
import type { LoadProcess } from '../harness/load-process.ts';
import { CONNECTIONS, LEAD_IN_MS, startLoadOf } from '../harness/loaded.ts';
import type { LoadReport } from '../load/messages.ts';

/** More than the service answers. */
const MOST_PER_SECOND = 9_000;

export interface Stage {
  readonly nodes: readonly [ApiNode, ApiNode];
  readonly database: Database;
  /**
   * Load processes, by the Grants that they ask about. The second of each pair loads the second node, or runs beside
   * the first.
   */
  readonly unrelated: readonly [LoadProcess, LoadProcess];
  readonly budgets: LoadProcess;
  readonly hot: readonly [LoadProcess, LoadProcess];
}

/** Decisions a second. */
export interface RoundOfBudgets {
  readonly unrelated: number;
  readonly budgets: number;
  readonly hot: number;
  readonly unrelatedOnTwo: number;
  readonly hotOnTwo: number;
  /**
   * Rate of half of the connections, while the other half ask about other unrelated Grants, or about the Grant that
   * every request uses.
   */
  readonly besideOthers: number;
  readonly besideHot: number;
}

export async function startStage(
  place: Place,
  { api, agents }: { api: string; agents: number },
): Promise<Stage> {
  const database = await startDatabase(join(place.folder, 'database'), place.cleanup);
  const request = { name: 'svc', api, databaseUrl: database.url };
  const first = await startApiNode(place, request);
  const second = await startApiNode(place, { ...request, first });
  const load = async (name: string, holders: number, count: number, kind?: WorldKind) => {
    const world = await makeWorld(first, holders, name, kind);
    return Array.from({ length: count }, () => startLoadOf(place, name, world));
  };
  return {
    nodes: [first, second],
    database,
    unrelated: pair(await load('unrelated', agents, 2)),
    budgets: pair(await load('budgets', agents, 2, BUDGETED))[0],
    hot: pair(await load('hot', 1, 2, BUDGETED)),
  };
}

export async function measureRound(stage: Stage, seconds: number): Promise<RoundOfBudgets> {
  const { unrelated, budgets, hot, nodes, database } = stage;
  const run = async (...loads: readonly (readonly [LoadProcess, ApiNode])[]): Promise<readonly number[]> => {
    const count = Math.ceil((MOST_PER_SECOND / loads.length) * (seconds + LEAD_IN_MS / 1000));
    await Promise.all(loads.map(([load]) => load.sign(count)));
    await database.checkpoint();
    const order = { leadInMs: LEAD_IN_MS, windowMs: seconds * 1000, postgresPid: database.postgresPid };
    const reports = loads.map(([load, { url, program }]) =>
      load.load({ ...order, url, serverPid: program.pid, connections: CONNECTIONS / loads.length }),
    );
    return (await Promise.all(reports)).map(perSecond);
  };
  const [one, two] = nodes;
  return {
    unrelated: sum(await run([unrelated[0], one])),
    budgets: sum(await run([budgets, one])),
    hot: sum(await run([hot[0], one])),
    unrelatedOnTwo: sum(await run([unrelated[0], one], [unrelated[1], two])),
    hotOnTwo: sum(await run([hot[0], one], [hot[1], two])),
    besideOthers: first(await run([unrelated[0], one], [unrelated[1], one])),
    besideHot: first(await run([unrelated[0], one], [hot[0], one])),
  };
}

function perSecond({ allowed, seconds, others }: LoadReport): number {
  const seen = Object.entries(others).map(([what, count]) => `${count} × ${what}`);
  if (seen.length > 0) throw new Error(`answered other than ALLOW:\n  ${seen.slice(0, 5).join('\n  ')}`);
  return allowed / seconds;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const first = ([value = Number.NaN]: readonly number[]): number => value;

function pair<Value>([one, two]: readonly Value[]): readonly [Value, Value] {
  if (one === undefined || two === undefined) throw new Error('there must be two');
  return [one, two];
}
