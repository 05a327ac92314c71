/** A packed program runs alone, from a folder with nothing else of this repository, and has at most 30 MB. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withDatabase } from '@svc/testkit';
import { programFile } from '@svc/testkit/process/program-file';
import { isDeep } from '@svc/testkit/sampled';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApiProcess, stopAtOnce } from '../world/api-process.ts';
import { call } from '../world/tenants.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const database = withDatabase();
const folder = mkdtempSync(join(tmpdir(), 'svc-packed-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pack = (app: string) =>
  execFileSync(
    process.execPath,
    [
      ...['--import', 'tsx', join(ROOT, 'scripts/pack-apps/main.ts')],
      ...['--only', app, '--from', dirname(programFile(`apps/${app}`)), '--out', folder],
    ],
    { cwd: ROOT, encoding: 'utf8', timeout: 60_000 },
  );

beforeAll(() => {
  // It refuses a program larger than 30 MB.
  for (const app of isDeep ? ['api', 'admin'] : ['admin']) pack(app);
}, 120_000);

it.runIf(isDeep)(
  'the packed API starts and serves /healthz, /transparency, its DID document and /openapi.json',
  async () => {
    const node = await startApiProcess(
      database.url,
      { SVC_LOG_LEVEL: 'info' },
      join(folder, 'api', 'main.js'),
    );
    try {
      for (const path of ['/healthz', '/transparency', '/.well-known/did.json', '/openapi.json'])
        expect((await call(node.baseUrl, 'GET', path)).status, path).toBe(200);
    } finally {
      expect(await stopAtOnce(node)).toBe(0);
    }
  },
);

it('the packed svc-admin runs fsck without faults', () => {
  const { status, stdout } = spawnSync(process.execPath, [join(folder, 'admin', 'main.js'), 'fsck'], {
    cwd: folder,
    encoding: 'utf8',
    env: { DATABASE_URL: database.url },
    timeout: 30_000,
  });
  expect([status, stdout]).toEqual([0, expect.stringContaining('No faults.')]);
});
