/** What the pages of docs/guide show is executed as it stands, each block of each page in order, against a running service. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import * as mcpServer from '@modelcontextprotocol/sdk/server/mcp.js';
import * as receipts from '@svc/receipts';
import * as principalSdk from '@svc/sdk-principal';
import * as agentSdk from '@svc/sdk-principal/agent';
import * as rpSdk from '@svc/sdk-rp';
import * as expressSdk from '@svc/sdk-rp/express';
import * as fastifySdk from '@svc/sdk-rp/fastify';
import * as fetchSdk from '@svc/sdk-rp/fetch';
import * as mcpSdk from '@svc/sdk-rp/mcp';
import { daysAgo, moveFirstDay } from '@svc/testkit';
import { findFreePorts } from '@svc/testkit/process/free-ports';
import { programFile } from '@svc/testkit/process/program-file';
import { type Block, fencedBlocks, runBlock } from '@svc/testkit/sdk/readme-block';
import * as hono from 'hono';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import * as zod from 'zod';
import { ADMIN_TOKEN, nodeEnv } from '../world/api-node.ts';
import { withOwnDeployment } from '../world/deployment.ts';
import type { Tenants } from '../world/tenants.ts';

const ROOT = new URL('../../../../', import.meta.url);
const PAGES = new URL('docs/guide/', ROOT);
const deployment = withOwnDeployment();
const ofShop = createRequire(new URL('packages/sdk-rp/package.json', ROOT));
const modules: Readonly<Record<string, object>> = {
  '@modelcontextprotocol/sdk/server/mcp.js': mcpServer,
  '@svc/receipts': receipts,
  'node:fs': { readFileSync: (file: string) => readFileSync(join(folder, file), 'utf8') },
  '@svc/sdk-principal': principalSdk,
  '@svc/sdk-principal/agent': agentSdk,
  '@svc/sdk-rp': rpSdk,
  '@svc/sdk-rp/express': expressSdk,
  '@svc/sdk-rp/fastify': fastifySdk,
  '@svc/sdk-rp/fetch': fetchSdk,
  '@svc/sdk-rp/mcp': mcpSdk,
  hono,
  zod,
};

/** Where a page's commands run: with our programs under their names, beside what the page says is there. */
const folder = mkdtempSync(join(tmpdir(), 'svc-guide-'));
afterAll(() => rmSync(folder, { recursive: true }));

let tenants: Tenants;
let serviceDid: string;
beforeAll(async () => {
  tenants = await deployment.createTenants();
  const text = await (await fetch(`${deployment.process.baseUrl}/.well-known/did.json`)).text();
  serviceDid = JSON.parse(text).id;
  writeFileSync(join(folder, 'did.json'), text);
  symlinkSync(fileURLToPath(new URL('examples', ROOT)), join(folder, 'examples'));
  const program = (name: string, file: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\nexec '${process.execPath}' '${file}' "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  };
  program('svc-admin', programFile('apps/admin'));
  program('svc-receipt', programFile('packages/cli', 'svc-receipt.js'));
});
afterEach(() => vi.unstubAllEnvs());

const left = new Map<string, readonly Block[]>();
/** The blocks of a page, one by one. */
const open = (page: string) => {
  left.set(page, fencedBlocks(readFileSync(new URL(`${page}.md`, PAGES), 'utf8')));
  const next = (language: string): string => {
    const [block, ...rest] = left.get(page) ?? [];
    expect(block?.language, `${page} goes on with another block`).toBe(language);
    left.set(page, rest);
    return block?.code ?? '';
  };
  return {
    /** What it wrote to standard output. */
    sh: async (env: Readonly<Record<string, string>> = {}): Promise<string> => {
      const code = next('sh');
      const packages = /^npm install(?: --global)? (.*)$/.exec(code.trim())?.[1]?.split(' ') ?? [];
      if (code.startsWith('npm install')) return expectKnown(packages);
      const { stdout } = await promisify(execFile)('/bin/sh', ['-euc', code], {
        cwd: folder,
        timeout: 60_000,
        env: {
          ...nodeEnv(deployment.databaseUrl, env),
          PATH: `${folder}:${process.env.PATH}`,
        },
      });
      return stdout;
    },
    js: async <Wanted extends object>(
      wanted = '',
      given: Readonly<Record<string, unknown>> = {},
      more: Readonly<Record<string, object>> = {},
    ) => runBlock<Wanted>(next('js'), { modules: { ...modules, ...more }, given, wanted }),
  };
};

/** What is installed is ours, or what this repository tests with. */
const expectKnown = (packages: readonly string[]): string => {
  for (const name of packages) {
    const isOurs = name.startsWith('@svc/');
    const at = isOurs ? new URL(`packages/${name.slice('@svc/'.length)}/package.json`, ROOT) : null;
    const known = at === null ? knownElsewhere(name) : JSON.parse(readFileSync(at, 'utf8')).private !== true;
    expect([name, known]).toEqual([name, true]);
  }
  return '';
};
const knownElsewhere = (name: string): boolean =>
  ['apps/api', 'packages/sdk-rp'].some((home) => {
    const manifest = JSON.parse(readFileSync(new URL(`${home}/package.json`, ROOT), 'utf8'));
    return { ...manifest.dependencies, ...manifest.devDependencies }[name] !== undefined;
  });

/** Where the operator's own commands go. */
const ofDeployment = () => ({ SVC_URL: deployment.process.baseUrl });

/** The environment of a relying party, as the first page has it. */
const asShop = (more: Readonly<Record<string, string>> = {}): void => {
  const env = {
    SVC_URL: deployment.process.baseUrl,
    SVC_DID: serviceDid,
    SHOP_DID: tenants.rpDid,
    SVC_RP_KEY: tenants.rpKey,
    ...more,
  };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
};

const ACTION = { type: 'commerce:purchase', resource: 'order/7', amount: 42_700, currency: 'USD' } as const;

const issueGrant = () =>
  tenants.principal.grants.issue({
    agent: tenants.agent.did,
    capabilities: [principalSdk.purchase({ maxAmountMinor: 50_000, currency: 'USD' })],
  });

/** What an Agent sends for the purchase. */
const ask = async () => {
  const { agent, rpDid: audience } = tenants;
  const { grant, grantId } = await issueGrant();
  const request = { method: 'POST', url: 'https://shop.example/orders' };
  const proof = await agentSdk.signProof({ agent, grantId, audience, ...request, action: ACTION });
  return { request, grant, proof, headers: { 'svc-grant': grant, 'svc-proof': proof } };
};

/** An Agent with a Grant buys as the Agent's page does. */
const buy = async (origin: string, send: typeof fetch = fetch): Promise<readonly unknown[]> => {
  const { agent, rpDid: audience } = tenants;
  const { grant } = await issueGrant();
  const agentFetch = agentSdk.createAgentFetch({ agent, grant, audience, action: ACTION, fetch: send });
  const answer = await agentFetch(`${origin}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 7, total: 42_700 }),
  });
  return [answer.status, await answer.json()];
};
const sold = () => [201, { agent: tenants.agent.did, receiptId: expect.stringMatching(/^drc_/) }];

it('start as a relying party', async () => {
  const page = open('start/relying-party');
  const registered = JSON.parse(await page.sh(ofDeployment()));
  expect(registered).toMatchObject({ did: expect.any(String), api_key: expect.stringMatching(/^dk_rp_/) });
  tenants = { ...tenants, rpDid: registered.did, rpKey: registered.api_key };
  await page.sh();
  asShop();
  const { verifier } = (await page.js<{ verifier: rpSdk.Verifier }>('verifier')).wanted;
  const { request, headers } = await ask();
  type Decide = (request: Request) => Promise<void>;
  const { wanted, printed } = await page.js<{ decide: Decide }>('decide', { verifier });
  await wanted.decide(new Request(request.url, { ...request, headers }));
  expect(printed).toEqual([expect.stringMatching(/^sell drc_/)]);
});

it('start as a Principal', async () => {
  const page = open('start/principal');
  await page.sh();
  const made = await page.js<{ privateJwk: object }>('privateJwk');
  const [publicKey = ''] = made.printed;
  const { did, api_key } = JSON.parse(await page.sh({ ...ofDeployment(), PUBLIC_KEY: publicKey }));
  asShop({ PRINCIPAL_DID: did, SVC_PRINCIPAL_KEY: api_key, AGENT_DID: tenants.agent.did });
  const { wanted } = await page.js<{ client: object; grantId: string }>('client, grantId', made.wanted);
  const { printed } = await page.js('', wanted);
  expect(printed).toEqual([`${wanted.grantId} revoked`]);
});

it('start as an Agent, at the shop in Express', async () => {
  const page = open('start/agent');
  await page.sh();
  const made = await page.js<{ did: string; privateJwk: agentSdk.Ed25519PrivateJwk }>('did, privateJwk');
  expect(made.printed).toEqual([expect.stringMatching(/^did:key:z6Mk/)]);
  const { grant: GRANT } = await tenants.principal.grants.issue({
    agent: made.wanted.did,
    capabilities: [principalSdk.purchase({ maxAmountMinor: 50_000, currency: 'USD' })],
  });
  const shop = open('how-to/express');
  await shop.sh();
  const [port] = await findFreePorts(1);
  const SHOP_ORIGIN = `http://127.0.0.1:${port}`;
  asShop({ SHOP_ORIGIN, PORT: String(port), GRANT });
  const { server } = (await shop.js<{ server: Server }>('server', { express: ofShop('express') })).wanted;
  try {
    if (!server.listening) await once(server, 'listening');
    const { printed } = await page.js('', made.wanted);
    expect(printed).toEqual([expect.stringMatching(/^201 \{"agent":"did:key:.*"receiptId":"drc_/)]);
    expect(await buy(SHOP_ORIGIN)).toEqual(sold());
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

it('start as an operator', async () => {
  const page = open('start/operator');
  const { registration } = await principalSdk.generatePrincipalKey();
  const env = { SVC_BASE_URL: deployment.process.baseUrl, PUBLIC_KEY: registration.publicKeyMultibase };
  expect(await page.sh(env)).toContain('ok     database');
  await page.sh(env);
  expect(await page.sh(env)).toMatch(/first-shop[\s\S]*first-principal/);
  expect(await page.sh(env)).not.toBe('');
});

it('start as an auditor', async () => {
  const page = open('start/auditor');
  await page.sh();
  expect(await page.sh()).toMatch(/VALID/i);
  const { request, grant, proof } = await ask();
  const verifier = rpSdk.createVerifier({
    ...{ baseUrl: deployment.process.baseUrl, apiKey: tenants.rpKey },
    ...{ serviceDid, relyingParty: tenants.rpDid },
  });
  const { receipt } = await verifier.verify({ grant, proof, action: ACTION, request });
  writeFileSync(join(folder, 'receipt.json'), JSON.stringify(receipt));
  await page.sh();
  expect((await page.js()).printed).toEqual(['ALLOW null']);
  // Its first day has to be over.
  await moveFirstDay(deployment.databaseUrl, daysAgo(1));
  await deployment.call('POST', '/checkpoints/close', { key: ADMIN_TOKEN });
  expect(await page.sh(ofDeployment())).not.toBe('');
});

it('how to: Fastify', async () => {
  const page = open('how-to/fastify');
  await page.sh();
  const [port] = await findFreePorts(1);
  asShop({ SHOP_ORIGIN: `http://127.0.0.1:${port}`, PORT: String(port) });
  const given = { fastify: ofShop('fastify').default };
  const { app } = (await page.js<{ app: { close(): Promise<void> } }>('app', given)).wanted;
  try {
    expect(await buy(`http://127.0.0.1:${port}`)).toEqual(sold());
  } finally {
    await app.close();
  }
});

it.each([
  ['hono', 'app'],
  ['next', 'POST'],
  ['fetch', 'handler'],
])('how to: %s', async (name, exported) => {
  const page = open(`how-to/${name}`);
  await page.sh();
  const SHOP_ORIGIN = 'https://shop.example';
  asShop({ SHOP_ORIGIN });
  type Handle = (request: Request) => Response | Promise<Response>;
  const { wanted } = await page.js<Readonly<Record<string, Handle | { readonly fetch: Handle }>>>(exported);
  const found = wanted[exported];
  const handle: Handle = (request) =>
    typeof found === 'function' ? found(request) : (found as { fetch: Handle }).fetch(request);
  const inProcess = async (request: Parameters<typeof fetch>[0], init?: RequestInit) =>
    handle(new Request(request, init));
  expect(await buy(SHOP_ORIGIN, inProcess)).toEqual(sold());
  const bare = await handle(new Request(`${SHOP_ORIGIN}/orders`, { method: 'POST', body: '{}' }));
  expect(bare.status).toBe(401);
});

it('how to: MCP', async () => {
  const page = open('how-to/mcp');
  await page.sh();
  asShop();
  const [ofClient, transport] = InMemoryTransport.createLinkedPair();
  // In this process the pair stands for standard input and output.
  const linked = {
    StdioServerTransport: function StdioServerTransport() {
      return transport;
    },
  };
  await page.js('', {}, { '@modelcontextprotocol/sdk/server/stdio.js': linked });
  const client = new Client({ name: 'agent', version: '1.0.0' });
  await client.connect(ofClient);
  const { agent, principal, rpDid: SHOP_DID } = tenants;
  const { grant } = (await page.js<{ grant: string }>('grant', { agent, principal })).wanted;
  const { printed } = await page.js('', { client, agent, grant, SHOP_DID });
  expect(printed).toEqual([`7 is refunded for ${agent.did}`]);
  await client.close();
});

it('no block of these pages was left out', () => {
  expect([...left].filter(([, blocks]) => blocks.length > 0).map(([page]) => page)).toEqual([]);
  expect(left.size).toBe(11);
});
