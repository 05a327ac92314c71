/**
 * Executes the blocks in the packages' READMEs unchanged; readmes-together.test.ts runs those of the client libraries
 * together.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import * as conformance from '@svc/conformance';
import * as conformanceNode from '@svc/conformance/node';
import * as protocol from '@svc/protocol';
import * as native from '@svc/protocol/native';
import * as receipts from '@svc/receipts';
import * as audit from '@svc/receipts/audit';
import * as bundle from '@svc/receipts/bundle';
import * as principalSdk from '@svc/sdk-principal';
import * as agentSdk from '@svc/sdk-principal/agent';
import * as agentSignatures from '@svc/sdk-principal/web-bot-auth';
import * as rpSdk from '@svc/sdk-rp';
import * as fetchSdk from '@svc/sdk-rp/fetch';
import * as rpSignatures from '@svc/sdk-rp/web-bot-auth';
import { blocksOf, blockWith, runBlock } from '@svc/testkit/sdk/readme-block';
import { beforeAll, expect, it } from 'vitest';
import { withDeployment } from '../world/deployment.ts';
import {
  call,
  callJson,
  createTenants,
  issueGrant,
  type Receipt,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

const ROOT = new URL('../../../../', import.meta.url);
const deployment = withDeployment();
const readJson = (path: string) => JSON.parse(readFileSync(new URL(path, ROOT), 'utf8'));
const modules: Readonly<Record<string, object>> = {
  '@svc/conformance': conformance,
  '@svc/conformance/node': conformanceNode,
  '@svc/protocol': protocol,
  '@svc/protocol/native': native,
  '@svc/receipts': receipts,
  '@svc/receipts/audit': audit,
  '@svc/receipts/bundle': bundle,
  '@svc/sdk-principal': principalSdk,
  '@svc/sdk-principal/agent': agentSdk,
  '@svc/sdk-principal/web-bot-auth': agentSignatures,
  '@svc/sdk-rp/web-bot-auth': rpSignatures,
};

/**
 * Number of blocks of each README. Each has a test: those of the clients with their middleware here, the others beside
 * the README.
 */
const EXECUTED: Readonly<Record<string, number>> = {
  conformance: 1,
  merkle: 2,
  protocol: 1,
  receipts: 4,
  'sdk-principal': 7,
  'sdk-rp': 10,
  'status-list': 1,
  testing: 1,
  transparency: 2,
};

it('the READMEs have exactly the numbers of blocks that these tests expect', () => {
  const counts = readdirSync(new URL('packages/', ROOT)).flatMap((name) => {
    try {
      return [[name, blocksOf(name).length] as const];
    } catch {
      return [];
    }
  });
  expect(Object.fromEntries(counts.filter(([, count]) => count > 0))).toEqual(EXECUTED);
});

let tenants: Tenants;
/** An ALLOW, with the request that it answers. */
let decided: { asked: Awaited<ReturnType<typeof verifyBody>>; responseText: string; receipt: Receipt };
let serviceDidDocument: { readonly id: string };

beforeAll(async () => {
  const { baseUrl } = deployment.process;
  tenants = await createTenants(baseUrl);
  const asked = await verifyBody(tenants, await issueGrant(tenants));
  const { text } = await call(baseUrl, 'POST', '/verify', { key: tenants.rpKey, body: asked });
  decided = { asked, responseText: text, receipt: JSON.parse(text) };
  serviceDidDocument = await callJson(baseUrl, 'GET', '/.well-known/did.json');
});

it('protocol: the example evaluates a request without known facts to DENY', async () => {
  const { grant, proof, action } = readJson('vectors/evaluate/allow-purchase.json').input;
  const answer = (lookups: readonly protocol.Lookup[]) =>
    Object.fromEntries(lookups.map(({ fact }) => [fact, protocol.absent]));
  const receiptId = decided.receipt.receipt_id;
  const { printed } = await runBlock(blocksOf('protocol')[0], {
    modules,
    given: { grant, proof, action, answer, receiptId },
  });
  expect(printed).toEqual([expect.stringMatching(/^DENY ISSUER_UNKNOWN \{.*"receipt_id"/)]);
});

it('receipts: the examples verify, sign and audit a Receipt of the service, and verify a bundle', async () => {
  const [verify, signing, auditing, bundled] = blocksOf('receipts');
  const { responseText, receipt, asked } = decided;
  const own = { 'did:web:svc.example': serviceDidDocument.id };
  const given = { responseText, serviceDidDocument };
  const verified = await runBlock(verify, { modules, given, replaced: own });
  expect(verified.printed).toEqual(['ALLOW null']);

  const { receipt: _, ...body } = receipt;
  const { privateKey } = generateKeyPairSync('ed25519');
  const signed = await runBlock<{ jws: string; isWhole: boolean }>(signing, {
    modules,
    given: { body, sign: async (bytes: Uint8Array) => sign(null, bytes, privateKey) },
    replaced: { ...own, 'receiptTextOf(jws) === text;': 'const isWhole = receiptTextOf(jws) === text;' },
    wanted: 'jws, isWhole',
  });
  expect(signed.wanted).toEqual({ jws: expect.stringMatching(/^ey/), isWhole: true });

  const hashes = [...new Set(responseText.match(/sha256:[0-9a-f]{64}/g))];
  const texts = new Map<string, string>();
  for (const hash of hashes) {
    const { status, text } = await call(deployment.process.baseUrl, 'GET', `/evidence/${hash}`);
    if (status === 200) texts.set(hash, text);
  }
  const audited = await runBlock<{ result: { ok: boolean } }>(auditing, {
    modules,
    given: { receipt, serviceDidDocument, ...asked, texts },
    // This Grant consumed nothing.
    replaced: { 'consumption: [page1, page2],': '' },
    wanted: 'result',
  });
  expect(audited.wanted.result).toMatchObject({ ok: true });

  const text = readFileSync(new URL('examples/bundle/bundle.json', ROOT), 'utf8');
  const archived = await runBlock(bundled, {
    modules,
    given: { text, serviceDidDocument: JSON.parse(text).did_document },
  });
  expect(archived.printed).toEqual([expect.stringMatching(/^ALLOW \d{4}-\d\d-\d\d \d+$/)]);
});

it('conformance: the example runs vectors against an endpoint', async () => {
  const server = await conformanceNode.serveConformance(conformanceNode.createOwnEngine());
  try {
    const { cases, ...set } = conformanceNode.readVectorSet();
    const few = { ...conformanceNode, readVectorSet: () => ({ ...set, cases: cases.slice(0, 20) }) };
    const { printed } = await runBlock(blocksOf('conformance')[0], {
      modules: { ...modules, '@svc/conformance/node': few },
      replaced: { 'http://127.0.0.1:8090/': server.url },
    });
    expect(printed.at(-1)).toMatch(/^passed /);
  } finally {
    await server.close();
  }
});

const createVerifier = () =>
  rpSdk.createVerifier({
    baseUrl: deployment.process.baseUrl,
    apiKey: tenants.rpKey,
    serviceDid: serviceDidDocument.id,
    relyingParty: tenants.rpDid,
  });

it('sdk-rp: the dry-run example prints the failed check and what to do', async () => {
  const verifier = createVerifier();
  const { printed } = await runBlock(blockWith('sdk-rp', 'verifier.dryRun('), {
    modules,
    given: { verifier, ...decided.asked },
  });
  expect(printed).toEqual([expect.stringMatching(/^T5 .*The Agent must sign a new Proof/)]);
});

it('sdk-rp: the example of keys and records works', async () => {
  const verifier = createVerifier();
  const exported: string[] = [];
  const process = { stdout: { write: (text: string) => exported.push(text) } };
  const { printed } = await runBlock(blockWith('sdk-rp', 'verifier.apiKeys.issue('), {
    modules,
    given: { verifier, process },
    replaced: {
      'did:web:acme.example': tenants.principalDid,
      drc_01M7VZGC008Q2R7V9X1C4E6H8K: decided.receipt.receipt_id,
    },
  });
  expect(printed).toContainEqual(expect.stringContaining('eu-west'));
  expect(printed).toContainEqual(expect.stringContaining(`"receipt_id":"${decided.receipt.receipt_id}"`));
  expect(exported.join('')).toContain(decided.receipt.receipt_id);
});

it('sdk-principal: the example of keys and records works', async () => {
  const own = await createTenants(deployment.process.baseUrl);
  const { grantId } = await issueGrant(own);
  const { wanted, printed } = await runBlock<{ revokedGrants: readonly string[] }>(
    blockWith('sdk-principal', 'client.agents.disable('),
    {
      modules,
      given: { client: own.principal },
      replaced: { 'did:key:z6Mk…': own.agent.did, 'did:web:svc.example:org:acme': own.principalDid },
      wanted: 'revokedGrants',
    },
  );
  expect(wanted.revokedGrants).toEqual([grantId]);
  expect(printed).toContainEqual(expect.stringContaining('ci'));
});

it('sdk-principal and sdk-rp: an Agent signs its HTTP requests, and the shop refuses an unsigned request', async () => {
  const { agent, rpDid } = tenants;
  const { grant } = await issueGrant(tenants);
  const action = { type: 'commerce:purchase', resource: 'order/1', amount: 100, currency: 'USD' } as const;
  const { authorizeSigned } = (
    await runBlock<{ authorizeSigned: ReturnType<typeof fetchSdk.createAuthorizer> }>(
      blockWith('sdk-rp', 'authorizeSigned'),
      {
        modules,
        given: {
          verifier: createVerifier(),
          createAuthorizer: fetchSdk.createAuthorizer,
          action: async () => action,
        },
        wanted: 'authorizeSigned',
      },
    )
  ).wanted;
  /** The shop, which the Agent calls without a network. */
  const shop = async (request: string | URL | Request) => {
    const authorized = await authorizeSigned(request as Request);
    return authorized.ok ? Response.json(authorized.svc.agent) : authorized.response;
  };
  const createAgentFetch = (options: agentSdk.AgentFetchOptions) =>
    agentSdk.createAgentFetch({ ...options, fetch: shop as typeof fetch });
  const { agentFetch, routes } = (
    await runBlock<{
      agentFetch: agentSdk.AgentFetch;
      routes: Readonly<Record<string, () => Promise<Response>>>;
    }>(blockWith('sdk-principal', 'routes'), {
      modules,
      given: { agent, grant, action, createAgentFetch },
      replaced: { 'did:web:shop.example': rpDid },
      wanted: 'agentFetch, routes',
    })
  ).wanted;
  const bought = await agentFetch('https://shop.example/orders', { method: 'POST' });
  expect([bought.status, await bought.json()]).toEqual([200, agent.did]);
  const unsigned = createAgentFetch({ agent, grant, audience: rpDid, action });
  expect((await unsigned('https://shop.example/orders', { method: 'POST' })).status).toBe(403);
  const directory = await routes[agentSignatures.KEY_DIRECTORY_PATH]?.();
  expect(await directory?.json()).toMatchObject({ keys: [{ kty: 'OKP', crv: 'Ed25519', use: 'sig' }] });
});
