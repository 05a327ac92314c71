/** `POST /verify/dry-run`: the result that a verification would have, and that the call has no effect. */
import { createPrincipalClient, generatePrincipalKey, purchase, signerFromJwk } from '@svc/sdk-principal';
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { randomSlug, withDeployment } from '../../world/deployment.ts';
import {
  ACTION,
  type HeldGrant,
  issueGrant,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../../world/tenants.ts';

const deployment = withDeployment();
let tenants: Tenants;
let grant: HeldGrant;

beforeAll(async () => {
  tenants = await deployment.createTenants();
  grant = await issueGrant(tenants);
});

const call = (path: '/verify' | '/verify/dry-run', body: unknown) =>
  deployment.call('POST', path, { key: tenants.rpKey, body });
const dryRun = async (body: unknown) => {
  const answer = await call('/verify/dry-run', body);
  expect(answer.status).toBe(200);
  return answer.json as {
    readonly would: string;
    readonly reason: string | null;
    readonly remedy: string | null;
    readonly checks: Readonly<Record<string, boolean | 'skipped'>>;
    readonly failed: readonly { check: string; compared: unknown[]; remedy: string }[];
    readonly closest_capability: { index: number; conditions: { check: string; holds: boolean }[] } | null;
  };
};
const decisions = async () =>
  (await deployment.call('GET', '/decisions?limit=100', { key: tenants.rpKey })).json as {
    items: { receipt_id: string }[];
  };

describe('POST /verify/dry-run answers 200', () => {
  it('and neither spends the Proof nor stores a decision: a verification after three dry runs is an ALLOW', async () => {
    const body = await verifyBody(tenants, grant);
    const before = await decisions();
    for (let i = 0; i < 3; i++) expect(await dryRun(body)).toMatchObject({ would: 'allow', reason: null });
    expect(await decisions()).toEqual(before);
    expect(receiptOf(await call('/verify', body)).decision).toBe('ALLOW');
  });

  it('without decision, Receipt or authority', async () => {
    const answer = await call('/verify/dry-run', await verifyBody(tenants, grant));
    expect(answer.json).toMatchObject({ dry_run: 'nothing was decided' });
    for (const member of ['decision', 'receipt', 'receipt_id', 'allowed', 'authority'])
      expect(answer.json).not.toHaveProperty(member);
    expect(answer.text).not.toMatch(/ALLOW/);
  });

  it('and reports a Proof that a verification has spent as PROOF_REPLAYED; the remedy is a new Proof', async () => {
    const body = await verifyBody(tenants, grant);
    await call('/verify', body);
    expect(await dryRun(body)).toMatchObject({
      would: 'deny',
      reason: 'PROOF_REPLAYED',
      failed: [{ check: 'T5', remedy: 'The Agent must sign a new Proof: each one is good for one ALLOW.' }],
    });
  });

  it('and lists every failed check, the compared values and the closest Capability', async () => {
    const other = { ...ACTION, amount: 2_000 };
    const body = { ...(await verifyBody(tenants, grant)), action: other };
    const run = await dryRun(body);
    expect(run.failed.map(({ check }) => check)).toEqual(['P14', 'P19']);
    expect(run.failed[0]?.compared).toEqual([
      { what: 'action.amount of the Proof', found: String(ACTION.amount), expected: '2000' },
    ]);
    expect(run.failed[1]?.compared).toEqual([
      { what: 'action.amount', found: '2000', expected: 'at most 1000 (maxAmount)' },
    ]);
    expect(run.closest_capability?.conditions.filter(({ holds }) => !holds)).toMatchObject([
      { check: 'P19' },
    ]);
  });

  it('with the reason and checks of a verification, also for a malformed Grant, Proof or Action', async () => {
    const body = await verifyBody(tenants, grant);
    for (const asked of [
      { ...body, grant: '' },
      { ...body, proof: 'a.b.c' },
      { ...body, action: { type: 'x' } },
      { ...body, action: { ...ACTION, currency: 'EUR' } },
    ]) {
      const run = await dryRun(asked);
      const receipt = receiptOf(await call('/verify', asked));
      expect(run.reason).toBe(receipt.reason);
      expect(run.checks).toEqual({ ...receipt.protocol.checks, ...receipt.trust.checks });
    }
  });

  it('and sees a revocation that was answered before it, although the Grant was cached', async () => {
    const revoked = await issueGrant(tenants);
    const body = await verifyBody(tenants, revoked);
    expect((await dryRun(body)).would).toBe('allow');
    const answer = await deployment.call('POST', '/revoke', {
      key: tenants.principalKey,
      body: { grant_id: revoked.grantId },
    });
    expect(answer.status).toBe(200);
    expect(await dryRun(body)).toMatchObject({
      ...{ would: 'deny', reason: 'AUTHORITY_REVOKED' },
      remedy: expect.stringMatching(/^The Agent needs another Grant/),
    });
  });

  it('and reports a paused Grant as paused, with the remedy to wait; after the resume it would allow', async () => {
    const paused = await issueGrant(tenants);
    const target = { key: tenants.principalKey, body: { scope: 'grant', subject: paused.grantId } };
    expect((await deployment.call('POST', '/pauses', target)).status).toBe(200);
    expect(await dryRun(await verifyBody(tenants, paused))).toMatchObject({
      reason: 'AUTHORITY_REVOKED',
      remedy: expect.stringMatching(/^Wait until the Principal resumes it/),
      failed: [
        {
          check: 'P6',
          compared: [{ what: 'state of the Grant', found: 'paused', expected: 'active' }],
          remedy: expect.stringMatching(/^Wait until the Principal resumes it/),
        },
      ],
    });
    await deployment.call('POST', '/pauses/resume', target);
    expect((await dryRun(await verifyBody(tenants, paused))).would).toBe('allow');
  });
});

describe('A Grant forged by a stranger under the id of another Grant', () => {
  it('reveals in a dry run no remaining budget, no further match and no pause of the real Grant', async () => {
    // After one ALLOW of 100 there are 900 left, less than one purchase may be.
    const capability = purchase({
      ...{ maxAmountMinor: 1_000, currency: 'USD', resources: ['order/*'] },
      ...{ maxTotalMinor: 1_000, maxUses: 20 },
    });
    const owner = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
    const issued = await owner.principal.grants.issue({
      agent: owner.agent.did,
      capabilities: [capability],
    });
    const own = await verifyBody(owner, issued);
    expect(
      receiptOf(await deployment.call('POST', '/verify', { key: owner.rpKey, body: own })).decision,
    ).toBe('ALLOW');

    // A stranger's key, for a Grant with the id and the Agent of the other one.
    const { privateJwk, registration } = await generatePrincipalKey();
    const slug = randomSlug('stranger');
    const stranger = await deployment.register('/principals', {
      kind: 'managed',
      slug,
      keys: [registration],
    });
    const principal = createPrincipalClient({
      ...{ baseUrl: deployment.process.baseUrl, apiKey: stranger.key },
      signer: signerFromJwk(privateJwk, `${stranger.did}#key-1`),
      fetch: async (url, init) => {
        const answer = await fetch(url, init);
        const text = (await answer.text()).replace(/urn:svc:grant:[0-9A-Z]{26}/, issued.grantId);
        return new Response(text, { status: answer.status, headers: { 'content-type': 'application/json' } });
      },
    });
    const forged = await principal.grants.issue({ agent: owner.agent.did, capabilities: [capability] });
    expect(forged.grantId).toBe(issued.grantId);
    const body = await verifyBody(owner, forged);
    const ask = async (asked: unknown) =>
      (await deployment.call('POST', '/verify/dry-run', { key: owner.rpKey, body: asked })).json;
    expect(JSON.stringify(await ask(own))).toContain('at most 19 (left of maxUses)');

    // An amount that is left and one that is not have the same answer: no balances are read.
    const verify = async (asked: unknown) =>
      receiptOf(await deployment.call('POST', '/verify', { key: owner.rpKey, body: asked }));
    for (const amount of [900, 901]) {
      const asked = { ...(await verifyBody(owner, forged)), action: { ...ACTION, amount } };
      const receipt = await verify(asked);
      expect(receipt).toMatchObject({ decision: 'DENY', reason: 'AUTHORITY_REVOKED' });
      const checks = { ...receipt.protocol.checks, ...receipt.trust.checks };
      expect(checks).toMatchObject({ P3: true, P6: false, P18: true, P19: 'skipped', P20: 'skipped' });
      expect((await ask(asked)).checks).toEqual(checks);
    }
    // Nor with the Grant itself, where its Proof is not for this Action: above `maxAmount` P19 is decided without
    // balances.
    for (const [amount, judged] of [
      [901, 'skipped'],
      [1_001, false],
    ] as const) {
      const told = await ask({ ...own, action: { ...ACTION, amount } });
      expect(told).toMatchObject({ reason: 'PROOF_ACTION_MISMATCH', checks: { P19: judged } });
      expect(JSON.stringify(told)).not.toContain('left of');
    }
    const pause = { key: owner.principalKey, body: { scope: 'grant', subject: issued.grantId } };
    for (const isPaused of [false, true]) {
      if (isPaused) expect((await deployment.call('POST', '/pauses', pause)).status).toBe(200);
      const told = await ask(body);
      expect(told).toMatchObject({ would: 'deny', checks: { P3: true, P6: false } });
      expect(JSON.stringify(told)).not.toContain('left of');
      expect(told.failed).toMatchObject([
        {
          check: 'P6',
          compared: [{ what: 'issuer', found: stranger.did, expected: 'as the service allocated it' }],
        },
      ]);
    }
  });
});

/** The signer of a Proof, and the Grant that it names. */
type Signing = Pick<Tenants, 'agent'> & Pick<HeldGrant, 'grantId'>;

describe('A dry run by a relying party that may not use the Grant', () => {
  it('does not reveal the remaining budget: outside the audience, or with a Proof for another party, Agent or Grant', async () => {
    const rp = { profile: 'svc-base-v2' };
    const owner = await deployment.createTenants({ rp });
    const other = await deployment.createTenants({ rp });
    const capability = purchase({
      ...{ maxAmountMinor: 1_000, currency: 'USD', resources: ['order/*'], maxTotalMinor: 1_000 },
    });
    const issue = (audience?: readonly string[]) =>
      owner.principal.grants.issue({
        ...{ agent: owner.agent.did, capabilities: [capability] },
        ...(audience === undefined ? {} : { audience }),
      });
    const ask = async (
      held: HeldGrant,
      proofFor: Tenants,
      asking: Tenants,
      signedBy: Partial<Signing> = {},
    ) => {
      const { agent = owner.agent, grantId = held.grantId } = signedBy;
      const proven = await verifyBody({ ...owner, rpDid: proofFor.rpDid, agent }, { ...held, grantId });
      const body = { ...proven, grant: held.grant };
      return JSON.stringify(
        (await deployment.call('POST', '/verify/dry-run', { key: asking.rpKey, body })).json,
      );
    };
    const [forOwner, forAll] = [await issue([owner.rpDid]), await issue()];
    expect(await ask(forOwner, owner, owner)).toContain('at most 1000 (left of maxTotal)');
    expect(await ask(forAll, other, other)).toContain('at most 1000 (left of maxTotal)');
    const agent = agentFromJwk((await generateAgentKey()).privateJwk);
    for (const told of [
      await ask(forOwner, other, other),
      await ask(forAll, owner, other),
      await ask(forAll, other, other, { agent }),
      await ask(forAll, other, other, { grantId: forOwner.grantId }),
    ]) {
      expect(told).toContain('at most 1000 (maxAmount)');
      expect(told).not.toContain('left of');
    }
  });
});

describe('POST /verify/dry-run answers 503', () => {
  it('like /verify, when the Action draws on a budget of a withheld Grant, whatever remains of it', async () => {
    const owner = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
    for (const [maxUses, would] of [
      [2, 'allow'],
      [1, 'deny'],
    ] as const) {
      const capability = purchase({
        ...{ maxAmountMinor: 1_000, currency: 'USD', resources: ['order/*'], maxUses },
      });
      const issued = await owner.principal.grants.issue({
        ...{ agent: owner.agent.did, capabilities: [capability] },
      });
      const ask = async (path: '/verify' | '/verify/dry-run') =>
        deployment.call('POST', path, { key: owner.rpKey, body: await verifyBody(owner, issued) });
      expect(receiptOf(await ask('/verify')).decision).toBe('ALLOW');
      const withhold = (by: number | null) =>
        deployment.sql.query('update grants set withheld_by = $2 where id = $1', [issued.grantId, by]);
      await withhold(1);
      for (const path of ['/verify/dry-run', '/verify'] as const)
        expect(await ask(path), path).toMatchObject({ status: 503, json: { error: 'SERVICE_UNAVAILABLE' } });
      await withhold(null);
      expect((await ask('/verify/dry-run')).json).toMatchObject({ would });
    }
  });
});

describe('POST /verify/dry-run answers 400 and 401', () => {
  it('400 to a malformed envelope, 401 to a Principal key and to the operator', async () => {
    expect((await call('/verify/dry-run', { grant: 1 })).status).toBe(400);
    const body = await verifyBody(tenants, grant);
    for (const key of [tenants.principalKey, ADMIN_TOKEN])
      expect((await deployment.call('POST', '/verify/dry-run', { key, body })).status).toBe(401);
  });
});
