/**
 * What `npm create svc-shop` writes works as its README says: shop, Principal and Agent run as separate programs
 * against a service.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@svc/testkit/process/free-ports';
import { withSourceProgram } from '@svc/testkit/process/source-program';
import { type Program, startProgram } from '@svc/testkit/process/start-program';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomSlug, withDeployment } from '../world/deployment.ts';

const deployment = withDeployment();
const TEMPLATE = fileURLToPath(new URL('../../../../packages/create-svc-shop/template/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'svc-shop-'));
afterAll(() => rmSync(folder, { recursive: true }));

const programs = {
  start: withSourceProgram(join(TEMPLATE, 'start.ts')),
  grant: withSourceProgram(join(TEMPLATE, 'grant.ts')),
  buy: withSourceProgram(join(TEMPLATE, 'buy.ts')),
};
/** Starts a program as the scripts of its package.json do, in a folder with an `.env`; compiled beforehand. */
const start = (name: keyof typeof programs, ...parameters: string[]): Program =>
  startProgram('--env-file=.env', {}, [programs[name](), ...parameters], folder);
const run = async (name: keyof typeof programs, ...parameters: string[]) => {
  const { ended, log } = start(name, ...parameters);
  return { code: await ended, text: log.join('\n') };
};
const othersMayInEnv = (): number => statSync(join(folder, '.env')).mode & 0o077;
const readEnv = (): string => readFileSync(join(folder, '.env'), 'utf8');
/** Fills in values as a reader does by hand. */
const fillIn = (values: Readonly<Record<string, string>>): void => {
  let text = readEnv();
  for (const [name, value] of Object.entries(values))
    text = text.replace(new RegExp(`^${name}=.*$`, 'm'), `${name}=${value}`);
  writeFileSync(join(folder, '.env'), text);
};

let shop: Program;
beforeAll(async () => {
  // With the permissions that `cp` leaves.
  writeFileSync(join(folder, '.env'), readFileSync(join(TEMPLATE, 'env.example')), { mode: 0o644 });
  const { baseUrl } = deployment.process;
  const { id } = (await (await fetch(`${baseUrl}/.well-known/did.json`)).json()) as { id: string };
  const { did, key } = await deployment.register('/relying-parties', {
    kind: 'managed',
    slug: randomSlug('r'),
  });
  const port = await findFreePort();
  fillIn({
    ...{ SVC_URL: baseUrl, SVC_DID: id, SHOP_DID: did, SVC_RP_KEY: key },
    ...{ SHOP_ORIGIN: `http://localhost:${port}`, PORT: `${port}` },
  });
  shop = start('start');
  await shop.line('the shop is at');
});
afterAll(() => shop.stop());

it('starting the shop removes all access of other users to its .env', () => {
  expect(othersMayInEnv()).toBe(0);
});

it('npm run grant issues a Grant that the Agent buys under; its first run makes the keys and prints how to register the Principal', async () => {
  expect(await run('buy')).toEqual({ code: 1, text: expect.stringContaining('npm run grant') });

  const first = await run('grant', '50000');
  expect(first.code).toBe(1);
  const [, publicKeyMultibase] = /svc-admin principal create .*--key (z6Mk\w+)/.exec(first.text) ?? [];
  const keys = /^PRINCIPAL_KEY='.+'\n|^AGENT_KEY='.+'\n/gm;
  const made = readEnv().match(keys);
  expect(made).toHaveLength(2);
  const principal = await deployment.register('/principals', {
    ...{ kind: 'managed', slug: randomSlug('p'), keys: [{ publicKeyMultibase }] },
  });
  fillIn({ PRINCIPAL_DID: principal.did, SVC_PRINCIPAL_KEY: principal.key });

  expect(await run('grant', '50000')).toEqual({ code: 0, text: expect.stringContaining('500.00 USD') });
  expect(readEnv().match(keys)).toEqual(made);
  expect(othersMayInEnv()).toBe(0);
  expect((await run('buy', 'lamp', '50000')).text).toMatch(/^201 \{/);

  // A new Grant replaces the one before.
  expect((await run('grant', '1000')).code).toBe(0);
  expect((await run('buy', 'lamp', '50000')).text).toMatch(/^403 .*AMOUNT_EXCEEDS_AUTHORITY/s);
}, 60_000);
