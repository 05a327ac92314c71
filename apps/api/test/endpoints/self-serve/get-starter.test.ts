/** `POST /orgs/self-serve/starter` (interface §Self-serve and sandbox records). Who may call: access matrix. */
import { parseProof } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { type Starter, withSelfServe } from '../../world/self-serve.ts';

const { deployment, send, signUp, verify } = withSelfServe();

describe('POST /orgs/self-serve/starter', () => {
  it('returns a new starter on each call, which is an ALLOW on the other node', async () => {
    const tenant = await signUp();
    const body = { rp_did: tenant.relying_party.did };
    const starters = [
      (await send('/starter', body)).json as Starter,
      (await send('/starter', body, { node: 1 })).json as Starter,
    ];
    expect(Object.keys(starters[0] ?? {})).toEqual(Object.keys(tenant.starter));
    expect(new Set(starters.map(({ grant_id: id }) => id)).size).toBe(2);
    for (const [i, starter] of starters.entries())
      expect(await verify(starter, tenant.rp_verify_key, 1 - i)).toMatchObject({ decision: 'ALLOW' });
  });

  it('computes expires_at from the current proof window of the relying party', async () => {
    const tenant = await signUp();
    const { did } = tenant.relying_party;
    await deployment.call('PATCH', `/relying-parties/${did}`, {
      key: tenant.org_admin_key,
      body: { proof_window_seconds: 10 },
    });
    const starter = (await send('/starter', { rp_did: did })).json as Starter;
    const proof = parseProof(starter.proof);
    expect(Date.parse(String(starter.expires_at))).toBe(
      ((proof.ok ? proof.value.iatSeconds : 0) + 10) * 1000,
    );
  });

  it('and /first-receipt answer 404 after the relying party was transferred from the org that signed up', async () => {
    const { did } = (await signUp()).relying_party;
    const body = { kind: 'relying_party', org_id: await deployment.createOrg() };
    const moved = await deployment.call('POST', `/claims/${did}/transfer`, { key: ADMIN_TOKEN, body });
    expect(moved.status).toBe(200);
    for (const path of ['/starter', '/first-receipt'] as const)
      expect((await send(path, { rp_did: did })).status).toBe(404);
  });
});
