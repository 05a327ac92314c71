/** `POST /demo/mint` (interface §Endpoints, Sandbox). */
import { parseGrant, parseProof } from '@svc/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { AUTHORITY, PRINCIPAL, RP, withSandbox } from '../../world/sandbox.ts';

const { deployment, post, mint, verify } = withSandbox();

let info: Readonly<Record<string, unknown>>;
beforeAll(async () => {
  info = (await deployment.call('GET', '/demo/info')).json;
});

describe('POST /demo/mint', () => {
  it('returns a Grant of the sandbox Principal for Agent and relying party, and a Proof of the purchase', async () => {
    const minted = await mint();
    const { amount_cap: _, rate_limit_per_minute: __, ...parties } = info;
    expect(minted).toEqual({
      ...parties,
      grant: expect.any(String),
      proof: expect.any(String),
      action: { type: 'commerce:purchase', resource: 'sandbox/order-1', amount: 42_700, currency: 'USD' },
      grant_id: expect.stringMatching(/^urn:svc:grant:/),
      valid_until: expect.any(String),
    });
    const grant = parseGrant(String(minted.grant));
    const proof = parseProof(String(minted.proof));
    expect(grant).toMatchObject({
      ok: true,
      value: {
        issuer: PRINCIPAL,
        agent: info.agent,
        audience: [RP],
        id: minted.grant_id,
        capabilities: [AUTHORITY],
      },
    });
    expect(proof).toMatchObject({
      ok: true,
      value: { agent: info.agent, audience: RP, action: minted.action },
    });
    const remainingMs = Date.parse(String(minted.valid_until)) - Date.now();
    expect(remainingMs > 3_500_000 && remainingMs <= 3_600_000).toBe(true);
  });

  it.each([0, 50_000, 50_001, 1_000_000_000])(
    'accepts an amount of %d; more than 50,000 is then denied as AMOUNT_EXCEEDS_AUTHORITY',
    async (amount) => {
      const minted = await mint({ amount });
      expect(minted.action).toMatchObject({ amount });
      const receipt = await verify(minted);
      expect(receipt.reason).toBe(amount > 50_000 ? 'AMOUNT_EXCEEDS_AUTHORITY' : null);
    },
  );

  it('opens a new status list after 1,000 Grants, so that lists stay small', async () => {
    const listOf = async () => {
      const grant = parseGrant(String((await mint()).grant));
      return grant.ok ? grant.value.status.statusListCredential : undefined;
    };
    const before = await listOf();
    await deployment.sql.query('update status_lists set next_ordinal = 1000 where principal = $1', [
      PRINCIPAL,
    ]);
    const after = await listOf();
    expect([typeof before, after === before, await listOf()]).toEqual(['string', false, after]);
  });

  it.each([{ amount: -1 }, { amount: 1_000_000_001 }, { amount: '1' }, { amount: 1.5 }, { currency: 'EUR' }])(
    'refuses %j with 400',
    async (body) => {
      expect((await post('/demo/mint', body)).status).toBe(400);
    },
  );
});
