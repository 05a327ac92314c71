import { readFileSync } from 'node:fs';
import * as principalSdk from '@svc/sdk-principal';
import * as agentSdk from '@svc/sdk-principal/agent';
import { createVerifier } from '@svc/sdk-rp';
import { expect, it } from 'vitest';
import * as testing from '../src/index.ts';
import { createRegistry } from '../src/registry.ts';
import { createServiceFetch } from '../src/routes.ts';

const { createTestService } = testing;
const action = { type: 'commerce:purchase', resource: 'order/7', amount: 42_700, currency: 'USD' } as const;
const request = { method: 'POST', url: 'https://shop.example/orders' };

async function world() {
  const service = await createTestService({ now: '2026-11-20T08:00:00Z' });
  const acme = await service.createPrincipal();
  const agent = await service.createAgent();
  const shop = service.createRelyingParty();
  const terms = {
    agent: agent.did,
    capabilities: [
      principalSdk.purchase({ maxAmountMinor: 50_000, currency: 'USD', resources: ['order/*'] }),
    ],
    lifetimeSeconds: 3600,
  };
  const { grant, grantId } = await acme.client.grants.issue(terms);
  const newProof = () =>
    agentSdk.signProof({ agent, grantId, audience: shop.did, ...request, action, now: service.clock.now });
  const ask = async (change: object = {}, options: object = {}, verifier = shop.verifier) =>
    verifier.verify({ grant, proof: await newProof(), action, request, ...change }, options);
  return { service, acme, agent, shop, terms, grantId, newProof, ask };
}

it('the example of the README runs and prints what it says', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const block = /^```js\n(.*?)^```$/ms.exec(readme)?.[1] ?? '';
  const modules: Readonly<Record<string, object>> = {
    '@svc/sdk-principal': principalSdk,
    '@svc/sdk-principal/agent': agentSdk,
    '@svc/testing': testing,
  };
  const body = block.replace(/^import \{(.*?)\} from '(.*?)';$/gm, "const {$1} = modules['$2'];");
  const printed: unknown[] = [];
  const console = { log: (value: unknown) => void printed.push(value) };
  await new Function('modules', 'console', `return (async () => {${body}})()`)(modules, console);
  expect(printed).toEqual([...block.matchAll(/; \/\/ ([A-Z_]+)$/gm)].map(([, said]) => said));
  expect(printed).toEqual(['ALLOW', 'GRANT_EXPIRED']);
});

it('the test service refuses a replayed, a mismatched and an expired Proof, and a revoked Grant', async () => {
  const { service, acme, shop, grantId, newProof, ask } = await world();
  await shop.verifier.ready();
  const proof = await newProof();
  expect(await ask({ proof })).toMatchObject({ allowed: true, receipt: { relying_party: shop.did } });
  expect(await ask({ proof })).toMatchObject({ reason: 'PROOF_REPLAYED' });
  expect(await ask({ action: { ...action, amount: 1 } })).toMatchObject({ reason: 'PROOF_ACTION_MISMATCH' });
  const old = await newProof();
  service.clock.advance(120_000);
  expect(await ask({ proof: old })).toMatchObject({ reason: 'PROOF_EXPIRED' });
  await acme.client.grants.revoke(grantId);
  expect(await ask()).toMatchObject({ reason: 'AUTHORITY_REVOKED' });
});

it('the test service repeats an answer under an idempotency key for ten minutes, and refuses another body with 409', async () => {
  const { service, acme, grantId, newProof, ask } = await world();
  const keyed = { idempotencyKey: 'order-7' };
  const proof = await newProof();
  const first = await ask({ proof }, keyed);
  expect(first).toMatchObject({ allowed: true, idempotentReplay: false });
  await acme.client.grants.revoke(grantId);
  service.clock.advance(599_000);
  expect(await ask({ proof }, keyed)).toMatchObject({
    ...{ allowed: true, idempotentReplay: true, receipt: first.receipt },
  });
  await expect(ask({}, keyed)).rejects.toMatchObject({ status: 409 });
  // With another party's key it is another call.
  const other = service.createRelyingParty();
  const answered = await ask({ proof }, keyed, other.verifier);
  expect(answered).toMatchObject({ idempotentReplay: false, receipt: { relying_party: other.did } });
  service.clock.advance(1_000);
  expect(await ask({ proof }, keyed)).toMatchObject({ allowed: false, idempotentReplay: false });
});

it('the jti of a Proof is spent only for its Grant', async () => {
  const { service, acme, shop, agent, terms, grantId, ask } = await world();
  const other = await acme.client.grants.issue(terms);
  const jti = 'AAAAAAAAAAAAAAAAAAAAAA';
  const proofFor = (id: string) =>
    agentSdk.signProof({
      ...{ agent, grantId: id, audience: shop.did, ...request, action, jti, now: service.clock.now },
    });
  expect(await ask({ proof: await proofFor(grantId) })).toMatchObject({ allowed: true });
  expect(await ask({ proof: await proofFor(other.grantId), grant: other.grant })).toMatchObject({
    allowed: true,
  });
  expect(await ask({ proof: await proofFor(grantId) })).toMatchObject({ reason: 'PROOF_REPLAYED' });
});

it('a Principal cannot revoke the Grant of another one, and a missing route answers 501', async () => {
  const [one, other] = [await world(), await world()];
  const stranger = await one.service.createPrincipal();
  await expect(stranger.client.grants.revoke(one.grantId)).rejects.toMatchObject({ status: 404 });
  await stranger.client.grants.revoke(one.grantId).catch(() => undefined);
  expect(await one.ask()).toMatchObject({ allowed: true });
  await expect(one.acme.client.grants.page()).rejects.toMatchObject({ status: 501 });
  expect(other.service.clock.now()).toBe(Date.parse('2026-11-20T08:00:00Z'));
  expect(() => other.service.clock.set('soon')).toThrow(RangeError);
});

it('the test service answers 501 to routes that it does not have, with a body or without', async () => {
  const { acme, shop } = await world();
  const id = 'whs_01KAFQ0000ABCDEFGHJKMNPQRS';
  const calls = [
    acme.client.agents.disable('did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH'),
    acme.client.subscriptions.rotate(id),
    shop.verifier.subscriptions.disable(id),
    shop.verifier.relyingParty.pause(),
    shop.verifier.apiKeys.issue({ label: 'other' }),
    shop.verifier.subscriptions.list(),
  ];
  const ends = await Promise.all(calls.map((call) => call.catch((error: unknown) => error)));
  expect(ends.map((end) => Object(end).status)).toEqual(calls.map(() => 501));
});

/** The routes themselves, for one Principal and one relying party whose API keys are their DIDs. */
async function routesOf() {
  const nowMs = Date.parse('2026-11-20T08:00:00Z');
  const key = await principalSdk.generatePrincipalKey();
  const [did, acme, shop] = ['did:web:svc.example', 'did:web:acme.example', 'did:web:shop.example'];
  const documentOf = (id: string, kid: string) => ({
    id,
    verificationMethod: [
      { id: kid, type: 'Multikey', controller: id, publicKeyMultibase: key.publicKeyMultibase },
    ],
    assertionMethod: [kid],
  });
  const registry = createRegistry();
  registry.documents.set(acme, JSON.stringify(documentOf(acme, `${acme}#key-1`)));
  const fetchRoute = createServiceFetch({
    ...{ registry, did, now: () => nowMs, document: documentOf(did, `${did}#receipt-1`) },
    signer: principalSdk.signerFromJwk(key.privateJwk, `${did}#receipt-1`),
    holders: new Map([
      [acme, { did: acme, role: 'principal' }],
      [shop, { did: shop, role: 'rp' }],
    ]),
  });
  return { nowMs, key, did, acme, shop, fetchRoute };
}

it('a body that is no JSON object is answered 400, and only on a known route', async () => {
  const { acme, shop, fetchRoute } = await routesOf();
  const post = async (path: string, apiKey: string, body?: string) => {
    const init = { method: 'POST', headers: { authorization: `Bearer ${apiKey}` }, ...(body && { body }) };
    return (await fetchRoute(`https://svc.example${path}`, init)).status;
  };
  for (const body of [undefined, '{', '7', 'null', '[]']) {
    for (const path of ['/grants', '/revoke']) expect(await post(path, acme, body)).toBe(400);
    expect(await post('/verify', shop, body)).toBe(400);
    for (const path of ['/pause', '/me', '/verify']) expect(await post(path, acme, body)).toBe(501);
  }
});

it('one Grant under an id is allowed: after its first ALLOW, another with this id is denied', async () => {
  const { nowMs, key, did, acme, shop, fetchRoute } = await routesOf();
  const allocated = new Map<string, Response>();
  /** Like a Principal that signs two Grants for one reservation. */
  const reserveOnce: typeof fetch = async (input, init) => {
    const url = new Request(input).url;
    const answer = allocated.get(url) ?? (await fetchRoute(input, init));
    allocated.set(url, answer);
    return answer.clone();
  };
  const common = { baseUrl: 'https://svc.example', now: () => nowMs };
  const { grants } = principalSdk.createPrincipalClient({
    ...{ ...common, apiKey: acme, fetch: reserveOnce },
    signer: principalSdk.signerFromJwk(key.privateJwk, `${acme}#key-1`),
  });
  const agent = agentSdk.agentFromJwk((await agentSdk.generateAgentKey()).privateJwk);
  const issue = (maxAmountMinor: number) =>
    grants.issue({
      agent: agent.did,
      capabilities: [principalSdk.purchase({ maxAmountMinor, currency: 'USD', resources: ['order/*'] })],
    });
  const [first, second] = [await issue(50_000), await issue(90_000)];
  expect(second.grantId).toBe(first.grantId);
  const verifier = createVerifier({ ...common, apiKey: shop, serviceDid: did, fetch: fetchRoute });
  const ask = async ({ grant, grantId }: { grant: string; grantId: string }) => {
    const signed = { agent, grantId, audience: shop, ...request, action, now: () => nowMs };
    const proof = await agentSdk.signProof(signed);
    return (await verifier.verify({ grant, proof, action, request })).reason;
  };
  expect([await ask(first), await ask(second), await ask(first)]).toEqual([null, 'AUTHORITY_REVOKED', null]);
});
