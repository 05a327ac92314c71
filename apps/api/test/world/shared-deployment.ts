/**
 * The deployment that the test files of a worker share: started by the first file that asks for it, ended with the
 * worker.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '@svc/testkit';
import { inject, test } from 'vitest';
import { type InnerNode, startApiNodes } from './api-node.ts';

export interface RunningDeployment<Node> {
  readonly databaseUrl: string;
  readonly processes: readonly Node[];
}

/**
 * There is only one operator's token: a file, or all files of a worker, use it in a minute more often than a key may be
 * used.
 */
export const ALL_FROM_ONE_KEY = { authenticatedPerMinute: 1_000_000 };

const start = async (): Promise<RunningDeployment<InnerNode> & { end(): Promise<void> }> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-api-test-shared-'));
  const database = await createDatabase(inject('databaseAdminUrl'));
  const env = { SVC_TRUST_PROXY: '1', SVC_DATA_DIR: dataDir, SVC_DEMO: '1' };
  const { processes, stop } = await startApiNodes(2, database.url, env, ALL_FROM_ONE_KEY);
  const end = async () => {
    await stop();
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { databaseUrl: database.url, processes, end };
};

/** Its `beforeAll` gives the deployment to a file. vitest awaits its end before it ends the worker. */
export const worker = test
  .extend('started', { scope: 'worker' }, start)
  .extend('shared', { scope: 'worker' }, async ({ started }, { onCleanup }) => {
    onCleanup(started.end);
    return started;
  });
