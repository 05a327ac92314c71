/** Tests the shop and the Agent with a service in memory: real signatures, the real engine, no network. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { purchase } from '@svc/sdk-principal';
import { createTestService } from '@svc/testing';
import { buy } from './agent.ts';
import { createShop } from './shop.ts';

const service = await createTestService();
const acme = await service.createPrincipal();
const agent = await service.createAgent();
const { did, verifier } = service.createRelyingParty();

const server = createServer();
let origin = '';
before(async () => {
  await once(server.listen(0, 'localhost'), 'listening');
  origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  server.on('request', createShop(verifier, origin));
});
after(() => void server.close());

/** An Agent that may buy anything for at most this many cents per purchase. */
async function allow(maxAmountMinor: number) {
  const capabilities = [purchase({ maxAmountMinor, currency: 'USD', resources: ['item/*'] })];
  const { grant, grantId } = await acme.client.grants.issue({ agent: agent.did, capabilities });
  const buyer = { agent, grant, shop: { did, origin }, now: service.clock.now };
  const order = async (item: string) => {
    const answer = await buy(buyer, item, 1_000_000);
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return { grantId, buyer, order };
}

test('the Agent orders what its Grant allows', async () => {
  const { order } = await allow(50_000);
  const { status, body } = await order('lamp');
  assert.equal(status, 201);
  assert.equal(body.agent, agent.did);
  assert.equal(body.principal, acme.did);
});

test('nothing that is dearer', async () => {
  const { order } = await allow(10_000);
  const { status, body } = await order('lamp');
  assert.equal(status, 403);
  assert.equal(body.reason, 'AMOUNT_EXCEEDS_AUTHORITY');
});

test('nothing once the Principal has taken the Grant back', async () => {
  const { grantId, order } = await allow(50_000);
  await acme.client.grants.revoke(grantId);
  assert.equal((await order('book')).body.reason, 'AUTHORITY_REVOKED');
});

test('nothing beyond the limit that the Agent was told, and nothing under one that is no number', async () => {
  const { buyer } = await allow(50_000);
  for (const atMost of [100, Number('50,00')])
    await assert.rejects(buy(buyer, 'lamp', atMost), /lamp costs \d+ cents, and (100|NaN) are the limit/);
});

test('nobody orders without a Grant', async () => {
  const answer = await fetch(`${origin}/orders/book`, { method: 'POST' });
  assert.equal(answer.status, 401);
});
