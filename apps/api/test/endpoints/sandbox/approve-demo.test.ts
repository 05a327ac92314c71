/**
 * `POST /demo/approval` (protocol §13, §16): the sandbox's Principal approves a denied request, on either of two nodes.
 */
import { randomBytes } from 'node:crypto';
import { encodeUlid, parseGrant } from '@svc/protocol';
import { signProof } from '@svc/sdk-principal/agent';
import { describe, expect, it } from 'vitest';
import { AUTHORITY, bodyOf, PRINCIPAL, RP, withSandbox } from '../../world/sandbox.ts';

const { deployment, post, mint, verify } = withSandbox();

const deny = async (amount = 90_000) => {
  const minted = await mint({ amount });
  const receipt = await verify(minted);
  expect(receipt).toMatchObject({ decision: 'DENY', reason: 'AMOUNT_EXCEEDS_AUTHORITY' });
  return { minted, asked: { receipt_id: receipt.receipt_id, proof: minted.proof } };
};

interface Answer {
  readonly request: { readonly task: { readonly id: string } };
  readonly purchase: Readonly<Record<string, unknown>> | null;
}
const call = async (body: object, node = 0): Promise<Answer> => {
  const { status, json } = await post('/demo/approval', body, node);
  expect([status, json.message]).toEqual([200, undefined]);
  return json as never;
};

describe('POST /demo/approval', () => {
  it('asks for and approves a request; the Agent’s Proof under the new Grant is an ALLOW once, and a second Proof a DENY', async () => {
    const { minted, asked } = await deny();
    const pending = await call(asked, 1);
    expect(pending).toMatchObject({
      request: {
        task: { status: 'pending' },
        principal: PRINCIPAL,
        relying_party: RP,
        action: minted.action,
      },
      purchase: null,
    });
    const approved = await call({ ...asked, approve: true });
    expect(approved).toMatchObject({
      request: { task: { id: pending.request.task.id, status: 'approved' } },
      purchase: { action: minted.action },
    });
    const grant = parseGrant(String(approved.purchase?.grant));
    expect(grant).toMatchObject({
      ok: true,
      value: {
        issuer: PRINCIPAL,
        audience: [RP],
        capabilities: [
          {
            action: 'commerce:purchase',
            constraints: { maxAmount: 90_000, currency: 'USD', maxUses: 1 },
            resources: ['sandbox/order-1'],
          },
        ],
      },
    });
    expect(await verify(approved.purchase ?? {}, 1)).toMatchObject({ decision: 'ALLOW' });
    const again = await call({ ...asked, approve: true }, 1);
    expect(again.request).toEqual(approved.request);
    expect(again.purchase?.grant).toBe(approved.purchase?.grant);
    expect(again.purchase?.proof).not.toBe(approved.purchase?.proof);
    expect(await verify(again.purchase ?? {})).toMatchObject({
      decision: 'DENY',
      reason: 'AMOUNT_EXCEEDS_AUTHORITY',
    });
  });

  it('is not limited across visitors: after 25 open requests within an hour the next is still approved', async () => {
    for (let i = 0; i < 25; i++) await call((await deny()).asked, i % 2);
    const { asked } = await deny();
    expect(await call({ ...asked, approve: true })).toMatchObject({
      request: { task: { status: 'approved' } },
    });
  });

  it('answers 404 for a denied Grant of any Principal but the sandbox’s own', async () => {
    const { principal, agent } = await deployment.createTenants();
    const { grant, grantId } = await principal.grants.issue({
      agent: agent.did,
      audience: [RP] as never,
      capabilities: [AUTHORITY as never],
    });
    const action = {
      type: 'commerce:purchase',
      resource: 'sandbox/order-1',
      amount: 90_000,
      currency: 'USD',
    } as const;
    const proof = await signProof({
      agent,
      audience: RP as never,
      grantId,
      action,
      method: 'POST',
      url: 'https://shop.example/checkout',
    } as never);
    const receipt = await verify({ grant, proof, action });
    expect(receipt).toMatchObject({ reason: 'AMOUNT_EXCEEDS_AUTHORITY' });
    const refused = await post('/demo/approval', { receipt_id: receipt.receipt_id, proof, approve: true });
    expect([refused.status, refused.json.error]).toEqual([404, 'NOT_FOUND']);
  });

  it('answers 409 to an ALLOW, 400 to another Proof or a malformed body, and 404 to an unknown Receipt', async () => {
    const minted = await mint();
    const { receipt_id } = await verify(minted);
    const { asked } = await deny();
    const { status } = await post('/demo/approval', { receipt_id, proof: minted.proof, approve: true });
    expect(status).toBe(409);
    expect((await post('/demo/approval', { ...asked, proof: minted.proof })).status).toBe(400);
    const none = { ...asked, receipt_id: `drc_${encodeUlid(Date.now(), randomBytes(10))}` };
    expect((await post('/demo/approval', none)).status).toBe(404);
    expect((await post('/demo/approval', bodyOf(minted))).status).toBe(400);
  });
});
