import { capabilityForOnce, parseGrant } from '@svc/protocol';
import { type Reply, startServer } from '@svc/testkit/sdk/scripted-server';
import { describe, expect, it } from 'vitest';
import { type AccessRequest, createPrincipalClient, SvcError } from '../src/index.ts';
import { agent, allocation, created, GRANT_ID, ISSUER, NOW_MS, SHOP, signer } from './fixtures.ts';

const ID = 'arq_01M7VZGC008Q2R7V9X1C4E6H8S';
const action = { type: 'commerce:purchase', resource: 'order/7', amount: 90_000, currency: 'USD' } as const;
const capability = capabilityForOnce(action);
const asked = (change: object = {}): AccessRequest =>
  ({
    task: {
      id: ID,
      status: 'pending',
      status_endpoint: `https://svc.example/access/v1/requests/${ID}`,
      expires_at: '2026-11-20T08:15:00.000Z',
      links: { cancel: `https://svc.example/access/v1/requests/${ID}/cancel` },
    },
    relying_party: SHOP,
    principal: ISSUER,
    grant_id: GRANT_ID,
    agent: agent.did,
    action,
    capability,
    requested_at: '2026-11-20T08:00:00.000Z',
    decided_at: null,
    reason: null,
    result: null,
    ...change,
  }) as unknown as AccessRequest;

const me = {
  subject: ISSUER,
  role: 'principal',
  key_id: '3fa1c09be742',
  service_did: 'did:web:svc.example',
  env: 'development',
};
/** A service that answers an approval so. */
const serve = (approval: Reply) =>
  startServer(({ path }) => {
    if (path === '/me') return { json: me };
    if (path === '/grants') return created(allocation);
    if (path === '/revoke')
      return { json: { grant_id: GRANT_ID, revoked: true, revoked_at: '2026-11-20T08:00:01.000Z' } };
    return approval;
  });
const clientAt = (baseUrl: string) =>
  createPrincipalClient({ baseUrl, apiKey: 'dk_principal_test', signer, now: () => NOW_MS, random: () => 0 });
const failure = (work: () => unknown) =>
  Promise.resolve()
    .then(work)
    .then(
      () => null,
      (error: unknown) => (error instanceof SvcError ? error : null),
    );

describe('an approval', () => {
  it('signs the Action that was denied, for that Agent and relying party, once, for ten minutes, and sends it', async () => {
    await using server = await serve({ json: asked({ task: { ...asked().task, status: 'approved' } }) });
    const { approvals } = clientAt(server.baseUrl);
    expect(approvals.terms(asked())).toEqual({
      agent: agent.did,
      audience: [SHOP],
      capabilities: [capability],
      lifetimeSeconds: 600,
    });
    expect((await approvals.approve(asked())).task.status).toBe('approved');
    const sent = server.received.at(-1);
    expect(sent?.path).toBe(`/principals/${encodeURIComponent(ISSUER)}/access-requests/${ID}/approve`);
    const signed = parseGrant((JSON.parse(sent?.body ?? '{}') as { grant: string }).grant);
    if (!signed.ok) throw new Error(signed.problem);
    expect(signed.value).toMatchObject({
      id: GRANT_ID,
      agent: agent.did,
      audience: [SHOP],
      capabilities: [capability],
    });
    expect(signed.value.validUntilMs - signed.value.validFromMs).toBe(600_000);
  });

  it.each<[string, object]>([
    [
      'a capability that allows more than the Action',
      { capability: { ...capability, resources: ['order/*'] } },
    ],
    [
      'a greater amount',
      { capability: { ...capability, constraints: { ...capability?.constraints, maxAmount: 1_000_000 } } },
    ],
    [
      'no limit of uses',
      { capability: { ...capability, constraints: { maxAmount: 90_000, currency: 'USD' } } },
    ],
    ['every resource', { capability: { ...capability, resources: undefined } }],
    ['a wildcard in the Action itself', { action: { ...action, resource: 'order/*' } }],
    ['an Action with more members', { action: { ...action, maxUses: 9 } }],
  ])('of %s is refused before anything is allocated or signed', async (_what, change) => {
    await using server = await serve('silence');
    const error = await failure(() => clientAt(server.baseUrl).approvals.approve(asked(change)));
    expect([error?.kind, server.received]).toEqual(['invalid-argument', []]);
  });

  it('lasts 900 seconds at most', async () => {
    await using server = await serve('silence');
    const { approvals } = clientAt(server.baseUrl);
    for (const lifetimeSeconds of [0, 901, 1.5])
      expect((await failure(() => approvals.approve(asked(), { lifetimeSeconds })))?.kind).toBe(
        'invalid-argument',
      );
    expect(server.received).toEqual([]);
  });

  it('that is refused leaves no Grant in force: it is revoked, and the refusal is what is thrown', async () => {
    const refused = { status: 409, json: { error: 'CONFLICT', message: 'The request is expired already.' } };
    await using server = await serve(refused);
    const error = await failure(() => clientAt(server.baseUrl).approvals.approve(asked()));
    expect([error?.code, error?.message]).toEqual(['CONFLICT', expect.stringContaining('expired already')]);
    const last = server.received.at(-1);
    expect([last?.path, JSON.parse(last?.body ?? '{}')]).toEqual(['/revoke', { grant_id: GRANT_ID }]);
  });

  it('takes no answer about another request', async () => {
    const task = { ...asked().task, id: ID.replace('S', 'T') };
    await using server = await serve({ json: asked({ task }) });
    const { approvals } = clientAt(server.baseUrl);
    for (const work of [
      () => approvals.approve(asked()),
      () => approvals.get(ID),
      () => approvals.reject(ID),
    ])
      expect((await failure(work))?.kind).toBe('bad-response');
  });
});
