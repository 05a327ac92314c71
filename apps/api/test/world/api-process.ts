/** Real API processes for tests: the program as its sources are, its own sockets, a shared database and shared keys. */
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
 * For what shares nothing but the database and the keys: processes in a deep run; a sample, whose nodes do so too,
 * starts none.
 */
export const startSeparateNodes: (...parameters: Parameters<typeof startApiProcesses>) => Promise<ApiNodes> =
  isDeep ? startApiProcesses : startApiNodes;

/** Ends one at once: it waits for nobody's idle connection. */
export const stopAtOnce = (node: Program): Promise<number | null> => {
  closeIdleConnections();
  return node.stop();
};

/** One. The caller ends it. */
export const startApiProcess = async (
  databaseUrl: string,
  env: Readonly<Record<string, string>> = {},
  /** The program; by default that of the sources as they are. */
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
