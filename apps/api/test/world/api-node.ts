/**
 * API nodes within the test's own process, composed from the sources, so that an edited handler is tested without a
 * build. Nodes share only the database and the keys, as separate processes would.
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

/** The environment that every node of a test file has; `env` adds to it. */
export const nodeEnv = (databaseUrl: string, env: Environment): Environment => ({
  DATABASE_URL: databaseUrl,
  SVC_ADMIN_TOKEN: ADMIN_TOKEN,
  SVC_BASE_URL: `http://${DOMAIN}`,
  SVC_DATA_DIR: dataFolder(),
  SVC_DOMAIN: DOMAIN,
  ...env,
});

/** Starts `count` nodes of the same deployment. `limits` replaces limits of the configuration. */
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
  /** The keys with which the node signs; read again only after a key has ended. */
  readonly secrets: Secrets;
}

interface StartedNode extends InnerNode {
  close(): Promise<void>;
}

const TEST_LIMITS: Partial<HttpLimits> = {
  // A test ends when it has its answers, so no connection needs a grace period.
  idleGraceMs: 0,
  // Long, since other tests keep the machine busy. Tests of the deadline set their own.
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
    // Most nodes here answer a few calls and are closed.
    opensAhead: false,
  });
  const urlOf = ({ port }: { port: number }) => `http://127.0.0.1:${port}`;
  const { service, close } = api;
  return { baseUrl: urlOf(api.address), adminUrl: urlOf(api.adminAddress), log, service, secrets, close };
};
