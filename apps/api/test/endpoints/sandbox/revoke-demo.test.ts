/** `POST /demo/revoke` (interface §Endpoints, Sandbox). */
import { describe, expect, it } from 'vitest';
import { AUTHORITY, withSandbox } from '../../world/sandbox.ts';

const { deployment, post, mint, verify } = withSandbox();

describe('POST /demo/revoke', () => {
  it('revokes a minted Grant on both nodes, and is idempotent', async () => {
    const minted = await mint({}, 0);
    const revoked = await post('/demo/revoke', { grant_id: minted.grant_id }, 1);
    expect(revoked.json).toEqual({
      grant_id: minted.grant_id,
      revoked: true,
      revoked_at: expect.any(String),
    });
    expect(await verify(minted, 0)).toMatchObject({ decision: 'DENY', reason: 'AUTHORITY_REVOKED' });
    expect((await post('/demo/revoke', { grant_id: minted.grant_id }, 0)).json).toEqual(revoked.json);
  });

  it('answers 404 to a Grant of another Principal and 400 to a malformed id', async () => {
    const tenants = await deployment.createTenants();
    const { grantId } = await tenants.principal.grants.issue({
      agent: tenants.agent.did,
      capabilities: [AUTHORITY as never],
    });
    expect((await post('/demo/revoke', { grant_id: grantId })).status).toBe(404);
    expect((await post('/demo/revoke', { grant_id: 'x' })).status).toBe(400);
  });
});
