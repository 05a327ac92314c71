/** A fence in a folder of its own, and queries about it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openFolder } from '@svc/fence';
import type { FenceStore } from '@svc/service';
import { programFile } from '@svc/testkit/process/program-file';
import { startProgram } from '@svc/testkit/process/start-program';
import { until } from '@svc/testkit/until';
import { afterAll } from 'vitest';
import { type ApiNode, nodeEnv } from './api-node.ts';
import { call } from './tenants.ts';

export { until };

export interface TestFence {
  readonly folder: string;
  readonly fenceStore: FenceStore;
  /**
   * Variables for the environment of nodes. Its age limit is long, since loaded machines stall; another test shows the
   * limit.
   */
  readonly env: Readonly<Record<string, string>>;
}

export const createFence = (): TestFence => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-fence-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const env = { SVC_FENCE: pathToFileURL(folder).href, SVC_FENCE_MAX_AGE_MS: '5000' };
  return { folder, fenceStore: openFolder(folder), env };
};

export const readiness = async ({ adminUrl }: ApiNode) => {
  const { status, text } = await call(adminUrl, 'GET', '/readyz');
  const { checks } = JSON.parse(text) as { checks: Readonly<Record<string, string>> };
  return { status, checks };
};

/** Waits until nothing is left to be copied beside the fence. */
export const untilKept = (sql: {
  query(text: string): Promise<{ rowCount: number | null }>;
}): Promise<void> => until(async () => (await sql.query('select from fence_notes')).rowCount === 0);

export const svcAdmin = async (
  databaseUrl: string,
  env: Readonly<Record<string, string>>,
  ...parameters: string[]
): Promise<{ readonly code: number | null; readonly text: string }> => {
  const program = startProgram(programFile('apps/admin'), nodeEnv(databaseUrl, env), parameters);
  const code = await program.ended;
  return { code, text: program.log.join('\n') };
};
