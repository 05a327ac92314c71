import { readFileSync } from 'node:fs';
import * as principalSdk from '@svc/sdk-principal';
import * as agentSdk from '@svc/sdk-principal/agent';
import { expect, it } from 'vitest';
import * as testing from '../src/index.ts';

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

it('decides as production does: once per Proof, only what was signed, nothing that was revoked', async () => {
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

it('repeats the first answer under an idempotency key for ten minutes, and refuses another body', async () => {
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
  // Under the key of somebody else it is another call.
  const other = service.createRelyingParty();
  const answered = await ask({ proof }, keyed, other.verifier);
  expect(answered).toMatchObject({ idempotentReplay: false, receipt: { relying_party: other.did } });
  service.clock.advance(1_000);
  expect(await ask({ proof }, keyed)).toMatchObject({ allowed: false, idempotentReplay: false });
});

it('spends the jti of a Proof for its Grant alone', async () => {
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

it('Principals cannot revoke for each other, and what is not there says so', async () => {
  const [one, other] = [await world(), await world()];
  const stranger = await one.service.createPrincipal();
  await expect(stranger.client.grants.revoke(one.grantId)).rejects.toMatchObject({ status: 404 });
  await stranger.client.grants.revoke(one.grantId).catch(() => undefined);
  expect(await one.ask()).toMatchObject({ allowed: true });
  await expect(one.acme.client.grants.page()).rejects.toMatchObject({ status: 501 });
  expect(other.service.clock.now()).toBe(Date.parse('2026-11-20T08:00:00Z'));
  expect(() => other.service.clock.set('soon')).toThrow(RangeError);
});
