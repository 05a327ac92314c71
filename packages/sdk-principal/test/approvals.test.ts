import { capabilityForOnce, encodeUlid, parseGrant } from '@svc/protocol';
import { type DeniedRequest, deniedRequest, REQUEST_ID as ID } from '@svc/testkit/sdk/denied-request';
import { type Reply, startServer, unavailable } from '@svc/testkit/sdk/scripted-server';
import { describe, expect, it, vi } from 'vitest';
import { agentFromJwk, signProof } from '../src/agent.ts';
import { type AccessRequest, createPrincipalClient, SvcError } from '../src/index.ts';
import {
  ALLOCATED_AT,
  agent,
  allocation,
  created,
  GRANT_ID,
  ISSUER,
  NOW_MS,
  SHOP,
  signer,
  testJwk,
} from './fixtures.ts';

const action = { type: 'commerce:purchase', resource: 'order/7', amount: 90_000, currency: 'USD' } as const;
const capability = capabilityForOnce(action);
const world = {
  principal: ISSUER,
  relyingParty: SHOP,
  agent: agent.did,
  grantId: GRANT_ID,
  action,
  url: 'https://shop.example/orders',
  nowMs: NOW_MS,
};
const sign = (of: Partial<Parameters<typeof signProof>[0]> = {}) => {
  const signed = { agent, grantId: GRANT_ID, audience: SHOP, method: 'POST', url: world.url, action };
  return signProof({ ...signed, now: () => NOW_MS, ...of });
};
const proof = await sign();
const another = await sign();
const honest = await deniedRequest({ ...world, proof });
const asked = (change: object = {}): AccessRequest => ({ ...honest.request, ...change });

const me = {
  subject: ISSUER,
  role: 'principal',
  key_id: '3fa1c09be742',
  service_did: 'did:web:svc.example',
  env: 'development',
};
/** The answers of a service that has really denied the request it describes. */
const answerOf = (path: string, { receipt, didDocument }: DeniedRequest = honest): Reply => {
  if (path.includes('/decisions/')) return { json: { receipt, outcomes: [] } };
  if (path === '/.well-known/did.json') return { json: didDocument };
  if (path === '/me') return { json: me };
  if (path === '/grants') return created(allocation);
  return { json: { grant_id: GRANT_ID, revoked: true, revoked_at: '2026-11-20T08:00:01.000Z' } };
};
/** A service with these answers to an approval and to a revocation. */
const serve = (approval: Reply, denied: DeniedRequest = honest, revoke?: Reply) =>
  startServer(({ path }) => {
    if (path.includes('/access-requests/')) return approval;
    if (path === '/revoke' && revoke !== undefined) return revoke;
    return answerOf(path, denied);
  });
const optionsAt = (baseUrl: string) => ({
  baseUrl,
  apiKey: 'dk_principal_test',
  signer,
  now: () => NOW_MS,
  random: () => 0,
});
const clientAt = (baseUrl: string, timeoutMs = 10_000) =>
  createPrincipalClient({ ...optionsAt(baseUrl), timeoutMs });
const failure = (work: () => unknown) =>
  Promise.resolve()
    .then(work)
    .then(
      () => null,
      (error: unknown) => (error instanceof SvcError ? error : null),
    );

const approved = asked({
  task: { ...asked().task, status: 'approved' },
  result: {
    mode: 'urn:svc:access-request:mode:grant',
    grant_id: GRANT_ID,
    grant: 'a.b.c',
    approved_until: '2026-11-20T08:10:00.000Z',
  },
});

describe('an approval', () => {
  it('signs a Grant for the denied Action, Agent and relying party, for one use and ten minutes, and sends it', async () => {
    await using server = await serve({ json: approved });
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

  it.each([
    ['6 minutes ahead', 6],
    ['6 minutes behind', -6],
    ['11 minutes behind', -11],
    ['a day ahead', 1_440],
  ])(
    'begins one second before the allocation and lasts 600 s where the local clock is %s',
    async (_, minutes) => {
      await using server = await serve({ json: approved });
      const now = () => NOW_MS + minutes * 60_000;
      await createPrincipalClient({ ...optionsAt(server.baseUrl), now }).approvals.approve(asked());
      const { grant } = JSON.parse(server.received.at(-1)?.body ?? '{}') as { grant: string };
      expect(parseGrant(grant)).toMatchObject({
        ok: true,
        value: {
          validFromMs: Date.parse(ALLOCATED_AT) - 1_000,
          validUntilMs: Date.parse(ALLOCATED_AT) + 599_000,
        },
      });
    },
  );

  it.each([
    ['2 hours behind', -2],
    ['27 hours ahead', 27],
  ])('is refused where the local clock is %s, and the message names that clock', async (_, hours) => {
    await using server = await serve({ json: approved });
    const nowMs = NOW_MS + hours * 3_600_000;
    const { approvals } = createPrincipalClient({ ...optionsAt(server.baseUrl), now: () => nowMs });
    for (const work of [approvals.approve, approvals.check])
      expect(await failure(() => work(asked()))).toMatchObject({
        kind: 'configuration',
        message: expect.stringContaining(`clock says ${new Date(nowMs).toISOString()}`),
      });
    expect(server.received.some(({ method }) => method === 'POST')).toBe(false);
  });

  it.each([
    ['two seconds before the denial', -2],
    ['27 hours after it', 97_200],
  ])('is not signed where the service allocates the Grant %s', async (_, seconds) => {
    const at = Date.parse(honest.receipt.evaluated_at) + seconds * 1_000;
    const id = `urn:svc:grant:${encodeUlid(at, new Uint8Array(10))}`;
    await using server = await startServer(({ path }) =>
      path === '/grants' ? created({ ...allocation, id }) : answerOf(path),
    );
    const sign = vi.fn(signer.sign);
    const options = { ...optionsAt(server.baseUrl), signer: { kid: signer.kid, sign } };
    const error = await failure(() => createPrincipalClient(options).approvals.approve(asked()));
    expect([error?.kind, error?.message]).toEqual(['bad-response', expect.stringMatching(/26 hours/)]);
    expect(sign).not.toHaveBeenCalled();
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

  it.each(['approved', 'denied', 'expired', 'cancelled'] as const)(
    'of a request that is %s already is refused before anything is allocated or signed',
    async (status) => {
      await using server = await serve('silence');
      const request = asked({ task: { ...asked().task, status } });
      const error = await failure(() => clientAt(server.baseUrl).approvals.approve(request));
      expect([error?.kind, error?.message]).toEqual(['invalid-argument', expect.stringContaining(status)]);
      expect(server.received).toEqual([]);
    },
  );

  it('refuses a lifetime other than 1 to 900 whole seconds', async () => {
    await using server = await serve('silence');
    const { approvals } = clientAt(server.baseUrl);
    for (const lifetimeSeconds of [0, 901, 1.5])
      expect((await failure(() => approvals.approve(asked(), { lifetimeSeconds })))?.kind).toBe(
        'invalid-argument',
      );
    expect(server.received).toEqual([]);
  });

  it('that the service refuses revokes its Grant and throws the refusal', async () => {
    const refused = { status: 409, json: { error: 'CONFLICT', message: 'The request is expired already.' } };
    await using server = await serve(refused);
    const error = await failure(() => clientAt(server.baseUrl).approvals.approve(asked()));
    expect([error?.code, error?.message]).toEqual(['CONFLICT', expect.stringContaining('expired already')]);
    const last = server.received.at(-1);
    expect([last?.path, JSON.parse(last?.body ?? '{}')]).toEqual(['/revoke', { grant_id: GRANT_ID }]);
  });

  it('after a lost answer or a 503 is looked up: it succeeds if the request is approved, and else revokes its Grant', async () => {
    const later = unavailable('3600');
    const tooMany = { ...(later as object), status: 429 };
    for (const [ending, kind, state, isApproved] of [
      ['destroy', 'outcome-unknown', approved, true],
      ['destroy', 'outcome-unknown', asked(), false],
      [later, 'refused', approved, true],
      [later, 'refused', asked(), false],
      [tooMany, 'outcome-unknown', approved, true],
      [tooMany, 'outcome-unknown', asked(), false],
    ] as const) {
      let approvals = 0;
      await using server = await startServer(({ path }) => {
        if (path.endsWith('/approve')) {
          approvals += 1;
          return ending === tooMany && approvals === 1 ? unavailable() : ending;
        }
        return path.endsWith(`/access-requests/${ID}`) ? { json: state } : answerOf(path);
      });
      const error = await failure(() => clientAt(server.baseUrl, 1_000).approvals.approve(asked()));
      expect(server.received.some(({ path }) => path === '/revoke')).toBe(!isApproved);
      if (isApproved) expect(error).toBeNull();
      else
        expect([error?.kind, error?.message]).toEqual([
          kind,
          expect.stringMatching(/this Grant approves nothing: .* is revoked/),
        ]);
    }
  });

  it('that is refused and whose Grant cannot be revoked names the Grant and the end of its validity', async () => {
    const gone = { status: 409, json: { error: 'CONFLICT', message: 'The request is expired already.' } };
    const broken = { status: 500, json: { error: 'INTERNAL', message: 'no' } };
    await using server = await serve(gone, honest, broken);
    const error = await failure(() => clientAt(server.baseUrl).approvals.approve(asked()));
    expect([error?.code, error?.message]).toEqual(['CONFLICT', expect.stringContaining(GRANT_ID)]);
    expect(error?.message).toMatch(/could not be revoked.* in force until 2026-11-20T08:10:00Z/);
  });

  it('fails where the service answers that another Grant approved the request', async () => {
    const result = { ...approved.result, grant_id: GRANT_ID.replace('A', 'B') };
    await using server = await serve({ json: { ...approved, result } });
    const error = await failure(() => clientAt(server.baseUrl).approvals.approve(asked()));
    expect(error?.kind).toBe('bad-response');
    expect(server.received.at(-1)?.path).toBe('/revoke');
  });

  it('fails where the Receipt is of another service than serviceDid', async () => {
    await using server = await serve({ json: approved });
    const of = (serviceDid: string) =>
      createPrincipalClient({ ...optionsAt(server.baseUrl), serviceDid }).approvals.approve(asked());
    expect((await failure(() => of('did:web:other.example')))?.kind).toBe('receipt-invalid');
    expect(server.received.some(({ path }) => path === '/grants')).toBe(false);
    expect((await of('did:web:svc.test')).task.status).toBe('approved');
  });

  it('refuses an answer about another request, as get and reject do', async () => {
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

describe('approve and check refuse, before anything is allocated,', () => {
  const other = agentFromJwk(testJwk('another agent'));
  const dearer = { ...action, amount: 900_000 } as const;
  const stranger = {
    principal: 'did:web:mallory.example',
    agent: other.did,
    grantId: GRANT_ID.replace('A', 'B'),
  };
  const unseen = { ...action, resource: 'order/\u202e7' } as const;
  const asking = (of: Parameters<typeof capabilityForOnce>[0]) => ({
    action: of,
    capability: capabilityForOnce(of),
  });
  const denied = async (of: Parameters<typeof sign>[0]) =>
    deniedRequest({ ...world, action: of?.action ?? action, proof: await sign(of) });
  /**
   * A title, the error, what the request misstates (a part, or a whole request), and what the service signed instead.
   */
  type Lie = readonly [string, RegExp, object | Promise<DeniedRequest>, Promise<DeniedRequest> | null];
  const lies: readonly Lie[] = [
    ['another amount than the Agent signed for', /another Action/, asking(dearer), null],
    ['another resource', /another Action/, asking({ ...action, resource: 'order/8' }), null],
    ['another currency', /another Action/, asking({ ...action, currency: 'KWD' }), null],
    ['another relying party', /another relying party/, { relying_party: 'did:web:evil.example' }, null],
    ['another Agent', /another Agent/, { agent: other.did }, null],
    ['another Grant', /another Grant/, { grant_id: GRANT_ID.replace('A', 'B') }, null],
    ['another Principal', /another Principal/, { principal: 'did:web:other.example' }, null],
    [
      'a consistent denial of another Principal’s Agent',
      /another Principal/,
      sign({ agent: other, grantId: stranger.grantId }).then((proof) =>
        deniedRequest({ ...world, ...stranger, proof }),
      ),
      null,
    ],
    [
      'a Receipt about another Principal',
      /another Principal/,
      {},
      deniedRequest({ ...world, principal: stranger.principal, proof }),
    ],
    ['no Proof', /without the Proof/, { proof: null }, null],
    ['no denial', /names no denial/, { receipt_id: null }, null],
    ['a Proof that nobody signed', /has not signed/, { proof: `${proof.slice(0, -8)}AAAAAAAA` }, null],
    ['a Proof beside the Receipt of another Proof', /another Proof/, { proof: another }, null],
    [
      'a Proof from more than five minutes before the denial',
      /at another time/,
      denied({ now: () => NOW_MS - 301_000 }),
      null,
    ],
    ['a Proof from after the denial', /at another time/, denied({ now: () => NOW_MS + 6_000 }), null],
    ['a resource with invisible characters', /not seen/, denied({ action: unseen }), null],
    ['a Receipt of another Action', /another Action/, {}, deniedRequest({ ...world, proof, action: dearer })],
    [
      'a Receipt that the service did not sign',
      /not genuine/,
      {},
      Promise.resolve({
        ...honest,
        receipt: { ...honest.receipt, receipt: `${honest.receipt.receipt.slice(0, -8)}AAAAAAAA` },
      }),
    ],
    [
      'a denial for another cause than its authority',
      /P6/,
      {},
      deniedRequest({ ...world, proof }, (body) => {
        body.protocol.checks.P6 = false;
        body.reason = 'AUTHORITY_REVOKED';
      }),
    ],
  ];
  it.each(lies)('%s', async (_what, message, told, signed) => {
    const whole = told instanceof Promise ? await told : null;
    const request: AccessRequest = whole?.request ?? asked(told);
    await using server = await serve('silence', whole ?? (await signed) ?? honest);
    const { approvals } = clientAt(server.baseUrl);
    for (const work of [() => approvals.approve(request), () => approvals.check(request)]) {
      const error = await failure(work);
      expect([error?.kind, error?.message]).toEqual(['receipt-invalid', expect.stringMatching(message)]);
    }
    expect(server.received.some(({ method }) => method === 'POST')).toBe(false);
  });

  it('a request that changes into the honest one while its evidence is fetched', async () => {
    await using server = await serve('silence');
    const { approvals } = clientAt(server.baseUrl);
    for (const work of [approvals.approve, approvals.check]) {
      const live = asked(asking(dearer));
      const checked = failure(() => work(live));
      await Promise.resolve();
      Object.assign(live, asked());
      expect(await checked).toMatchObject({
        kind: 'receipt-invalid',
        message: expect.stringMatching(/another Action/),
      });
    }
    expect(server.received.some(({ method }) => method === 'POST')).toBe(false);
  });

  it('a request to a Principal other than that of the signer, else of `principal`, else of the API key', async () => {
    const { principal } = stranger;
    const denied = await deniedRequest({ ...world, principal, proof });
    await using server = await startServer(({ path }) =>
      path === '/me' ? { json: { ...me, subject: principal } } : answerOf(path, denied),
    );
    const { signer: _, ...unsigning } = optionsAt(server.baseUrl);
    const check = (options: object) =>
      failure(() =>
        createPrincipalClient({ ...unsigning, ...options }).approvals.check(denied.request as never),
      );
    expect((await check({ signer }))?.message).toMatch(`another Principal than ${ISSUER}`);
    expect((await check({ signer, principal }))?.message).toMatch(`another Principal than ${ISSUER}`);
    expect((await check({ principal: ISSUER }))?.message).toMatch(`another Principal than ${ISSUER}`);
    expect(await check({ principal })).toBeNull();
    expect(await check({})).toBeNull();
  });

  it('a Receipt under another key than that of the pinned DID document', async () => {
    const { didDocument } = honest;
    await using server = await serve('silence');
    const pinnedTo = (document: object) =>
      createPrincipalClient({ ...optionsAt(server.baseUrl), didDocument: document }).approvals;
    const verificationMethod = didDocument.verificationMethod.map((method) => ({
      ...method,
      publicKeyMultibase: agent.did.slice('did:key:'.length),
    }));
    const error = await failure(() => pinnedTo({ ...didDocument, verificationMethod }).check(asked()));
    expect([error?.kind, error?.message]).toEqual(['receipt-invalid', expect.stringMatching(/not genuine/)]);
    const { signedAt } = await pinnedTo(didDocument).check(asked());
    expect(signedAt.getTime()).toBe(Math.floor(NOW_MS / 1_000) * 1_000);
    expect(server.received.map(({ path }) => path)).not.toContain('/.well-known/did.json');
  });
});
