/**
 * Starts the contestants: the API as it is built, and the floor and the plain build in the world that was made through
 * it.
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@svc/testkit/process/free-ports';
import { makeWorld, type World } from '../fixtures/world.ts';
import type { Cleanup } from './cleanup.ts';
import { type Database, startDatabase } from './database.ts';
import { type Program, startProgram, waitForHttp } from './program.ts';

export const NAMES = ['floor', 'plain', 'svc'] as const;
export type Name = (typeof NAMES)[number];

export interface Contestant {
  readonly name: Name;
  /** URL of its `POST /verify`. */
  readonly url: string;
  readonly program: Program;
  readonly database: Database;
}

export interface Field {
  readonly world: World;
  readonly worldFile: string;
  readonly contestants: readonly Contestant[];
}

export interface Place {
  readonly folder: string;
  readonly cleanup: Cleanup;
}

/** A program of this package, as built. */
export const builtProgram = (name: string) => fileURLToPath(new URL(`${name}.js`, import.meta.url));

export async function startField(place: Place, options: { api: string; agents: number }): Promise<Field> {
  const { contestant: svc, baseUrl, adminToken } = await startApi(place, options.api);
  const world = await makeWorld({ baseUrl, adminToken }, options.agents);
  const worldFile = join(place.folder, 'world.json');
  await writeFile(worldFile, JSON.stringify(world), { mode: 0o600 });
  const floor = await startOwn('floor', place, worldFile);
  const plain = await startOwn('plain', place, worldFile);
  return { world, worldFile, contestants: [floor, plain, svc] };
}

async function startApi(place: Place, api: string) {
  const database = await startDatabase(join(place.folder, 'svc-database'), place.cleanup);
  const node = await startApiNode(place, { name: 'svc', api, databaseUrl: database.url });
  const contestant: Contestant = { name: 'svc', url: node.url, program: node.program, database };
  return { contestant, baseUrl: node.baseUrl, adminToken: node.adminToken };
}

export interface ApiNode {
  readonly program: Program;
  /** URL of its `POST /verify`. */
  readonly url: string;
  /** The origin at which it is reached. */
  readonly origin: string;
  /** Base URL of the service: the first node's. */
  readonly baseUrl: string;
  readonly adminToken: string;
  /** Ends a node that is no longer needed before the benchmark ends. */
  stop(): Promise<void>;
  /** Replaces the process by another one on the same ports; resolves once that answers. */
  restart(): Promise<void>;
}

export interface ApiNodeRequest {
  /** Name used for its files. */
  readonly name: string;
  /** Path of the built API. */
  readonly api: string;
  readonly databaseUrl: string;
  /** Another node of the same service. */
  readonly first?: ApiNode;
  /** Processes behind its port; default 1. */
  readonly processes?: number;
  /** Added to the environment that every node has. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts the built API on a database. */
export async function startApiNode(
  { folder, cleanup }: Place,
  { name, api, databaseUrl, first, processes = 1, environment: added = {} }: ApiNodeRequest,
): Promise<ApiNode> {
  const port = await findFreePort();
  const adminToken = first?.adminToken ?? randomBytes(32).toString('base64url');
  const baseUrl = added.SVC_BASE_URL ?? first?.baseUrl ?? `http://localhost:${port}`;
  const environment = {
    SVC_ENV: 'development',
    SVC_HOST: '127.0.0.1',
    SVC_PORT: String(port),
    SVC_BASE_URL: baseUrl,
    SVC_ADMIN_PORT: String(await findFreePort()),
    SVC_DATA_DIR: join(folder, `${name}-data`),
    SVC_ADMIN_TOKEN: adminToken,
    DATABASE_URL: databaseUrl,
    ...(processes > 1 && { SVC_PROCESSES: String(processes) }),
    ...added,
  };
  const logFile = join(folder, `${name}-${port}.log`);
  const origin = `http://127.0.0.1:${port}`;
  const start = async () => {
    const program = startProgram({ name: 'the API', command: [api], environment, logFile }, cleanup);
    await waitForHttp(`${origin}/healthz`, program);
    return program;
  };
  const program = await start();
  const restart = async () => void (await start());
  return { program, url: `${origin}/verify`, origin, baseUrl, adminToken, stop: program.stop, restart };
}

async function startOwn(
  name: 'floor' | 'plain',
  { folder, cleanup }: Place,
  worldFile: string,
): Promise<Contestant> {
  const database = await startDatabase(join(folder, `${name}-database`), cleanup);
  const port = await findFreePort();
  const environment = { BENCH_PORT: String(port), BENCH_WORLD: worldFile, DATABASE_URL: database.url };
  const program = startProgram(
    {
      name: `the ${name} program`,
      command: [builtProgram(name)],
      environment,
      logFile: join(folder, `${name}.log`),
    },
    cleanup,
  );
  const origin = `http://127.0.0.1:${port}`;
  await waitForHttp(origin, program);
  return { name, url: `${origin}/verify`, program, database };
}
