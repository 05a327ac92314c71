/** kits/python against a running API: what its README shows. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { encodeMultikey } from '@svc/protocol';
import { publicKeyOf } from '@svc/testkit/receipts/world';
import { expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { withDeployment } from '../world/deployment.ts';
import { callJson, createTenants } from '../world/tenants.ts';

const PYTHON = '/usr/bin/python3';
const KIT = fileURLToPath(new URL('../../../../kits/python/', import.meta.url));
const PROGRAM = `${KIT}examples/purchase.py`;
const isInstalled =
  spawnSync(PYTHON, ['-c', 'import sys, cryptography; assert sys.version_info >= (3, 11)'], {
    timeout: 20_000,
  }).status === 0;

const deployment = withDeployment();

it('npm run kits refuses what it does not know, by name, and runs nothing', () => {
  const runner = fileURLToPath(new URL('../../../../kits/differential/main.ts', import.meta.url));
  const program = ['--conditions=svc-source', '--import', import.meta.resolve('tsx'), runner];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...program, '--kit', 'rust'], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain('--kit must be one of python, go, not rust');
});

it('the README shows the program that is run here', () => {
  expect(readFileSync(`${KIT}README.md`, 'utf8')).toContain(readFileSync(PROGRAM, 'utf8'));
});

it.skipIf(!isInstalled)(
  'issues, proves, asks and revokes: ALLOW, a replay denied, a revocation in force',
  async () => {
    const { baseUrl } = deployment.process;
    const { rpDid, rpKey } = await createTenants(baseUrl);
    const keys = [{ publicKeyMultibase: encodeMultikey(publicKeyOf(9)) }];
    const principal = await callJson<{ did: string; api_key: string }>(baseUrl, 'POST', '/principals', {
      key: ADMIN_TOKEN,
      body: { kind: 'managed', slug: 'of-python', keys },
    });
    const child = spawn(PYTHON, [PROGRAM], {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 30_000,
      env: {
        ...{
          PYTHONPATH: `${KIT}src`,
          PYTHONDONTWRITEBYTECODE: '1',
          SVC_URL: baseUrl,
          SHOP_DID: rpDid,
          SVC_RP_KEY: rpKey,
        },
        ...{ PRINCIPAL_DID: principal.did, SVC_PRINCIPAL_KEY: principal.api_key },
        PRINCIPAL_SEED: Buffer.alloc(32, 9).toString('hex'),
      },
    });
    const ended = once(child, 'close');
    const output = await text(child.stdout);
    expect(await ended).toEqual([0, null]);
    expect(JSON.parse(output)).toEqual([
      [true, null],
      [false, 'PROOF_REPLAYED'],
      [false, 'AUTHORITY_REVOKED'],
    ]);
  },
  60_000,
);
