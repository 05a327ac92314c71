/** `POST /orgs/self-serve/first-receipt` (interface §Self-serve and sandbox records). Who may call: access matrix. */
import { describe, expect, it } from 'vitest';
import { withSelfServe } from '../../world/self-serve.ts';

const { deployment, send, signUp } = withSelfServe();

describe('POST /orgs/self-serve/first-receipt', () => {
  it('makes a real ALLOW decision in the tenant’s ledger, under its API key', async () => {
    const tenant = await signUp();
    const { status, json } = await send('/first-receipt', { rp_did: tenant.relying_party.did }, { node: 1 });
    expect([status, json]).toMatchObject([
      200,
      { decision: 'ALLOW', relying_party: tenant.relying_party.did },
    ]);
    const { json: me } = await deployment.call('GET', '/me', { key: tenant.rp_verify_key });
    const { json: list } = await deployment.call('GET', '/decisions', { key: tenant.rp_verify_key });
    expect(list.decisions).toMatchObject([
      { receipt_id: json.receipt_id, decision: 'ALLOW', key_id: me.key_id, amount: 1_000 },
    ]);
  });

  it('answers 400 to a tenant without a live API key and says so', async () => {
    const tenant = await signUp();
    await deployment.revokeKey(tenant.rp_verify_key);
    const { status, json } = await send('/first-receipt', { rp_did: tenant.relying_party.did });
    expect([status, json.message]).toEqual([400, expect.stringContaining('no live API key')]);
  });
});
