import { createPublicKey, verify } from 'node:crypto';
import { formatDidKey, parseCompactJws } from '@svc/codec';
import { encodeUlid, parseGrant } from '@svc/protocol';
import { LATIN_1, type Reply, startServer, unavailable } from '@svc/testkit/sdk/scripted-server';
import { compactVerify, importJWK } from 'jose';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  apiCall,
  createPrincipalClient,
  type PrincipalClientOptions,
  purchase,
  SvcError,
} from '../src/index.ts';
import {
  agent,
  allocation,
  created,
  GRANT_ID,
  ISSUER,
  NOW_MS,
  principalJwk,
  SHOP,
  signer,
} from './fixtures.ts';

const capabilities = [purchase({ maxAmountMinor: 50_000, currency: 'USD', resources: ['order/**'] })];
const request = { agent: agent.did, capabilities };

const clientOf = (baseUrl: string, options: Partial<PrincipalClientOptions> = {}) =>
  createPrincipalClient({
    baseUrl,
    apiKey: 'dk_principal_test',
    signer,
    now: () => NOW_MS,
    random: () => 0,
    timeoutMs: 5_000,
    ...options,
  });

const failure = async (work: Promise<unknown>): Promise<SvcError> => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SvcError)) throw new Error('expected an SvcError', { cause: error });
  return error;
};

afterEach(() => vi.unstubAllEnvs());

describe('grants.issue', () => {
  it('refuses a budget that the service would find malformed before it allocates an id', async () => {
    await using server = await startServer([created(allocation)]);
    const constraints = { maxAmount: 1, currency: 'USD', period: 'day' };
    const capabilities = [{ action: 'commerce:purchase', constraints } as const];
    const error = await failure(clientOf(server.baseUrl).grants.issue({ ...request, capabilities }));
    expect(error.message).toContain('period and maxPerPeriod must come together');
    expect([error.kind, server.received]).toEqual(['invalid-argument', []]);
  });

  it('allocates with the API key, and signs locally what the service allocated', async () => {
    await using server = await startServer([created(allocation)]);
    const issued = await clientOf(server.baseUrl).grants.issue({ ...request, audience: [SHOP] });
    expect(server.received).toMatchObject([
      { method: 'POST', path: '/grants', body: JSON.stringify({ agent: agent.did }) },
    ]);
    expect(server.received[0]?.headers.authorization).toBe('Bearer dk_principal_test');
    expect(issued).toMatchObject({
      grantId: GRANT_ID,
      issuer: ISSUER,
      validFrom: '2026-11-20T08:00:00Z',
      validUntil: '2026-12-20T08:00:00Z',
    });
    expect(parseGrant(issued.grant)).toMatchObject({
      ok: true,
      value: {
        kid: signer.kid,
        id: GRANT_ID,
        issuer: ISSUER,
        agent: agent.did,
        audience: [SHOP],
        capabilities,
      },
    });
  });

  it('signs the request as it was at the call, although the object changes before the answer', async () => {
    await using server = await startServer([created(allocation)]);
    const [purchase] = structuredClone(capabilities);
    const audience = [SHOP];
    const validUntil = new Date('2026-11-21T08:00:00Z');
    const reused: Record<string, unknown> = { ...request, capabilities: [purchase], audience, validUntil };
    const work = clientOf(server.baseUrl).grants.issue(reused as never);
    Object.assign(purchase?.constraints ?? {}, { maxAmount: 1_000_000 });
    audience.push('did:web:other.example');
    validUntil.setUTCFullYear(2027);
    delete reused.audience;
    Object.assign(reused, { agent: ISSUER, capabilities: [], lifetimeSeconds: 1 });
    const { grant } = await work;
    expect(parseGrant(grant)).toMatchObject({
      ok: true,
      value: { agent: agent.did, audience: [SHOP], capabilities, validUntil: '2026-11-21T08:00:00Z' },
    });
  });

  const NOON_MS = Date.parse('2026-11-20T12:00:00.010Z');
  const idAt = (ms: number) => `urn:svc:grant:${encodeUlid(ms, new Uint8Array(10))}`;

  it.each([
    ['a moment behind', 40, '2026-11-20T11:59:58Z'],
    ['right', 0, '2026-11-20T11:59:59Z'],
    ['five minutes behind', 300_000, '2026-11-20T11:54:59Z'],
    ['forty seconds ahead', -40_000, '2026-11-20T12:00:39Z'],
    ['five minutes ahead', -300_000, '2026-11-20T12:04:59Z'],
  ])(
    'sets validFrom one second before the allocation, so every node accepts the Grant, where the service’s clock is %s',
    async (_, behindMs, validFrom) => {
      await using server = await startServer([created({ ...allocation, id: idAt(NOON_MS - behindMs) })]);
      const issued = await clientOf(server.baseUrl, { now: () => NOON_MS }).grants.issue(request);
      expect(issued.validFrom).toBe(validFrom);
      expect(Date.parse(issued.validUntil) - Date.parse(validFrom)).toBe(30 * 86_400_000);
    },
  );

  it.each([
    [360_000, '360 s ahead of'],
    [-360_000, '360 s behind'],
  ])(
    'refuses to sign where the local clock is %i ms ahead, unless validFrom is given',
    async (aheadMs, says) => {
      await using server = await startServer([created({ ...allocation, id: idAt(NOON_MS - aheadMs) })]);
      const sign = vi.fn(signer.sign);
      const { grants } = clientOf(server.baseUrl, { now: () => NOON_MS, signer: { kid: signer.kid, sign } });
      expect(await failure(grants.issue(request))).toMatchObject({
        kind: 'configuration',
        message: expect.stringContaining(`the clock here is ${says}`),
      });
      expect(sign).not.toHaveBeenCalled();
      const validFrom = '2026-11-20T12:00:00Z';
      expect(await grants.issue({ ...request, validFrom })).toMatchObject({ validFrom });
    },
  );

  it('accepts a validUntil 90 days from now, and refuses one a second later before anything is sent', async () => {
    const nowMs = Date.parse('2026-11-20T08:00:00.010Z');
    const id = `urn:svc:grant:${encodeUlid(nowMs - 40, new Uint8Array(10))}`;
    await using server = await startServer([created({ ...allocation, id })]);
    const { grants } = clientOf(server.baseUrl, { now: () => nowMs });
    const late = await failure(
      grants.issue({ ...request, validUntil: new Date(nowMs + 90 * 86_400_000 + 1_000) }),
    );
    expect([late.kind, server.received]).toEqual(['invalid-argument', []]);
    const issued = await grants.issue({ ...request, validUntil: new Date(nowMs + 90 * 86_400_000) });
    expect([issued.validFrom, issued.validUntil]).toEqual(['2026-11-20T08:00:00Z', '2027-02-18T08:00:00Z']);
  });

  it('with a clock that is ahead, issues a 90-day Grant that holds at once and ends earlier by that difference', async () => {
    await using server = await startServer([created({ ...allocation, id: idAt(NOON_MS - 240_000) })]);
    const { grants } = clientOf(server.baseUrl, { now: () => NOON_MS });
    const issued = await grants.issue({ ...request, validUntil: new Date(NOON_MS + 90 * 86_400_000) });
    expect([issued.validFrom, issued.validUntil]).toEqual(['2026-11-20T11:56:01Z', '2027-02-18T11:56:01Z']);
  });

  it('does not sign a Grant that would end before its allocation, and the error names the clock', async () => {
    await using server = await startServer([created({ ...allocation, id: idAt(NOON_MS + 240_000) })]);
    const sign = vi.fn(signer.sign);
    const { grants } = clientOf(server.baseUrl, { now: () => NOON_MS, signer: { kid: signer.kid, sign } });
    expect(
      await failure(grants.issue({ ...request, validUntil: new Date(NOON_MS + 180_000) })),
    ).toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining("2026-11-20T12:04:00.010Z by the service's clock"),
    });
    expect(sign).not.toHaveBeenCalled();
  });

  it('signs exactly the claims of the profile, and the signature verifies with OpenSSL and with jose', async () => {
    await using server = await startServer([created(allocation)]);
    const { grant } = await clientOf(server.baseUrl).grants.issue(request);
    const jws = parseCompactJws(grant, 16_384);
    if (!jws.ok) throw new Error(jws.problem);
    const { kty, crv, x } = principalJwk;
    const key = createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
    expect(verify(null, Buffer.from(jws.signingInput), key, jws.signature)).toBe(true);
    const { payload, protectedHeader } = await compactVerify(
      grant,
      await importJWK({ kty, crv, x }, 'EdDSA'),
    );
    expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: signer.kid, typ: 'vc+jwt' });
    expect(JSON.parse(Buffer.from(payload).toString())).toEqual({
      '@context': [
        'https://www.w3.org/ns/credentials/v2',
        'https://www.w3.org/ns/credentials/undefined-terms/v2',
      ],
      id: GRANT_ID,
      type: ['VerifiableCredential', 'SvcGrant'],
      issuer: ISSUER,
      validFrom: '2026-11-20T08:00:00Z',
      validUntil: '2026-12-20T08:00:00Z',
      credentialStatus: allocation.credentialStatus,
      credentialSubject: { id: agent.did, capabilities },
    });
  });

  it('gives the same bytes for the same key and input', async () => {
    await using server = await startServer([created(allocation)]);
    const client = clientOf(server.baseUrl);
    const grants = await Promise.all([client.grants.issue(request), client.grants.issue(request)]);
    expect(new Set(grants.map(({ grant }) => grant)).size).toBe(1);
  });

  const many = (length: number) => Array.from({ length }, (_, n) => n);
  const buys = (maxAmount: number, currency: string, budgets: object = {}) => ({
    action: 'commerce:purchase',
    constraints: { maxAmount, currency, ...budgets },
  });
  const calls = (methods: string[]) => ({ action: 'api:call', constraints: { methods } });
  it.each<[string, object, RegExp]>([
    ['no capability', { capabilities: [] }, /capabilities/],
    ['17 capabilities', { capabilities: many(17).map(() => capabilities[0]) }, /capabilities/],
    ['a negative amount', { capabilities: [buys(-1, 'USD')] }, /maxAmount/],
    ['a fractional amount', { capabilities: [buys(9.99, 'USD')] }, /maxAmount|integer/],
    ['an amount above 2^53−1', { capabilities: [buys(2 ** 53, 'USD')] }, /maxAmount|integer|number/],
    ['an amount that is no number', { capabilities: [buys(Number.NaN, 'USD')] }, /maxAmount/],
    ['a currency in lower case', { capabilities: [buys(1, 'usd')] }, /currency/],
    ['a method in lower case', { capabilities: [calls(['get'])] }, /methods/],
    ['a method twice', { capabilities: [calls(['GET', 'GET'])] }, /methods/],
    ['no method', { capabilities: [calls([])] }, /methods/],
    ['an empty list of resources', { capabilities: [{ ...calls(['GET']), resources: [] }] }, /resources/],
    [
      'a resource with nine wildcards',
      { capabilities: [apiCall({ methods: ['GET'], resources: ['*a'.repeat(9)] })] },
      /resources/,
    ],
    ['an unknown action', { capabilities: [{ action: 'mail:send', constraints: {} }] }, /action/],
    ['an unknown member', { capabilities: [{ ...capabilities[0], note: 'x' }] }, /note/],
    ['no object', { capabilities: [null] }, /Capability/],
    ['an empty audience', { audience: [] }, /audience/],
    ['an audience twice', { audience: [SHOP, SHOP] }, /audience/],
    ['an audience of 65', { audience: many(65).map((n) => `did:web:s${n}.example`) }, /audience/],
    ['an audience that is no did:web', { audience: [agent.did] }, /audience/],
    ['a lifetime above 90 days', { lifetimeSeconds: 90 * 86_400 + 1 }, /90 days/],
    ['no lifetime', { lifetimeSeconds: 0 }, /lifetimeSeconds.* given 0/],
    ['a lifetime that is no number', { lifetimeSeconds: Number.NaN }, /lifetimeSeconds.* given NaN/],
    ['a lifetime of a fraction', { lifetimeSeconds: 1.5 }, /lifetimeSeconds.* given 1.5/],
    ['a lifetime as text', { lifetimeSeconds: '60' }, /lifetimeSeconds.* given a string/],
    [
      'an undefined lifetime, instead of taking 30 days',
      { lifetimeSeconds: undefined },
      /lifetimeSeconds.*30 days/,
    ],
    ['a lifetime under another name', { lifetimeSecs: 60 }, /no option "lifetimeSecs".*lifetimeSeconds/],
    ['an audience under another name', { audiences: [SHOP] }, /no option "audiences"/],
    ['an audience as text', { audience: SHOP }, /audience must be an array.* given a string/],
    [
      'an audience of something else',
      { audience: [new URL('https://shop.example')] },
      /audience.* given an array of 1 \(object\)/,
    ],
    [
      'an undefined audience, instead of allowing any',
      { audience: undefined },
      /audience.*any registered relying party/,
    ],
    ['a time as a number', { validUntil: NOW_MS }, /validUntil must be a Date.* given a number/],
    ['no Agent', { agent: undefined }, /agent must be .*did:key.* given nothing/],
    ['an Agent as an object', { agent }, /agent must be .*did:key.* given an object/],
    ['no capabilities at all', { capabilities: undefined }, /capabilities must be an array.* given nothing/],
    [
      'one capability without a list',
      { capabilities: capabilities[0] },
      /capabilities must be an array.* given an object/,
    ],
    ['a hole among the capabilities', { capabilities: Array(1) }, /Capability/],
    [
      'a capability that is no JSON',
      { capabilities: [{ ...capabilities[0], constraints: { maxAmount: 1n } }] },
      /Capability/,
    ],
    [
      'resources that are undefined',
      { capabilities: [{ ...capabilities[0], resources: undefined }] },
      /resources/,
    ],
    ...[['maxTotal'], ['maxUses'], ['maxPerPeriod'], ['maxPerPeriod', 'period']].map(
      (names): [string, object, RegExp] => [
        `an undefined ${names.join(' and ')}, instead of setting no budget`,
        {
          capabilities: [buys(1, 'USD', { ...Object.fromEntries(names.map((name) => [name, undefined])) })],
        },
        new RegExp(`${names[0]}.* given but undefined`),
      ],
    ),
    [
      'a budget that is no JSON',
      { capabilities: [buys(1, 'USD', { maxUses: () => 3 })] },
      /maxUses.* given but undefined/,
    ],
    [
      'constraints that are undefined',
      { capabilities: [{ ...capabilities[0], constraints: undefined }] },
      /constraints/,
    ],
    ['resources as text', { capabilities: [{ ...capabilities[0], resources: 'order/*' }] }, /resources/],
    ['resources under another name', { capabilities: [{ ...calls(['GET']), resource: ['x'] }] }, /resource/],
    ['an end before its beginning', { validUntil: '2026-11-20T07:59:59Z' }, /validFrom/],
    ['an end and a lifetime', { validUntil: '2026-11-21T08:00:00Z', lifetimeSeconds: 60 }, /not both/],
    ['a day that does not exist', { validFrom: '2026-02-30T08:00:00Z' }, /validFrom/],
    ['an invalid Date', { validFrom: new Date(Number.NaN) }, /validFrom/],
    ['an agent that is no did:key', { agent: SHOP }, /agent/],
    // The neutral element: under it one constant signature would be valid for every message.
    [
      'an agent with a key of small order',
      { agent: formatDidKey(Uint8Array.of(1, ...Array(31).fill(0))) },
      /agent/,
    ],
    [
      'more than a Grant may hold',
      {
        capabilities: many(16).map(() =>
          apiCall({
            methods: ['GET'],
            resources: ['https://x.example/'.padEnd(512, 'y')].flatMap((r) =>
              many(4)
                .map((n) => r + n)
                .map((r) => r.slice(-512)),
            ),
          }),
        ),
      },
      /16384/,
    ],
  ])('refuses %s before anything is sent', async (_, change, message) => {
    await using server = await startServer([created(allocation)]);
    const error = await failure(clientOf(server.baseUrl).grants.issue({ ...request, ...change }));
    expect(error).toMatchObject({ kind: 'invalid-argument', message: expect.stringMatching(message) });
    expect(server.received).toEqual([]);
  });

  it('refuses a request that is no object, or that inherits an unknown option', async () => {
    await using server = await startServer([created(allocation)]);
    const { grants } = clientOf(server.baseUrl);
    const inheriting = Object.assign(Object.create({ audiences: [SHOP] }), request);
    for (const given of [undefined, null, [request], 'x', inheriting]) {
      expect((await failure(grants.issue(given))).kind).toBe('invalid-argument');
    }
    expect(server.received).toEqual([]);
  });

  it('accepts times as Date or text, and a window of exactly 90 days', async () => {
    await using server = await startServer([created(allocation)]);
    const { grants } = clientOf(server.baseUrl);
    const from = { validFrom: new Date('2026-11-20T08:00:00.999Z') };
    expect(await grants.issue({ ...request, ...from, lifetimeSeconds: 90 * 86_400 })).toMatchObject({
      validFrom: '2026-11-20T08:00:00Z',
      validUntil: '2027-02-18T08:00:00Z',
    });
    expect(await grants.issue({ ...request, ...from, validUntil: '2026-11-20T08:00:01Z' })).toMatchObject({
      validUntil: '2026-11-20T08:00:01Z',
    });
  });

  it.each<[string, unknown, SvcError['kind']]>([
    ['another issuer', { ...allocation, issuer: 'did:web:other.example' }, 'configuration'],
    [
      'another agent',
      { ...allocation, agent: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK' },
      'bad-response',
    ],
    ['another id', { ...allocation, id: 'urn:svc:grant:1' }, 'bad-response'],
    [
      'another status purpose',
      { ...allocation, credentialStatus: { ...allocation.credentialStatus, statusPurpose: 'suspension' } },
      'bad-response',
    ],
    [
      'an index that is not the one of its id',
      { ...allocation, credentialStatus: { ...allocation.credentialStatus, statusListIndex: '1' } },
      'bad-response',
    ],
    [
      'a status entry with a further member',
      { ...allocation, credentialStatus: { ...allocation.credentialStatus, extra: 1 } },
      'bad-response',
    ],
    ['nothing', null, 'bad-response'],
    ['a list', [allocation], 'bad-response'],
  ])('signs nothing when the service allocates %s', async (_, body, kind) => {
    await using server = await startServer([created(body)]);
    const sign = vi.fn(signer.sign);
    const client = clientOf(server.baseUrl, { signer: { kid: signer.kid, sign } });
    expect((await failure(client.grants.issue(request))).kind).toBe(kind);
    expect(sign).not.toHaveBeenCalled();
  });

  it('refuses a signer whose key is no did:web key, and a missing signer', async () => {
    await using server = await startServer([created(allocation)]);
    const { grants } = clientOf(server.baseUrl, { signer: agent });
    expect((await failure(grants.issue(request))).kind).toBe('invalid-argument');
    const { signer: _, ...rest } = { signer, baseUrl: server.baseUrl, apiKey: 'k' };
    expect((await failure(createPrincipalClient(rest).grants.issue(request))).kind).toBe('configuration');
    expect(server.received).toEqual([]);
  });
});

const revoked: Reply = {
  json: { grant_id: GRANT_ID, revoked: true, revoked_at: '2026-11-20T08:01:00.000Z' },
};

describe('grants.revoke', () => {
  it('retries after 503, 429, gateway answers and lost connections until the service confirms', async () => {
    const limited = { ...(unavailable() as object), status: 429 };
    await using server = await startServer([
      unavailable(),
      'destroy',
      limited,
      { status: 524, text: 'A timeout occurred' },
      { status: 502, text: LATIN_1 },
      { status: 500, text: 'x'.repeat(1_048_577) },
      { ...(revoked as object), cut: true },
      revoked,
    ]);
    expect(await clientOf(server.baseUrl).grants.revoke(GRANT_ID)).toEqual({
      grantId: GRANT_ID,
      revokedAt: '2026-11-20T08:01:00.000Z',
    });
    expect(server.received.map(({ body }) => body)).toEqual(Array(8).fill(`{"grant_id":"${GRANT_ID}"}`));
  });

  it('retries for three times as long as other calls, and then reports the last answer of the service', async () => {
    const waits = Array.from({ length: 3 }, () => unavailable('1'));
    await using server = await startServer([...waits, unavailable('0'), unavailable('3')]);
    const client = clientOf(server.baseUrl, { timeoutMs: 2_000 });
    expect(await failure(client.grants.revoke(GRANT_ID))).toMatchObject({
      kind: 'refused',
      code: 'SERVICE_UNAVAILABLE',
      status: 503,
      requestId: 'req-503',
      retryAfterSeconds: 3,
    });
    expect(server.received).toHaveLength(5);
  });

  it('does not wait for a Retry-After beyond its deadline', async () => {
    await using server = await startServer([unavailable('3600')]);
    expect(await failure(clientOf(server.baseUrl).grants.revoke(GRANT_ID))).toMatchObject({
      retryAfterSeconds: 3600,
    });
    expect(server.received).toHaveLength(1);
  });

  it('reports an unknown outcome when every answer is lost, or when one is lost and the next is an error', async () => {
    await using lost = await startServer(['destroy']);
    const impatient = clientOf(lost.baseUrl, { timeoutMs: 100 });
    expect(await failure(impatient.grants.revoke(GRANT_ID))).toMatchObject({
      kind: 'outcome-unknown',
    });
    await using then = await startServer([
      'destroy',
      { status: 404, json: { error: 'NOT_FOUND', message: 'no' } },
    ]);
    expect(await failure(clientOf(then.baseUrl).grants.revoke(GRANT_ID))).toMatchObject({
      kind: 'outcome-unknown',
      code: 'NOT_FOUND',
      status: 404,
    });
    await using silent = await startServer(['silence']);
    const work = clientOf(silent.baseUrl).grants.revoke(GRANT_ID, { timeoutMs: 50 });
    expect(await failure(work)).toMatchObject({ kind: 'outcome-unknown', cause: { kind: 'timeout' } });
  });

  it('does not repeat a request that the service refused', async () => {
    await using server = await startServer([
      { status: 404, json: { error: 'NOT_FOUND', message: 'no such Grant' } },
    ]);
    expect(await failure(clientOf(server.baseUrl).grants.revoke(GRANT_ID))).toMatchObject({
      kind: 'refused',
      code: 'NOT_FOUND',
      message: 'no such Grant',
    });
    expect(server.received).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    [
      'another Grant',
      {
        grant_id: 'urn:svc:grant:01KAFQ0000ABCDEFGHJKMNPQRT',
        revoked: true,
        revoked_at: allocation.allocated_at,
      },
    ],
    ['no revocation', { grant_id: GRANT_ID, revoked: false, revoked_at: allocation.allocated_at }],
    ['no instant', { grant_id: GRANT_ID, revoked: true, revoked_at: 'now' }],
  ])('does not accept an answer about %s as a confirmation', async (_, json) => {
    await using server = await startServer([{ json }]);
    expect((await failure(clientOf(server.baseUrl).grants.revoke(GRANT_ID))).kind).toBe('bad-response');
  });

  it('ends as aborted when the caller’s signal fires, before or during the call', async () => {
    const controller = new AbortController();
    await using server = await startServer(() => {
      controller.abort();
      return 'silence';
    });
    const { grants } = clientOf(server.baseUrl);
    expect((await failure(grants.revoke(GRANT_ID, { signal: controller.signal }))).kind).toBe('aborted');
    expect((await failure(grants.revoke(GRANT_ID, { signal: AbortSignal.abort() }))).kind).toBe('aborted');
    expect(server.received).toHaveLength(1);
  });
});

const summary = (last: string) => ({
  id: `${GRANT_ID.slice(0, -1)}${last}`,
  principal: ISSUER,
  agent: agent.did,
  status_list: allocation.credentialStatus.statusListCredential,
  status_list_index: 94_567,
  allocated_at: allocation.allocated_at,
  revoked_at: null,
  state: 'active',
});

describe('listing Grants', () => {
  it('fetches every page, and the next one only when it is needed', async () => {
    await using server = await startServer([
      { json: { grants: [summary('A'), summary('B')], next_cursor: 'a b&c' } },
      { json: { grants: [], next_cursor: 'd' } },
      { json: { grants: [summary('C')], next_cursor: null } },
    ]);
    const ids: string[] = [];
    for await (const { id } of clientOf(server.baseUrl).grants.list({
      agent: agent.did,
      state: 'active',
      limit: 2,
    })) {
      if (id === summary('B').id) expect(server.received).toHaveLength(1);
      ids.push(id.slice(-1));
    }
    expect(ids).toEqual(['A', 'B', 'C']);
    const queries = server.received.map(({ path }) =>
      Object.fromEntries(new URL(path, 'http://x').searchParams),
    );
    const filter = { agent: agent.did, state: 'active', limit: '2' };
    expect(queries).toEqual([filter, { ...filter, cursor: 'a b&c' }, { ...filter, cursor: 'd' }]);
  });

  it('ends with an error where a cursor repeats', async () => {
    await using server = await startServer([{ json: { grants: [summary('A')], next_cursor: 'again' } }]);
    const drain = async () => {
      for await (const _ of clientOf(server.baseUrl).grants.list());
    };
    expect((await failure(drain())).kind).toBe('bad-response');
    expect(server.received).toHaveLength(2);
  });

  it.each<[string, unknown]>([
    ['no list', { grants: null, next_cursor: null }],
    ['no cursor', { grants: [] }],
    ['a Grant in no known state', { grants: [{ ...summary('A'), state: 'paused' }], next_cursor: null }],
  ])('refuses a page with %s', async (_, json) => {
    await using server = await startServer([{ json }]);
    expect((await failure(clientOf(server.baseUrl).grants.page())).kind).toBe('bad-response');
  });
});

const me = {
  subject: ISSUER,
  role: 'principal',
  key_id: '0123456789ab',
  service_did: 'did:web:svc.example',
  env: 'development',
};

describe('the transport', () => {
  it('reads the API key from the environment at the call', async () => {
    await using server = await startServer([{ json: { ...me, kind: 'managed' } }]);
    const client = createPrincipalClient({ baseUrl: `${server.baseUrl}/` });
    expect(await failure(client.me())).toMatchObject({ kind: 'configuration', message: /SVC_PRINCIPAL_KEY/ });
    vi.stubEnv('SVC_PRINCIPAL_KEY', 'dk_principal_env');
    expect(await client.me()).toEqual({ ...me, kind: 'managed' });
    expect(server.received).toMatchObject([
      { path: '/me', headers: { authorization: 'Bearer dk_principal_env' } },
    ]);
  });

  it('refuses an API key that no header can carry, and the error does not show it', async () => {
    const error = await failure(
      createPrincipalClient({ baseUrl: 'https://svc.example', apiKey: 'se\ncret' }).me(),
    );
    expect(error.kind).toBe('configuration');
    expect(error.message).not.toContain('cret');
  });

  it.each([
    'http://svc.example',
    'ftp://svc.example',
    'svc.example',
    'https://u:p@svc.example',
    'https://svc.example/?a',
  ])('refuses the base URL %s', (baseUrl) => {
    expect(() => createPrincipalClient({ baseUrl })).toThrow(
      expect.objectContaining({ kind: 'configuration' }),
    );
  });

  it.each<[string, object, RegExp]>([
    ['an unknown option', { timeout: 5 }, /no option "timeout".*timeoutMs/],
    ['a time-out as text', { timeoutMs: 'abc' }, /timeoutMs must be an integer.* given a string/],
    ['a time-out that no timer can wait for', { timeoutMs: 2 ** 31 }, /timeoutMs/],
    ['a time-out of 0', { timeoutMs: 0 }, /timeoutMs.* given 0/],
    ['allowHttp as text', { allowHttp: 'false' }, /allowHttp must be true or false/],
    ['a key that is no text', { apiKey: 4_711 }, /apiKey must be a string; given a number$/],
    ['no address', { baseUrl: undefined }, /baseUrl must be .* given nothing/],
    ['a JWK as signer', { signer: principalJwk }, /signer must be a signer \{ kid, sign \}/],
    ['a fetch that is no function', { fetch: {} }, /fetch must be a function/],
    [
      'a document of another service than serviceDid',
      { didDocument: { id: 'did:web:svc.example' }, serviceDid: 'did:web:other.example' },
      /didDocument is of did:web:svc\.example, and serviceDid is did:web:other\.example/,
    ],
  ])('refuses a client with %s', (_, change, message) => {
    const refused = expect.objectContaining({
      kind: 'configuration',
      message: expect.stringMatching(message),
    });
    expect(() => clientOf('https://svc.example', change)).toThrow(refused);
  });

  it.each<[string, object]>([
    ['a time-out as text', { timeoutMs: '50' }],
    ['a signal that is no AbortSignal', { signal: 'now' }],
  ])('sends nothing for a call with %s', async (_, call) => {
    await using server = await startServer([{ json: me }]);
    expect((await failure(clientOf(server.baseUrl).me(call))).kind).toBe('invalid-argument');
    expect(server.received).toEqual([]);
  });

  it('follows no redirect, so the API key is not sent elsewhere', async () => {
    await using elsewhere = await startServer([{ json: me }]);
    await using server = await startServer([
      { status: 307, headers: { location: `${elsewhere.baseUrl}/me` } },
    ]);
    expect((await failure(clientOf(server.baseUrl).me())).kind).toBe('bad-response');
    expect(elsewhere.received).toEqual([]);
  });

  it.each<[string, Reply]>([
    ['no JSON', { text: '<html>' }],
    ['a member twice', { text: '{"subject":"a","subject":"b"}' }],
    ['bytes that are not UTF-8', { text: Uint8Array.of(0x22, 0xff, 0x22) }],
    ['more than a megabyte', { text: `"${'x'.repeat(1_048_576)}"` }],
    ['nothing', { text: '' }],
    ['an unexpected status', { status: 204 }],
  ])('refuses an answer with %s', async (_, reply) => {
    await using server = await startServer([reply]);
    expect((await failure(clientOf(server.baseUrl).me())).kind).toBe('bad-response');
    expect(server.received).toHaveLength(1);
  });

  it('reports an unreachable service as a network error, and a slow one as a timeout', async () => {
    const gone = await startServer([]);
    await gone[Symbol.asyncDispose]();
    // The next attempt would come after any deadline.
    const once = clientOf(gone.baseUrl, { random: () => 1_000 });
    expect(await failure(once.grants.revoke(GRANT_ID))).toMatchObject({
      kind: 'network',
      message: `the connection to the service at ${new URL(gone.baseUrl).host} failed (ECONNREFUSED)`,
    });
    await using server = await startServer(['silence']);
    expect((await failure(clientOf(server.baseUrl).me({ timeoutMs: 50 }))).kind).toBe('timeout');
  });
});
