import { type JsonObject, type JsonValue, portableCrypto } from '@svc/codec';
import { type ReceiptBody, requestHashOf } from '@svc/protocol';
import { sampleOf } from '@svc/testkit/sampled';
import { LATIN_1, type Reply, startServer, unavailable } from '@svc/testkit/sdk/scripted-server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  checkReceipt,
  createVerifier,
  ReceiptError,
  RequestMismatchError,
  SvcError,
  type VerifierOptions,
} from '../src/index.ts';
import {
  agent,
  decide,
  grant,
  grantId,
  ISSUER,
  NOW_MS,
  newProof,
  ORIGIN,
  olderDocument,
  order,
  type ReceiptChange,
  request,
  SERVICE,
  SHOP,
  serviceDocument,
  serviceScript,
  signReceipt,
} from './world.ts';

const verifierOf = (baseUrl: string, options: Partial<VerifierOptions> = {}) =>
  createVerifier({
    baseUrl,
    apiKey: 'dk_rp_test',
    didDocument: serviceDocument,
    serviceDid: SERVICE,
    relyingParty: SHOP,
    now: () => NOW_MS,
    random: () => 0,
    ...options,
  });

const input = async (change: Parameters<typeof newProof>[0] = {}) => ({
  grant,
  proof: await newProof(change),
  action: order,
  request,
});

const failure = async (work: Promise<unknown>): Promise<SvcError> => {
  const error = await work.then(
    (value) => value,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SvcError)) throw new Error('expected an SvcError', { cause: error });
  return error;
};

afterEach(() => vi.unstubAllEnvs());

describe('verify', () => {
  it('returns an ALLOW with its Receipt and the authority', async () => {
    await using server = await startServer(serviceScript());
    const one = await input();
    const verdict = await verifierOf(server.baseUrl).verify(one);
    expect(verdict).toMatchObject({
      allowed: true,
      decision: 'ALLOW',
      authority: { action: 'commerce:purchase', resources: ['order/**'] },
      receipt: { agent: agent.did, grant_id: grantId, principal: { id: ISSUER, verification: 'domain' } },
    });
    expect(server.received).toMatchObject([{ method: 'POST', path: '/verify' }]);
    expect(server.received[0]?.headers.authorization).toBe('Bearer dk_rp_test');
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual({ grant, proof: one.proof, action: order });
  });

  it('returns a DENY with its reason as a value, not as an error', async () => {
    await using server = await startServer(serviceScript());
    const verifier = verifierOf(server.baseUrl);
    const one = await input();
    await verifier.verify(one);
    expect(await verifier.verify(one)).toMatchObject({
      allowed: false,
      decision: 'DENY',
      reason: 'PROOF_REPLAYED',
      helpUrl: 'https://svc.example/guide/reasons/PROOF_REPLAYED',
    });
    expect(await verifier.verify({ ...one, grant: 'x', proof: '' })).toMatchObject({
      reason: 'GRANT_MALFORMED',
    });
    const dear = { ...order, amount: 50_001 } as const;
    expect(await verifier.verify({ ...(await input({ action: dear })), action: dear })).toMatchObject({
      reason: 'AMOUNT_EXCEEDS_AUTHORITY',
    });
  });

  it('decides about the Action as it was at the call, although the object changes later', async () => {
    await using server = await startServer(serviceScript());
    const one = { ...(await input()), action: { ...order } };
    const work = verifierOf(server.baseUrl).verify(one);
    one.action.resource = 'order/2';
    expect(await work).toMatchObject({ allowed: true });
  });
});

describe('the guide page', () => {
  it.each([
    ['https://svc.example/api/', 'did:web:svc.example', 'https://svc.example/api'],
    ['http://localhost:8787', 'did:web:localhost%3A8787', 'http://localhost:8787'],
    ['http://10.0.0.7:8080', 'did:web:svc.example', 'https://svc.example'],
    ['https://svc.internal', 'did:web:svc.example%3A8443', 'https://svc.example:8443'],
  ])(
    'has an address that Agents can reach: baseUrl %s and service DID %s give publicUrl %s',
    (baseUrl, serviceDid, publicUrl) => {
      expect(createVerifier({ baseUrl, serviceDid, allowHttp: true }).publicUrl).toBe(publicUrl);
    },
  );

  it('is named in helpUrl of the error that a call throws; a network error names none', async () => {
    const unreachable = verifierOf('http://127.0.0.1:1', { timeoutMs: 250 });
    const one = await input();
    const helpOf = async (work: Promise<unknown>) => (await failure(work)).helpUrl;
    const at = 'http://127.0.0.1:1/guide/kinds';
    // Whether the deadline passes before or within an attempt depends on the machine, and decides the kind.
    for (const call of [() => unreachable.verify(one), () => unreachable.decisions.list().next()]) {
      const error = await failure(call());
      expect(['outcome-unknown', 'network', 'timeout']).toContain(error.kind);
      expect(error.helpUrl).toBe(error.kind === 'network' ? null : `${at}/${error.kind}`);
    }
    expect(await helpOf(unreachable.decisions.get('drc_x'))).toBe(`${at}/invalid-argument`);
    const other = { ...one, request: { ...request, method: 'PUT' } };
    expect(await helpOf(unreachable.verify(other))).toBe(`${at}/request-mismatch`);
    const wrong = { baseUrl: 'https://svc.example/', serviceDid: SERVICE, timeoutMs: 0 };
    const made = Promise.resolve().then(() => createVerifier(wrong));
    expect(await helpOf(made)).toBe('https://svc.example/guide/kinds/configuration');
    await using server = await startServer(() => ({
      status: 403,
      json: { error: 'FORBIDDEN', message: 'No.' },
      headers: { link: '<https://svc.example/guide/errors/FORBIDDEN>; rel="help"' },
    }));
    expect(await helpOf(verifierOf(server.baseUrl).me())).toBe('https://svc.example/guide/errors/FORBIDDEN');
  });
});

describe('verify and its attempts', () => {
  const keysOf = (received: readonly { headers: Record<string, unknown> }[]) =>
    received.map(({ headers }) => headers['idempotency-key']);

  it('repeats the same body under the same idempotency key after 503, 429 and lost answers', async () => {
    const one = await input();
    const allow = { json: await decide(one, false) };
    const limited = { ...(unavailable() as object), status: 429 };
    await using server = await startServer([
      unavailable(),
      limited,
      'destroy',
      { ...allow, cut: true },
      allow,
    ]);
    const verdict = await verifierOf(server.baseUrl).verify(one);
    expect(verdict.allowed).toBe(true);
    expect(new Set(keysOf(server.received)).size).toBe(1);
    expect(keysOf(server.received)[0]).toMatch(/^[A-Za-z0-9_-]{32}$/);
    expect(new Set(server.received.map(({ body }) => body)).size).toBe(1);
    expect(server.received).toHaveLength(5);
  });

  it('uses another idempotency key for a second call with the same Proof, so a replay does not get the stored ALLOW', async () => {
    await using server = await startServer(serviceScript());
    const verifier = verifierOf(server.baseUrl);
    const one = await input();
    await verifier.verify(one);
    await verifier.verify(one);
    expect(new Set(keysOf(server.received)).size).toBe(2);
  });

  it.each<[string, Reply[]]>([
    ['the connection drops after the request has been read', ['destroy']],
    ['the answer breaks off', [{ json: { decision: 'ALLOW' }, cut: true }]],
    ['no answer comes before the deadline', ['silence']],
    ['a gateway lost it', [{ status: 502, text: 'Bad Gateway' }]],
    ['a gateway gave it up', [{ status: 524, text: 'A timeout occurred' }]],
    ['a gateway gave it up in Latin-1', [{ status: 502, text: LATIN_1 }]],
    ['a gateway has a code of its own', [{ status: 500, json: { error: 'GATEWAY_TIMEOUT' } }]],
    ['a fault came after it', [{ status: 500, json: { error: 'INTERNAL', message: '' } }]],
    ['one answer is lost and the next is 503', ['destroy', unavailable()]],
    [
      'one answer is lost and the next is 401',
      ['destroy', { status: 401, json: { error: 'UNAUTHORIZED', message: '' } }],
    ],
    [
      'one answer is 503 and the next is 401',
      [unavailable(), { status: 401, json: { error: 'UNAUTHORIZED', message: '' } }],
    ],
    [
      'one answer is 503 and the next asks for a pause beyond the deadline',
      [unavailable(), { ...(unavailable('3600') as object), status: 429 }],
    ],
  ])('reports an unknown outcome when %s', async (_, replies) => {
    await using server = await startServer(replies);
    const error = await failure(verifierOf(server.baseUrl, { timeoutMs: 250 }).verify(await input()));
    expect(error).toMatchObject({ kind: 'outcome-unknown', message: expect.stringMatching(/lost/) });
  });

  it('reports a network error, not an unknown outcome, when the service cannot be reached', async () => {
    const gone = await startServer([]);
    await gone[Symbol.asyncDispose]();
    const verifier = verifierOf(gone.baseUrl, { maxAttempts: 3 });
    expect((await failure(verifier.verify(await input()))).kind).toBe('network');
  });

  it('reports an unknown outcome when the service cannot be reached after a 503: the first attempt may be stored', async () => {
    await using server = await startServer([unavailable()]);
    let sent = 0;
    const work = verifierOf(server.baseUrl, {
      maxAttempts: 2,
      fetch: async (input, init) => {
        sent += 1;
        if (sent === 1) return fetch(input, init);
        throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });
      },
    }).verify(await input());
    expect(await failure(work)).toMatchObject({ kind: 'outcome-unknown', status: null });
    expect(sent).toBe(2);
  });

  it.each([
    [400, 'INVALID_REQUEST'],
    [401, 'UNAUTHORIZED'],
    [402, 'PLAN_REQUIRED'],
    [403, 'FORBIDDEN'],
    [409, 'CONFLICT'],
    [413, 'PAYLOAD_TOO_LARGE'],
  ])(
    'reports a refusal with %d as the service sent it, and does not repeat the request',
    async (status, code) => {
      const headers = { 'svc-request-id': 'req-1' };
      await using server = await startServer([
        { status, headers, json: { error: code, message: 'because' } },
      ]);
      expect(await failure(verifierOf(server.baseUrl).verify(await input()))).toMatchObject({
        kind: 'refused',
        code,
        status,
        requestId: 'req-1',
        message: 'because',
      });
      expect(server.received).toHaveLength(1);
    },
  );

  const refused = { kind: 'refused', code: 'SERVICE_UNAVAILABLE', status: 503 };
  it('reports a lasting 503 as a refusal after maxAttempts attempts', async () => {
    await using server = await startServer([unavailable()]);
    const work = verifierOf(server.baseUrl, { maxAttempts: 3 }).verify(await input());
    expect(await failure(work)).toMatchObject(refused);
    expect(server.received).toHaveLength(3);
  });

  it('reports a 503 as a refusal when the next attempt would begin after the deadline', async () => {
    await using server = await startServer([unavailable('4')]);
    expect(
      await failure(verifierOf(server.baseUrl, { timeoutMs: 3_000 }).verify(await input())),
    ).toMatchObject(refused);
    expect(server.received).toHaveLength(1);
  });

  it('ends as aborted when the caller’s signal fires during the call', async () => {
    const controller = new AbortController();
    await using server = await startServer(() => {
      controller.abort();
      return 'silence';
    });
    const work = verifierOf(server.baseUrl).verify(await input(), { signal: controller.signal });
    expect((await failure(work)).kind).toBe('aborted');
  });
});

describe('verify never returns ALLOW for', () => {
  const answered = async (json: JsonValue, options: Partial<VerifierOptions> = {}, one = input()) => {
    await using server = await startServer([{ json }]);
    return await failure(verifierOf(server.baseUrl, options).verify(await one));
  };

  it.each<[string, Reply]>([
    ['nothing', { text: '' }],
    ['text', { text: 'ALLOW' }],
    ['HTML', { text: '<html>ALLOW</html>' }],
    ['null', { text: 'null' }],
    ['an empty object', { text: '{}' }],
    ['a list', { text: '[]' }],
    ['a bare decision', { json: { decision: 'ALLOW', allowed: true, receipt: 'x.y.z' } }],
    ['an error body with 200', { json: { error: 'INTERNAL', message: '' } }],
    ['a member twice', { text: '{"decision":"DENY","decision":"ALLOW"}' }],
    ['a redirect', { status: 302, headers: { location: '/ALLOW' }, json: {} }],
    ['202', { status: 202, json: { decision: 'ALLOW' } }],
    ['more than a megabyte', { text: `{"decision":"ALLOW","x":"${'x'.repeat(1_048_576)}"}` }],
  ])('an HTTP answer: %s', async (_, reply) => {
    await using server = await startServer([reply]);
    const error = await failure(verifierOf(server.baseUrl).verify(await input()));
    expect(['bad-response', 'receipt-invalid']).toContain(error.kind);
    expect(server.received).toHaveLength(1);
  });

  /** Every member of a JSON value, as the path to it. */
  const paths = (value: JsonValue, at: readonly string[] = []): string[][] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, inner]) => [
          [...at, name],
          ...paths(inner as JsonValue, [...at, name]),
        ])
      : [];
  const changed = (
    value: JsonObject,
    path: readonly string[],
    change: (old: unknown) => unknown,
  ): JsonObject => {
    const copy = structuredClone(value) as Record<string, unknown>;
    const last = path.at(-1) ?? '';
    const holder = path.slice(0, -1).reduce<Record<string, unknown>>((at, name) => Object(at[name]), copy);
    const replaced = change(holder[last]);
    if (replaced === undefined) delete holder[last];
    else holder[last] = replaced;
    return copy as JsonObject;
  };
  const alter = (old: unknown): unknown => {
    if (typeof old === 'string')
      return old === '' ? 'x' : `${old.slice(0, -1)}${old.endsWith('A') ? 'B' : 'A'}`;
    if (typeof old === 'number') return old + 1;
    if (typeof old === 'boolean') return !old;
    return old === null ? 'x' : null;
  };

  it('a Receipt with any member changed, removed or added', async () => {
    const one = await input();
    const genuine = await decide(one, false);
    const all = paths(genuine);
    expect(all.length).toBeGreaterThan(50);
    let reply: JsonObject = genuine;
    await using server = await startServer(() => ({ json: reply }));
    const verifier = verifierOf(server.baseUrl);
    expect((await verifier.verify(one)).allowed).toBe(true);
    // In a sample @svc/receipts changes random members too: verify/laws.test.ts.
    for (const path of sampleOf(all, 25)) {
      for (const change of [alter, () => undefined]) {
        reply = changed(genuine, path, change);
        expect((await failure(verifier.verify(one))).kind).toBe('receipt-invalid');
      }
    }
    reply = { ...genuine, note: 'x' };
    expect((await failure(verifier.verify(one))).kind).toBe('receipt-invalid');
  });

  it('a DENY that is presented as ALLOW', async () => {
    const one = await input();
    const deny = await decide(one, true);
    const allow = await decide(one, false);
    expect(
      (await answered({ ...deny, decision: 'ALLOW', reason: null }, {}, Promise.resolve(one))).kind,
    ).toBe('receipt-invalid');
    expect((await answered({ ...allow, receipt: deny.receipt ?? null }, {}, Promise.resolve(one))).kind).toBe(
      'receipt-invalid',
    );
  });

  it('the answer to a dry run, with or without members of a decision added', async () => {
    const one = await input();
    const genuine = await decide(one, true);
    const { protocol, trust } = genuine as unknown as ReceiptBody;
    const dryRun = {
      dry_run: 'nothing was decided',
      ...{ would: 'allow', reason: null, remedy: null, evaluated_at: genuine.evaluated_at },
      ...{ relying_party: SHOP, principal: ISSUER, grant_id: grantId, agent: agent.did },
      checks: { ...protocol.checks, ...trust.checks },
      ...{ failed: [], closest_capability: null },
    } as JsonObject;
    for (const dressed of [
      dryRun,
      { ...dryRun, decision: 'ALLOW' },
      { ...dryRun, decision: 'ALLOW', receipt: genuine.receipt },
      { ...genuine, ...dryRun },
    ] as JsonObject[]) {
      expect(['bad-response', 'receipt-invalid']).toContain(
        (await answered(dressed, {}, Promise.resolve(one))).kind,
      );
      expect(
        checkReceipt(dressed, {
          ...one,
          didDocument: serviceDocument,
          serviceDid: SERVICE,
          relyingParty: SHOP,
        }).ok,
      ).toBe(false);
      await using server = await startServer([{ json: { receipt: dressed, outcomes: [] } }]);
      const kept = await failure(verifierOf(server.baseUrl).decisions.get(String(genuine.receipt_id)));
      expect(['bad-response', 'receipt-invalid']).toContain(kept.kind);
    }
  });

  it('a genuine ALLOW for another Proof', async () => {
    expect((await answered(await decide(await input(), false))).kind).toBe('receipt-invalid');
  });

  it.each<[string, ReceiptChange]>([
    ['by a key that the service does not have', { key: 'receipt-2', kid: `${SERVICE}#receipt-1` }],
    ['by a key that it never published', { kid: `${SERVICE}#receipt-9` }],
    ['in the name of another service', { kid: 'did:web:evil.example#receipt-1' }],
    ['as something else than a Receipt', { typ: 'vc+jwt' }],
    ['as a Receipt of another version', { body: (body) => ({ ...body, receipt_version: 'svc-receipt-v2' }) }],
  ])('a Receipt signed %s', async (_, change) => {
    const one = await input();
    const json = await decide(one, false, change);
    expect((await answered(json, {}, Promise.resolve(one))).kind).toBe('receipt-invalid');
  });

  it('a Receipt for another relying party, or of another service than expected', async () => {
    const one = await input({ audience: 'did:web:other.example' });
    const other = await decide(one, false, { relyingParty: 'did:web:other.example' });
    expect(other.decision).toBe('ALLOW');
    expect((await answered(other, {}, Promise.resolve(one))).kind).toBe('receipt-invalid');
    const ours = await input();
    const serviceDid = 'did:web:evil.example';
    const didDocument: unknown = JSON.parse(JSON.stringify(serviceDocument).replaceAll(SERVICE, serviceDid));
    const elsewhere = { serviceDid, didDocument };
    expect((await answered(await decide(ours, false), elsewhere, Promise.resolve(ours))).kind).toBe(
      'receipt-invalid',
    );
  });

  it('a Receipt without a request hash', async () => {
    const one = await input();
    const { receipt: _, request_hash: __, ...body } = await decide(one, false);
    const error = await answered(await signReceipt(body), {}, Promise.resolve(one));
    expect(error.kind).toBe('receipt-invalid');
  });
});

describe('request binding:', () => {
  it.each([
    ['another method', { ...request, method: 'PUT' }],
    ['another path', { ...request, url: `${ORIGIN}/refunds` }],
    ['another host', { ...request, url: 'https://other.example/orders' }],
    ['another scheme', { ...request, url: 'http://shop.example/orders' }],
  ])(
    'verify refuses a Proof that names %s before it is sent, and the error names both requests',
    async (_, received) => {
      await using server = await startServer(serviceScript());
      const error = await failure(
        verifierOf(server.baseUrl).verify({ ...(await input()), request: received }),
      );
      expect(error).toBeInstanceOf(RequestMismatchError);
      const url = received.url.replace('?draft=1', '');
      expect(error).toMatchObject({
        kind: 'request-mismatch',
        receipt: null,
        receiptId: null,
        received: { method: received.method, url },
        signedFor: { method: 'POST', url: `${ORIGIN}/orders` },
      });
      expect(error.message).toContain(`made for POST ${ORIGIN}/orders, received ${received.method} ${url}`);
      expect(error.message.endsWith('the origin or url set at the relying party is wrong')).toBe(
        url !== `${ORIGIN}/orders`,
      );
      expect(server.received).toEqual([]);
    },
  );

  it('dryRun refuses a request that the Proof does not name, and asks the service with the right request or none', async () => {
    await using server = await startServer([
      { status: 400, json: { error: 'INVALID_REQUEST', message: 'no' } },
    ]);
    const verifier = verifierOf(server.baseUrl);
    const one = await input();
    const elsewhere = { ...request, url: 'https://other.example/' };
    expect(await failure(verifier.dryRun({ ...one, request: elsewhere }))).toBeInstanceOf(
      RequestMismatchError,
    );
    const misspelt = { grant, proof: one.proof, action: order, reqest: request };
    expect((await failure(verifier.dryRun(misspelt))).kind).toBe('invalid-argument');
    expect(server.received).toEqual([]);
    for (const asked of [{ request }, {}])
      expect(
        (await failure(verifier.dryRun({ grant, proof: one.proof, action: order, ...asked }))).kind,
      ).toBe('refused');
    expect(server.received.map(({ body }) => JSON.parse(body))).toEqual(
      Array(2).fill({ grant, proof: one.proof, action: order }),
    );
  });

  it('verify refuses a genuine ALLOW for another request, and the error has the Receipt', async () => {
    const other = { action: order, htm: 'PUT', normalizedHtu: `${ORIGIN}/orders` };
    const request_hash = requestHashOf(portableCrypto, other);
    const body = (receipt: ReceiptBody) => ({ ...receipt, request_hash });
    await using server = await startServer(serviceScript(() => ({ body })));
    const error = await failure(verifierOf(server.baseUrl).verify(await input()));
    expect(error).toMatchObject({
      kind: 'request-mismatch',
      receipt: { decision: 'ALLOW', receipt: expect.any(String) },
      receiptId: expect.stringMatching(/^drc_/),
    });
  });

  it.each<[string, object, RegExp]>([
    ['no request', { request: undefined }, /^request must be .* given nothing$/],
    ['a URL as request', { request: request.url }, /^request must be .* given a string$/],
    ['a path as URL', { request: { ...request, url: '/orders' } }, /^request.url must be the absolute URL/],
    ['no URL', { request: { method: 'POST' } }, /^request.url must be .* given nothing$/],
    [
      'a method in lower case',
      { request: { ...request, method: 'post' } },
      /^request.method must be .*upper/,
    ],
    ['no Grant', { grant: undefined }, /^grant must be .* given nothing$/],
    ['two Proofs', { proof: ['a', 'b'] }, /^proof must be .* given an array of 2 \(string\)$/],
    ['no Action', { action: undefined }, /^action must be .* given nothing$/],
    ['an Action that is no JSON', { action: { ...order, amount: 1n } }, /^action must be .*JSON/],
  ])('verify sends nothing with %s, so no Proof is spent', async (_, change, message) => {
    await using server = await startServer(serviceScript());
    const one = { ...(await input()), ...change };
    const error = await failure(verifierOf(server.baseUrl).verify(one));
    expect(error).toMatchObject({ kind: 'invalid-argument', message: expect.stringMatching(message) });
    expect(server.received).toEqual([]);
  });

  it('verify compares the request as it was at the call', async () => {
    await using server = await startServer(serviceScript());
    const received = { ...request };
    const work = verifierOf(server.baseUrl).verify({ ...(await input()), request: received });
    received.method = 'PUT';
    expect(await work).toMatchObject({ allowed: true });
  });

  it('verify takes two spellings of one URL as equal', async () => {
    await using server = await startServer(serviceScript());
    const url = 'HTTPS://SHOP.example:443/a/../%6frders#x';
    expect(
      (await verifierOf(server.baseUrl).verify({ ...(await input()), request: { ...request, url } })).allowed,
    ).toBe(true);
  });

  it('verify sends a Proof that it cannot read, and returns the DENY PROOF_MALFORMED of the service', async () => {
    await using server = await startServer(serviceScript());
    const verdict = await verifierOf(server.baseUrl).verify({ ...(await input()), proof: 'no.proof.at-all' });
    expect(verdict).toMatchObject({ allowed: false, reason: 'PROOF_MALFORMED' });
  });

  it('checkReceipt accepts a DENY although the Proof names another request', async () => {
    const dear = { ...order, amount: 50_001 } as const;
    const one = { ...(await input({ action: dear })), action: dear };
    const denial = await decide(one, false);
    const expected = { ...one, didDocument: serviceDocument, request: { ...request, method: 'PUT' } };
    expect(checkReceipt(denial, expected)).toMatchObject({ ok: true, decision: 'DENY' });
  });

  it('verify sends nothing where the URL is relative', async () => {
    await using server = await startServer(serviceScript());
    const work = verifierOf(server.baseUrl).verify({
      ...(await input()),
      request: { ...request, url: '/orders' },
    });
    expect((await failure(work)).kind).toBe('invalid-argument');
    expect(server.received).toEqual([]);
  });

  it('checkReceipt names every mismatch at once', async () => {
    const one = await input();
    const receipt = await decide(one, false);
    const expected = { ...one, didDocument: serviceDocument, relyingParty: SHOP };
    expect(checkReceipt(receipt, expected)).toMatchObject({ ok: true, decision: 'ALLOW' });
    const wrong = { grant: 'g', proof: 'p', relyingParty: ISSUER, request: { ...request, method: 'GET' } };
    expect(checkReceipt(receipt, { ...expected, ...wrong })).toMatchObject({
      ok: false,
      failures: ['grant-hash', 'proof-hash', 'relying-party', 'request-hash'].map((code) => ({ code })),
    });
    for (const action of [null, 'x', { ...order, resource: '\ud800' }]) {
      expect(checkReceipt(receipt, { ...expected, action }).ok).toBe(false);
    }
  });

  it('checkReceipt does not throw on hostile input: deep nesting, a revoked proxy, a throwing accessor', async () => {
    const one = await input();
    const receipt = await decide(one, false);
    const expected = { ...one, didDocument: serviceDocument };
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const throwing = {
      get type() {
        throw new Error('of the caller');
      },
    };
    const encoded = (text: string) => Buffer.from(text).toString('base64url');
    const header = `{"alg":"EdDSA","kid":"${SERVICE}#receipt-1","typ":"svc-receipt+jwt"}`;
    for (const depth of [100, 1_000, 3_000, 8_000]) {
      const nested = (leaf: number) => `${'{"a":'.repeat(depth)}${leaf}${'}'.repeat(depth)}`;
      const jws = `${encoded(header)}.${encoded(nested(1))}.${encoded('x'.repeat(64))}`;
      const deep = { ...JSON.parse(nested(2)), receipt: jws };
      expect(checkReceipt(deep, expected)).toMatchObject({ ok: false });
      expect(checkReceipt(receipt, { ...expected, action: deep }).ok).toBe(false);
    }
    for (const hostile of [proxy, throwing]) {
      expect(checkReceipt(hostile, expected).ok).toBe(false);
      expect(checkReceipt(receipt, { ...expected, action: hostile }).ok).toBe(false);
      expect(checkReceipt(receipt, { ...expected, didDocument: hostile }).ok).toBe(false);
    }
  });
});

describe("the service's DID document", () => {
  const unpinned = (baseUrl: string, now = () => NOW_MS) => {
    const { didDocument: _, ...options } = {
      didDocument: 0,
      baseUrl,
      apiKey: 'dk_rp_test',
      serviceDid: SERVICE,
      now,
    };
    return createVerifier({ ...options, random: () => 0 });
  };
  const pathsOf = (received: readonly { path: string }[]) => received.map(({ path }) => path);

  it('is fetched once, before the first verification, without the API key', async () => {
    await using server = await startServer(serviceScript());
    const verifier = unpinned(server.baseUrl);
    await Promise.all([verifier.verify(await input()), verifier.verify(await input())]);
    await verifier.verify(await input());
    expect(pathsOf(server.received)).toEqual(['/.well-known/did.json', '/verify', '/verify', '/verify']);
    expect(server.received[0]?.headers.authorization).toBeUndefined();
  });

  it('must be that of the expected service; until one is fetched, no Proof is sent', async () => {
    const replies: Reply[] = [
      { json: { ...serviceDocument, id: 'did:web:evil.example' } },
      { status: 404, json: {} },
    ];
    const script = serviceScript();
    await using server = await startServer((received) => replies.shift() ?? script(received));
    const verifier = unpinned(server.baseUrl);
    expect((await failure(verifier.verify(await input()))).kind).toBe('bad-response');
    expect((await failure(verifier.verify(await input()))).kind).toBe('refused');
    expect((await verifier.verify(await input())).allowed).toBe(true);
    expect(pathsOf(server.received)).toEqual([...Array(3).fill('/.well-known/did.json'), '/verify']);
  });

  it('is fetched again for a key that it lacks, at most every 30 seconds', async () => {
    let nowMs = NOW_MS;
    let document: object = olderDocument;
    const script = serviceScript(() => ({ key: 'receipt-2' }));
    await using server = await startServer((received) =>
      received.path === '/verify' ? script(received) : { json: document },
    );
    const verifier = unpinned(server.baseUrl, () => nowMs);
    expect((await failure(verifier.verify(await input()))).kind).toBe('receipt-invalid');
    document = serviceDocument;
    nowMs += 29_999;
    expect((await failure(verifier.verify(await input()))).kind).toBe('receipt-invalid');
    nowMs += 1;
    expect((await verifier.verify(await input())).allowed).toBe(true);
    expect((await verifier.verify(await input())).allowed).toBe(true);
    expect(pathsOf(server.received).filter((path) => path !== '/verify')).toHaveLength(2);
  });

  const documentsIn = (received: readonly { path: string }[]) =>
    pathsOf(received).filter((path) => path === '/.well-known/did.json').length;

  it('is refreshed in the background after one minute and must be renewed after ten, so a leaked key is accepted no longer', async () => {
    let nowMs = NOW_MS;
    let reply: Reply = { json: serviceDocument };
    const script = serviceScript(() => ({ atMs: nowMs }));
    await using server = await startServer((received) =>
      received.path === '/verify' ? script(received) : reply,
    );
    const verifier = unpinned(server.baseUrl, () => nowMs);
    const proofs = () => newProof({ now: () => nowMs });
    const verify = async () => verifier.verify({ ...(await input()), proof: await proofs() });
    expect((await verify()).allowed).toBe(true);
    nowMs += 59_999;
    expect((await verify()).allowed).toBe(true);
    expect(documentsIn(server.received)).toBe(1);
    // The document is unavailable: the kept one is used until it is ten minutes old, and not a millisecond longer.
    reply = unavailable();
    nowMs += 1;
    expect((await verify()).allowed).toBe(true);
    await expect.poll(() => documentsIn(server.received)).toBeGreaterThan(1);
    nowMs = NOW_MS + 599_999;
    expect((await verify()).allowed).toBe(true);
    nowMs += 1;
    const sent = pathsOf(server.received).filter((path) => path === '/verify').length;
    expect((await failure(verify())).kind).toBe('refused');
    expect(pathsOf(server.received).filter((path) => path === '/verify')).toHaveLength(sent);
    const leaked = serviceDocument.verificationMethod.map((method) => ({
      ...method,
      revoked: '2026-11-20T08:00:00Z',
    }));
    reply = { json: { ...serviceDocument, verificationMethod: leaked } };
    expect(await failure(verify())).toMatchObject({
      kind: 'receipt-invalid',
      cause: [expect.objectContaining({ code: 'key-not-in-force' })],
    });
  });

  it.each(['before', 'after'])(
    'verifies a Receipt under a rotated key where its background fetch ends %s the answer of verify',
    async (when) => {
      let nowMs = NOW_MS;
      let isRotated = false;
      let release = () => {};
      const first = new Promise<void>((resolve) => {
        release = resolve;
      });
      const script = serviceScript(() => ({ atMs: nowMs, key: isRotated ? 'receipt-2' : 'receipt-1' }));
      await using server = await startServer(async (received) => {
        const isVerify = received.path === '/verify';
        if (isRotated && isVerify === (when === 'before')) await first;
        else if (isRotated) setImmediate(release);
        return isVerify ? script(received) : { json: isRotated ? serviceDocument : olderDocument };
      });
      const verifier = unpinned(server.baseUrl, () => nowMs);
      const verify = async () =>
        verifier.verify({ ...(await input()), proof: await newProof({ now: () => nowMs }) });
      expect((await verify()).allowed).toBe(true);
      nowMs += 60_000;
      isRotated = true;
      expect((await verify()).allowed).toBe(true);
      expect(documentsIn(server.received)).toBe(2);
    },
  );

  it('is validated where it is pinned', () => {
    const broken = { ...serviceDocument, id: 'svc.example' };
    expect(() => verifierOf('https://svc.example', { didDocument: broken })).toThrow(
      expect.objectContaining({
        kind: 'configuration',
        message: expect.stringMatching(/^didDocument: the id/),
      }),
    );
  });

  it('is never fetched where it is pinned', async () => {
    await using server = await startServer(serviceScript(() => ({ key: 'receipt-2' })));
    const verifier = verifierOf(server.baseUrl, { didDocument: olderDocument });
    const error = await failure(verifier.verify(await input()));
    // The id is not verified, but it is the only way to look up the decision.
    const [receiptId] = /drc_\w{26}/.exec(error.message) ?? [];
    expect(error).toBeInstanceOf(ReceiptError);
    expect(error).toMatchObject({ kind: 'receipt-invalid', receipt: null, receiptId });
    expect(pathsOf(server.received)).toEqual(['/verify']);
  });

  it.each<[string, object, RegExp]>([
    ['an unknown option', { relyingPartyDid: SHOP }, /no option "relyingPartyDid".*relyingParty/],
    ['a time-out as text', { timeoutMs: 'abc' }, /timeoutMs must be an integer.* given a string/],
    ['maxAttempts of 0', { maxAttempts: 0 }, /maxAttempts must be .* given 0/],
    ['a domain name as relyingParty', { relyingParty: 'shop.example' }, /relyingParty must be a did:web DID/],
    ['a URL as serviceDid', { serviceDid: 'https://svc.example' }, /serviceDid must be a did:web DID/],
    ['a promise of a DID document', { didDocument: Promise.resolve(serviceDocument) }, /didDocument must be/],
    [
      'a clock difference above 300 s',
      { serviceClockBehindMs: 300_001 },
      /serviceClockBehindMs must be an integer, 0 to 300000/,
    ],
    [
      'a negative clock difference',
      { serviceClockAheadMs: -1 },
      /serviceClockAheadMs must be an integer, 0 to 300000/,
    ],
    ['a document as text', { didDocument: '{}' }, /didDocument must be .* given a string/],
    [
      'a document of another service than serviceDid',
      { serviceDid: 'did:web:other.example' },
      /didDocument is of did:web:svc\.example, and serviceDid is did:web:other\.example/,
    ],
    ['a crypto that is no CryptoPort', { crypto: globalThis.crypto }, /crypto must be a CryptoPort/],
  ])('createVerifier refuses %s', (_, change, message) => {
    expect(() => verifierOf('https://svc.example', change)).toThrow(
      expect.objectContaining({ kind: 'configuration', message: expect.stringMatching(message) }),
    );
  });

  it('createVerifier requires serviceDid where no DID document is pinned', () => {
    const create = () => createVerifier({ baseUrl: 'https://svc.example', apiKey: 'dk_rp_test' });
    expect(create).toThrow(expect.objectContaining({ kind: 'configuration' }));
  });
});

describe('reading from the service:', () => {
  it('decisions.get checks the Receipt of the decision', async () => {
    const receipt = await decide(await input(), false);
    const id = String(receipt.receipt_id);
    const outcome = {
      attestation_id: 'oat_1',
      reporter: SHOP,
      recorded_at: '2026-11-20T09:00:00.000Z',
      type: 'fulfilled',
      occurred_at: '2026-11-20T08:59:00Z',
    };
    let json: unknown = { receipt, outcomes: [outcome] };
    await using server = await startServer(() => ({ json }));
    const { decisions } = verifierOf(server.baseUrl);
    expect(await decisions.get(id)).toEqual({ receipt, outcomes: [outcome] });
    expect(server.received).toMatchObject([{ method: 'GET', path: `/decisions/${id}` }]);
    json = { receipt: { ...receipt, agent: 'did:key:z6MkOther' }, outcomes: [] };
    expect((await failure(decisions.get(id))).kind).toBe('receipt-invalid');
    json = { receipt: await decide(await input(), false), outcomes: [] };
    expect((await failure(decisions.get(id))).kind).toBe('receipt-invalid');
    json = { receipt };
    expect((await failure(decisions.get(id))).kind).toBe('bad-response');
    expect(await failure(decisions.get('../me'))).toMatchObject({
      kind: 'invalid-argument',
      message: expect.stringMatching(/^receiptId must be the receipt_id of a Receipt/),
    });
  });

  it('the API key is read from SVC_RP_KEY where none is given', async () => {
    const me = {
      subject: SHOP,
      role: 'rp',
      key_id: '0123456789ab',
      service_did: SERVICE,
      env: 'development',
    };
    await using server = await startServer([{ json: me }]);
    const verifier = createVerifier({ baseUrl: server.baseUrl, serviceDid: SERVICE });
    expect(await failure(verifier.me())).toMatchObject({ kind: 'configuration', message: /SVC_RP_KEY/ });
    vi.stubEnv('SVC_RP_KEY', 'dk_rp_env');
    expect(await verifier.me()).toEqual(me);
    expect(server.received[0]?.headers.authorization).toBe('Bearer dk_rp_env');
  });
});
