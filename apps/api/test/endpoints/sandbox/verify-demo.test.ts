/** `POST /demo/verify` (interface §Endpoints, Sandbox): real Receipts without a key, from either of two nodes. */
import { verifyReceipt } from '@svc/receipts';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { AUTHORITY, bodyOf, RP, withSandbox } from '../../world/sandbox.ts';

const { deployment, post, mint, verify } = withSandbox();

let info: Readonly<Record<string, unknown>>;
beforeAll(async () => {
  info = (await deployment.call('GET', '/demo/info')).json;
});

describe('POST /demo/verify', () => {
  it('returns a signed, stored Receipt of the sandbox’s relying party: an ALLOW, then PROOF_REPLAYED on the other node', async () => {
    const minted = await mint({}, 0);
    const receipt = await verify(minted, 1);
    expect(receipt).toMatchObject({
      decision: 'ALLOW',
      relying_party: RP,
      agent: info.agent,
      authority: AUTHORITY,
    });
    const { json: didDocument } = await deployment.call('GET', '/.well-known/did.json');
    expect(verifyReceipt(receipt, didDocument).ok).toBe(true);
    const stored = await deployment.call('GET', `/decisions/${receipt.receipt_id}`, { key: ADMIN_TOKEN });
    expect(stored.json.receipt).toEqual(receipt);
    expect(await verify(minted, 0)).toMatchObject({ decision: 'DENY', reason: 'PROOF_REPLAYED' });
  });

  it('evaluates a malformed Grant or Action like /verify, and refuses only a malformed envelope with 400', async () => {
    const minted = await mint();
    expect(await verify({ ...minted, action: { amount: 1 } })).toMatchObject({ reason: 'ACTION_MALFORMED' });
    expect(await verify({ ...minted, grant: 'x' })).toMatchObject({ reason: 'GRANT_MALFORMED' });
    expect((await post('/demo/verify', { ...bodyOf(minted), more: 1 })).status).toBe(400);
    expect(await verify(minted)).toMatchObject({ decision: 'ALLOW' });
  });

  it('has no effect elsewhere: another relying party denies a sandbox Grant as AUDIENCE_MISMATCH', async () => {
    const tenants = await deployment.createTenants();
    const { json } = await deployment.call('POST', '/verify', {
      key: tenants.rpKey,
      body: bodyOf(await mint()),
    });
    expect(json).toMatchObject({ decision: 'DENY', reason: 'AUDIENCE_MISMATCH' });
  });
});
