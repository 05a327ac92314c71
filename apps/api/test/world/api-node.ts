/**
 * API nodes within the test's own process, composed from source: an edited handler is tested as it stands. A node shares
 * nothing with the next but the database and the keys, as two processes would.
 */
import { loadSecrets, type Secrets } from '@svc/config';
import { createLogger, readConfig } from '@svc/process';
import type { ServiceDeps } from '@svc/service';
import { asService } from '@svc/testkit';
import { PATIENT } from '@svc/testkit/store/open-store';
import { startApi } from '../../src/compose.ts';
import type { HttpLimits } from '../../src/http/index.ts';
import { dataFolder } from './data-folder.ts';

export const ADMIN_TOKEN = 'test-admin-token-0123456789abcdefghij';
export const DOMAIN = 'svc.test';

export interface ApiNode {
  readonly baseUrl: string;
  readonly adminUrl: string;
  /** Every line that the node has logged. */
  readonly log: readonly string[];
}

export interface ApiNodes<Node extends ApiNode = ApiNode> {
  readonly processes: readonly Node[];
  stop(): Promise<void>;
}

type Environment = Readonly<Record<string, string>>;

/** What every node of a test file has in common; `env` adds to it. */
export const nodeEnv = (databaseUrl: string, env: Environment): Environment => ({
  DATABASE_URL: databaseUrl,
  SVC_ADMIN_TOKEN: ADMIN_TOKEN,
  SVC_BASE_URL: `http://${DOMAIN}`,
  SVC_DATA_DIR: dataFolder(),
  SVC_DOMAIN: DOMAIN,
  ...env,
});

/** Starts `count` nodes that serve the same deployment; `limits` where they are others than those of the configuration. */
export const startApiNodes = async (
  count: number,
  databaseUrl: string,
  env: Environment = {},
  limits: Partial<HttpLimits> = {},
): Promise<ApiNodes<InnerNode>> => {
  const nodes: StartedNode[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.close()));
  };
  try {
    for (let i = 0; i < count; i++) nodes.push(await startOne(databaseUrl, env, limits));
  } catch (error) {
    await stop();
    throw error;
  }
  return { processes: nodes, stop };
};

/** A node within the test's process. */
export interface InnerNode extends ApiNode {
  readonly service: ServiceDeps;
  /** What it signs with, read again only where a key has ended. */
  readonly secrets: Secrets;
}

interface StartedNode extends InnerNode {
  close(): Promise<void>;
}

const TEST_LIMITS: Partial<HttpLimits> = {
  // A test ends when it has its answers: nothing more is on its way.
  idleGraceMs: 0,
  // What is decided is tested here, on machines that are busy with other tests. Tests of the deadline say so.
  verifyDeadlineMs: 10_000,
};

const startOne = async (
  databaseUrl: string,
  env: Environment,
  limits: Partial<HttpLimits>,
): Promise<StartedNode> => {
  const log: string[] = [];
  const config = { ...readConfig(nodeEnv(asService(databaseUrl), env)), port: 0, adminPort: 0 };
  const secrets = await loadSecrets(config);
  const api = await startApi({
    config,
    secrets,
    databaseUrl: asService(databaseUrl),
    logger: createLogger('info', { write: (line) => void log.push(line) }),
    limits: { ...TEST_LIMITS, ...limits },
    deadlines: PATIENT,
    // Most nodes here are asked a few things and closed.
    opensAhead: false,
  });
  const urlOf = ({ port }: { port: number }) => `http://127.0.0.1:${port}`;
  const { service, close } = api;
  return { baseUrl: urlOf(api.address), adminUrl: urlOf(api.adminAddress), log, service, secrets, close };
};
