/** Executes the READMEs of the client libraries unchanged: the Agent of one calls the shop of the other. */
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import * as principalSdk from '@svc/sdk-principal';
import * as agentSdk from '@svc/sdk-principal/agent';
import * as rpSdk from '@svc/sdk-rp';
import * as expressSdk from '@svc/sdk-rp/express';
import * as fastifySdk from '@svc/sdk-rp/fastify';
import * as fetchSdk from '@svc/sdk-rp/fetch';
import { blocksOf, blockWith, runBlock } from '@svc/testkit/sdk/readme-block';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { randomSlug, withDeployment } from '../world/deployment.ts';

const deployment = withDeployment();
afterEach(() => vi.unstubAllEnvs());

const [express, fastifyRoute, fetchHandlers, withoutMiddleware] = blocksOf('sdk-rp');
const askPrincipal = blockWith('sdk-rp', 'requestApproval(');
const [issueGrant] = blocksOf('sdk-principal');
const approveAsked = blockWith('sdk-principal', 'approvals.approve(');
const actAsAgent = blockWith('sdk-principal', 'await agentFetch(');
const ofShop = createRequire(new URL('../../../../packages/sdk-rp/package.json', import.meta.url));
const modules: Readonly<Record<string, object>> = {
  '@svc/sdk-principal': principalSdk,
  '@svc/sdk-principal/agent': agentSdk,
  '@svc/sdk-rp': rpSdk,
  '@svc/sdk-rp/express': expressSdk,
};

type Names = Readonly<Record<string, unknown>>;

/** Returns the variables that `wanted` names. */
const run = async <Wanted extends object>(
  block: string | undefined,
  { modules: others = {}, ...given }: Names & { readonly modules?: Readonly<Record<string, object>> },
  replaced: Names,
  wanted = '',
): Promise<Wanted> =>
  (await runBlock<Wanted>(block, { modules: { ...modules, ...others }, given, replaced, wanted })).wanted;

const listening = async (server: Server): Promise<string> => {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
/** A free port; the shop's text contains its address. */
async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

let world: { service: string; principal: { did: string; key: string }; shop: { did: string; key: string } };
let grant: string;
let agent: { did: string; privateJwk: agentSdk.Ed25519PrivateJwk };

/** Runs the README of sdk-principal up to the Grant, for an Agent that exists already. */
beforeAll(async () => {
  const document = await fetch(`${deployment.process.baseUrl}/.well-known/did.json`);
  const { id: service } = (await document.json()) as { id: string };
  const key = await principalSdk.generatePrincipalKey();
  const principal = await deployment.register('/principals', {
    kind: 'managed',
    slug: randomSlug('p'),
    keys: [key.registration],
  });
  const shop = await deployment.register('/relying-parties', { kind: 'managed', slug: randomSlug('r') });
  world = { service, principal, shop };
  agent = await agentSdk.generateAgentKey();
  vi.stubEnv('SVC_PRINCIPAL_KEY', principal.key);
  const sdk = { ...principalSdk, generatePrincipalKey: async () => key };
  const replaced = {
    'https://svc.example': deployment.process.baseUrl,
    'did:web:svc.example:org:acme': principal.did,
    'did:key:z6Mk…': agent.did,
    'did:web:shop.example': shop.did,
    // Omitted, since the Grant is needed below.
    'await client.grants.revoke(grantId);': '',
  };
  const issued = await run<{ grant: string }>(
    issueGrant,
    { modules: { ...modules, '@svc/sdk-principal': sdk } },
    replaced,
    'grant',
  );
  grant = issued.grant;
});

/** Runs the README's Agent against an origin; `replaced` changes its text. */
const act = (origin: string, replaced: Names = {}): Promise<{ response: Response }> =>
  run(
    actAsAgent,
    {
      grant,
      modules: {
        ...modules,
        '@svc/sdk-principal/agent': { ...agentSdk, generateAgentKey: async () => agent },
      },
    },
    {
      'did:web:shop.example': world.shop.did,
      'await agentFetch(': 'const response = await agentFetch(',
      'https://shop.example': origin,
      ...replaced,
    },
    'response',
  );

const ofThisShop = (): Names => ({
  'https://svc.example': deployment.process.baseUrl,
  'did:web:svc.example': world.service,
  'did:web:shop.example': world.shop.did,
});

it('the Express shop allows the Agent only with the price of the shop and for an existing order', async () => {
  vi.stubEnv('SVC_RP_KEY', world.shop.key);
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const replaced = {
    ...ofThisShop(),
    'https://shop.example': origin,
    'app.listen(3000)': `const server = app.listen(${port}, '127.0.0.1')`,
  };
  const { server } = await run<{ server: Server }>(
    express,
    { express: ofShop('express') },
    replaced,
    'server',
  );
  expect(await listening(server)).toBe(origin);
  try {
    const { response } = await act(origin);
    expect([response.status, await response.json()]).toMatchObject([
      201,
      { agent: agent.did, receiptId: expect.stringMatching(/^drc_/) },
    ]);
    const refused = async (change: Names) => {
      const { response: answer } = await act(origin, change);
      return [answer.status, ((await answer.json()) as { reason: string }).reason];
    };
    expect(await refused({ 'total: 42_700': 'total: 1' })).toEqual([403, 'PROOF_ACTION_MISMATCH']);
    expect(await refused({ 'id: 7': 'id: 8' })).toEqual([403, 'ACTION_MALFORMED']);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

it('the Fastify route, the fetch handlers and the bare verifier of the README allow the Agent', async () => {
  const { did, key } = world.shop;
  const verifier = rpSdk.createVerifier({
    baseUrl: deployment.process.baseUrl,
    apiKey: key,
    serviceDid: world.service,
    relyingParty: did,
  });
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const app = ofShop('fastify').default();
  await run(
    fastifyRoute,
    { app, verifier, ...fastifySdk },
    // The Agent's Action names the order in its body.
    { 'https://shop.example': origin, "request.headers['x-order']": 'request.body.id' },
  );
  await app.listen({ port, host: '127.0.0.1' });
  const { response } = await act(origin);
  expect([response.status, await response.json()]).toEqual([
    200,
    { receiptId: expect.stringMatching(/^drc_/) },
  ]);
  await app.close();

  const action = { type: 'commerce:purchase', resource: 'order/7', amount: 42_700, currency: 'USD' } as const;
  const url = 'https://shop.example/orders';
  const newProof = () =>
    agentSdk.signProof({
      agent: agentSdk.agentFromJwk(agent.privateJwk),
      grantId: JSON.parse(Buffer.from(grant.split('.')[1] ?? '', 'base64url').toString()).id,
      audience: did,
      method: 'POST',
      url,
      action,
    });
  const hono: ((c: object, next: () => Promise<void>) => Promise<void>)[] = [];
  const given = { verifier, origin: 'https://shop.example', action: () => action, ...fetchSdk };
  const { POST } = await run<{ POST(request: Request): Promise<Response> }>(
    fetchHandlers,
    { ...given, app: { use: (_: string, handle: (typeof hono)[number]) => hono.push(handle) } },
    {},
    'POST',
  );
  const request = async () =>
    new Request(url, { method: 'POST', headers: { 'svc-grant': grant, 'svc-proof': await newProof() } });
  expect(await (await POST(await request())).json()).toMatch(/^drc_/);
  const set = vi.fn();
  const next = vi.fn();
  await hono[0]?.({ req: { raw: await request() }, set }, next);
  expect([set.mock.calls.length, next.mock.calls.length]).toEqual([1, 1]);

  const proceed = vi.fn();
  await run(
    withoutMiddleware,
    { verifier, grant, proof: await newProof(), action, url, proceed, refuse: proceed },
    {},
  );
  expect(proceed.mock.calls).toMatchObject([[{ action: 'commerce:purchase' }, { decision: 'ALLOW' }]]);
});

it('a shop requests approval of a denied Action, the Principal approves, and the new Grant is allowed', async () => {
  const tenants = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
  const { baseUrl } = deployment.process;
  const { principal: client, agent: buyer, rpDid: audience, rpKey: apiKey } = tenants;
  const verifier = rpSdk.createVerifier({
    baseUrl,
    apiKey,
    serviceDid: world.service,
    relyingParty: audience,
  });
  const held = await client.grants.issue({
    agent: buyer.did,
    capabilities: [principalSdk.purchase({ maxAmountMinor: 50_000, currency: 'USD' })],
  });
  const request = { method: 'POST', url: 'https://shop.example/orders' };
  const action = { type: 'commerce:purchase', resource: 'order/7', amount: 90_000, currency: 'USD' } as const;
  const proofUnder = (grantId: string) =>
    agentSdk.signProof({ agent: buyer, grantId, audience, ...request, action });
  let answered: string | undefined;
  const asking = run(
    askPrincipal,
    {
      ...{ verifier, grant: held.grant, proof: await proofUnder(held.grantId), action, request },
      answerAgent: (answer: { grant: string }) => {
        answered = answer.grant;
      },
    },
    {},
  );
  const shown: unknown[] = [];
  const isWanted = async (terms: unknown) => shown.push(terms) > 0;
  const isAsked = 'select from approval_requests where principal = $1';
  while ((await deployment.sql.query(isAsked, [tenants.principalDid])).rowCount === 0);
  await run(approveAsked, { client, isWanted }, {});
  await asking;
  expect(shown).toMatchObject([
    { agent: buyer.did, audience: [audience], capabilities: [{ resources: ['order/7'] }] },
  ]);
  const [approved] = (await client.approvals.page({ status: 'approved' })).requests;
  expect(approved?.result?.grant).toBe(answered);
  const grantId = String(approved?.result?.grant_id);
  const verdict = await verifier.verify({
    grant: String(answered),
    proof: await proofUnder(grantId),
    action,
    request,
  });
  expect(verdict.decision).toBe('ALLOW');
});
