/** The service on the reference deployment: two API nodes that reach the database by different routes, and a worker. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { findFreePort } from '@svc/testkit/process/free-ports';
import type { Place } from '../harness/contestants.ts';
import { type Program, startProgram, waitForHttp } from '../harness/program.ts';

/** The apps of this build. */
export const OWN_APPS = fileURLToPath(new URL('../../apps/', import.meta.url));

/** The `DATABASE_URL` of each process. */
export interface Routes {
  readonly first: string;
  readonly second: string;
  readonly others: string;
}

export interface ServicesOptions {
  /** Folder of the built programs. */
  readonly apps?: string;
  /** `SVC_FENCE_MAX_AGE_MS`; null: without a fence. */
  readonly fenceMaxAgeMs?: number | null;
  readonly hasStandby?: boolean;
  /** The `main.js` that the nodes run first. */
  readonly firstApi?: string;
}

export interface Node {
  readonly name: string;
  readonly origin: string;
  readonly adminOrigin: string;
  program: Program;
  /** Replaces the process by another one of this build, on the same ports. */
  restart(): Promise<void>;
}

export interface Services {
  readonly nodes: readonly Node[];
  readonly adminToken: string;
  readonly workerAdminOrigin: string;
  /** Admin origins of nodes and worker. */
  adminOrigins(): readonly string[];
  /** Present process ids of nodes and worker. */
  pids(): readonly number[];
  /** Exit code and output of `svc-admin fsck`. */
  fsck(): Promise<{ readonly code: number | null; readonly logFile: string }>;
  stop(): Promise<void>;
}

/** Longer than the default: all processes share one machine, whose other work must not count as a fault. */
export const SHARED_FENCE_AGE_MS = 3_000;

export async function startServices(
  { folder: parent, cleanup }: Place,
  routes: Routes,
  {
    apps = OWN_APPS,
    fenceMaxAgeMs = SHARED_FENCE_AGE_MS,
    hasStandby = true,
    ...options
  }: ServicesOptions = {},
): Promise<Services> {
  const folder = mkdtempSync(join(parent, 'services-'));
  const built = (app: string) => join(apps, app, 'dist', 'main.js');
  const adminToken = randomBytes(32).toString('base64url');
  const [firstPort, secondPort] = [await findFreePort(), await findFreePort()];
  const fenceFolder = join(folder, 'fence');
  mkdirSync(fenceFolder);
  const common = {
    SVC_ENV: 'development',
    SVC_HOST: '127.0.0.1',
    SVC_BASE_URL: `http://localhost:${firstPort}`,
    SVC_DATA_DIR: join(folder, 'data'),
    SVC_ADMIN_TOKEN: adminToken,
    ...(fenceMaxAgeMs === null
      ? {}
      : { SVC_FENCE: pathToFileURL(fenceFolder).href, SVC_FENCE_MAX_AGE_MS: String(fenceMaxAgeMs) }),
  };

  // The last release does not have this setting.
  const own = hasStandby ? { SVC_SYNCHRONOUS_STANDBY: '1' } : {};

  const startNode = async (name: string, port: number, databaseUrl: string): Promise<Node> => {
    const adminPort = await findFreePort();
    const environment = {
      ...common,
      DATABASE_URL: databaseUrl,
      SVC_PORT: String(port),
      SVC_ADMIN_PORT: String(adminPort),
    };
    const origin = `http://127.0.0.1:${port}`;
    const start = async (api: string, more: Readonly<Record<string, string>> = own) => {
      const logFile = join(folder, `${name}.log`);
      const program = startProgram(
        { name, command: [api], environment: { ...environment, ...more }, logFile },
        cleanup,
      );
      await waitForHttp(`${origin}/healthz`, program);
      return program;
    };
    const node: Node = {
      name,
      origin,
      adminOrigin: `http://127.0.0.1:${adminPort}`,
      program: await (options.firstApi === undefined ? start(built('api')) : start(options.firstApi, {})),
      async restart() {
        node.program = await start(built('api'));
      },
    };
    return node;
  };
  const nodes = [
    await startNode('api-1', firstPort, routes.first),
    await startNode('api-2', secondPort, routes.second),
  ];
  const workerAdminPort = await findFreePort();
  const startWorker = () =>
    startProgram(
      {
        name: 'worker',
        command: [built('worker')],
        environment: {
          ...common,
          ...own,
          DATABASE_URL: routes.others,
          SVC_ADMIN_PORT: String(workerAdminPort),
        },
        logFile: join(folder, 'worker.log'),
      },
      cleanup,
    );
  // A worker would migrate; the first node that is upgraded is to do that.
  const workers = options.firstApi === undefined ? [startWorker()] : [];
  let looked = 0;
  return {
    nodes,
    adminToken,
    workerAdminOrigin: `http://127.0.0.1:${workerAdminPort}`,
    adminOrigins: () => [
      ...nodes.map(({ adminOrigin }) => adminOrigin),
      ...(workers.length === 0 ? [] : [`http://127.0.0.1:${workerAdminPort}`]),
    ],
    pids: () => [...nodes.map(({ program }) => program), ...workers].map(({ pid }) => pid),
    async fsck() {
      looked += 1;
      const logFile = join(folder, `fsck-${looked}.log`);
      const environment = { ...common, ...own, DATABASE_URL: routes.others };
      const { process } = startProgram(
        { name: 'fsck', command: [built('admin'), 'fsck'], environment, logFile },
        cleanup,
      );
      return new Promise((resolve) => process.once('exit', (code) => resolve({ code, logFile })));
    },
    async stop() {
      await Promise.all(
        [...nodes.map(({ program }) => program), ...workers].map((program) => program.stop()),
      );
    },
  };
}
