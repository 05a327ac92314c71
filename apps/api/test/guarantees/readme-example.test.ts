/** The examples of the README and of the guide are programs of the repository, and these do what the texts say. */
import { readFileSync } from 'node:fs';
import { withDatabase } from '@svc/testkit';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ADMIN_TOKEN, type ApiNodes, DOMAIN, startApiNodes } from '../world/api-node.ts';
import { call } from '../world/tenants.ts';

const database = withDatabase();
let api: ApiNodes;
beforeAll(async () => {
  api = await startApiNodes(1, database.url);
});
afterAll(() => api.stop());

const readText = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

it.each([
  ['README.md', 'quickstart'],
  ['docs/guide/start/relying-party.md', 'hosted-service'],
])('the TypeScript block in %s equals the program examples/%s.ts exactly', (page, program) => {
  const blocks = [...readText(`../../../../${page}`).matchAll(/^```ts\n(.*?)^```$/gms)].map(
    ([, code]) => code,
  );
  expect(blocks).toEqual([readText(`../../../../examples/${program}.ts`)]);
});

it('the quickstart example prints ALLOW', async () => {
  vi.stubEnv('BASE_URL', api.processes[0]?.baseUrl);
  vi.stubEnv('ADMIN_TOKEN', ADMIN_TOKEN);
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await import('../../../../examples/quickstart.ts');
    expect(log.mock.calls).toEqual([['ALLOW']]);
  } finally {
    log.mockRestore();
    vi.unstubAllEnvs();
  }
});

it('the hosted-service example starts with correct settings; with a wrong one it fails and names it', async () => {
  const { baseUrl = '' } = api.processes[0] ?? {};
  const body = { kind: 'managed', slug: 'my-shop' };
  const shop = JSON.parse((await call(baseUrl, 'POST', '/relying-parties', { key: ADMIN_TOKEN, body })).text);
  const right = {
    SVC_URL: baseUrl,
    SVC_DID: `did:web:${DOMAIN}`,
    SHOP_DID: shop.did,
    SVC_RP_KEY: shop.api_key,
  };
  const start = (wrong: Partial<typeof right>) => {
    for (const [name, value] of Object.entries({ ...right, ...wrong })) vi.stubEnv(name, value);
    vi.resetModules();
    return import('../../../../examples/hosted-service.ts');
  };
  try {
    await start({});
    await expect(start({ SHOP_DID: 'did:web:other.example' })).rejects.toThrow('did:web:other.example');
    await expect(start({ SVC_DID: 'did:web:other.example' })).rejects.toThrow('did:web:other.example');
    await expect(start({ SVC_RP_KEY: '' })).rejects.toThrow('SVC_RP_KEY');
  } finally {
    vi.unstubAllEnvs();
  }
});
