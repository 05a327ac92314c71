/**
 * The built API with a database and a world of its own, and the process that loads it; and the constants of most loads.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeWorld, type World } from '../fixtures/world.ts';
import { type ApiNode, type ApiNodeRequest, type Place, startApiNode } from './contestants.ts';
import { type Database, startDatabase } from './database.ts';
import { LoadProcess } from './load-process.ts';

/** Number of Agents, with one Grant each. */
export const AGENTS = 100;
export const CONNECTIONS = 64;
export const WARM_UP_MS = 3_000;
export const LEAD_IN_MS = 300;
/** More than one process of the API answers. */
export const MOST_PER_SECOND = 3_000;

export interface Loaded {
  readonly database: Database;
  readonly node: ApiNode;
  readonly world: World;
  readonly load: LoadProcess;
  /** Where the load goes, and the processes whose CPU time is counted. */
  readonly target: {
    readonly url: string;
    readonly serverPid: number;
    readonly postgresPid: number;
  };
}

/** `name` is also the name of its folder. */
export async function startLoaded(
  { folder: parent, cleanup }: Place,
  request: Omit<ApiNodeRequest, 'databaseUrl'>,
): Promise<Loaded> {
  const folder = join(parent, request.name);
  mkdirSync(folder);
  const place = { folder, cleanup };
  const database = await startDatabase(join(folder, 'database'), cleanup);
  const node = await startApiNode(place, { ...request, databaseUrl: database.url });
  const world = await makeWorld(node, AGENTS);
  const load = startLoadOf(place, 'world', world);
  const target = { url: node.url, serverPid: node.program.pid, postgresPid: database.postgresPid };
  return { database, node, world, load, target };
}

/** Starts the process that sends requests as the Agents of this world. */
export function startLoadOf(place: Place, name: string, world: World): LoadProcess {
  const worldFile = join(place.folder, `${name}.json`);
  writeFileSync(worldFile, JSON.stringify(world), { mode: 0o600 });
  return LoadProcess.start(place, { worldFile });
}
