/** The API as built, on a database and in a world of its own, with the process that loads it; and what most loads are. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeWorld, type World } from '../fixtures/world.ts';
import { type ApiNode, type ApiNodeRequest, type Place, startApiNode } from './contestants.ts';
import { type Database, startDatabase } from './database.ts';
import { LoadProcess } from './load-process.ts';

/** With one Grant each. */
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
  /** Where the load goes, and whose CPU time it costs. */
  readonly target: {
    readonly url: string;
    readonly serverPid: number;
    readonly postgresPid: number;
  };
}

/** The name is that of its folder, too. */
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

/** The process that asks as the Agents of this world do. */
export function startLoadOf(place: Place, name: string, world: World): LoadProcess {
  const worldFile = join(place.folder, `${name}.json`);
  writeFileSync(worldFile, JSON.stringify(world), { mode: 0o600 });
  return LoadProcess.start(place, { worldFile });
}
