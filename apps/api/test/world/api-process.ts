/**
 * Real API processes for tests: the program built from the sources, its own sockets, a shared database and shared keys.
 */
import { asService } from '@svc/testkit';
import { findFreePorts } from '@svc/testkit/process/free-ports';
import { programFile } from '@svc/testkit/process/program-file';
import { type Program, startProgram } from '@svc/testkit/process/start-program';
import { isDeep } from '@svc/testkit/sampled';
import { type ApiNode, type ApiNodes, nodeEnv, startApiNodes } from './api-node.ts';
import { closeIdleConnections } from './tenants.ts';

const START_DEADLINE_MS = 45_000;

export interface ApiProcess extends ApiNode, Program {
  readonly log: readonly string[];
}

export type ApiProcesses = ApiNodes<ApiProcess>;

/** Starts `count` processes that serve the same deployment. */
export const startApiProcesses = async (
  count: number,
  databaseUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ApiProcesses> => {
  const started = await Promise.allSettled(
    Array.from({ length: count }, () => startApiProcess(databaseUrl, env)),
  );
  const processes = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const stop = async () => {
    closeIdleConnections();
    await Promise.all(processes.map((one) => one.stop()));
  };
  for (const one of started) {
    if (one.status === 'fulfilled') continue;
    await stop();
    throw one.reason;
  }
  return { processes, stop };
};

/**
 * Nodes that share only the database and the keys: separate processes in a deep run. In a sample they are nodes of this
 * process, which share no more.
 */
export const startSeparateNodes: (...parameters: Parameters<typeof startApiProcesses>) => Promise<ApiNodes> =
  isDeep ? startApiProcesses : startApiNodes;

/** Ends a process at once, without waiting for idle connections. */
export const stopAtOnce = (node: Program): Promise<number | null> => {
  closeIdleConnections();
  return node.stop();
};

/** Starts one process. The caller ends it. */
export const startApiProcess = async (
  databaseUrl: string,
  env: Readonly<Record<string, string>> = {},
  /** The program; by default the one built from the present sources. */
  file = programFile('apps/api'),
): Promise<ApiProcess> => {
  const [port, adminPort] = await findFreePorts(2);
  const program = startProgram(file, {
    SVC_PORT: String(port),
    SVC_ADMIN_PORT: String(adminPort),
    ...nodeEnv(asService(databaseUrl), env),
  });
  const giveUp = setTimeout(() => program.signal('SIGKILL'), START_DEADLINE_MS);
  await program.line('"listening"').finally(() => clearTimeout(giveUp));
  return { ...program, baseUrl: `http://127.0.0.1:${port}`, adminUrl: `http://127.0.0.1:${adminPort}` };
};
