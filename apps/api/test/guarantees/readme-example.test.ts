/** The README's example is a program of the repository, and that program does what the README says. */
import { readFileSync } from 'node:fs';
import { withDatabase } from '@svc/testkit';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ADMIN_TOKEN, type ApiNodes, startApiNodes } from '../world/api-node.ts';

const database = withDatabase();
let api: ApiNodes;
beforeAll(async () => {
  api = await startApiNodes(1, database.url);
});
afterAll(() => api.stop());

const readText = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

it('the TypeScript in the README is, letter for letter, the program that runs here', () => {
  const blocks = [...readText('../../../../README.md').matchAll(/^```ts\n(.*?)^```$/gms)].map(
    ([, code]) => code,
  );
  expect(blocks).toEqual([readText('../../../../examples/quickstart.ts')]);
});

it('the example is allowed, and its Receipt verifies offline', async () => {
  vi.stubEnv('BASE_URL', api.processes[0]?.baseUrl);
  vi.stubEnv('ADMIN_TOKEN', ADMIN_TOKEN);
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await import('../../../../examples/quickstart.ts');
    expect(log.mock.calls).toEqual([['ALLOW', true]]);
  } finally {
    log.mockRestore();
    vi.unstubAllEnvs();
  }
});
