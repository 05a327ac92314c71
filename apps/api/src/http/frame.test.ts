import { ERROR_STATUS, type ErrorCode, type Route, type RouteId, routes } from '@svc/contract';
import { describe, expect, it } from 'vitest';
import { ApiError } from './api-error.ts';
import { exampleBody, examplePath, startService, TOKENS } from './testing/fixture.ts';

const IDS = Object.keys(routes) as RouteId[];
const TOKEN_FOR = {
  rp: TOKENS.rp,
  principal: TOKENS.principal,
  org: TOKENS.orgRead,
  'org:admin': TOKENS.orgAdmin,
  observer: TOKENS.observer,
  admin: TOKENS.admin,
  provision: TOKENS.provision,
} as const;

const callExample = (service: Awaited<ReturnType<typeof startService>>, id: RouteId, token?: string) => {
  const body = exampleBody(id);
  const options = { ...(token && { token }), ...(body !== undefined && { body }) };
  return service.call(routes[id].method.toUpperCase(), examplePath(id), options);
};

describe('every route', () => {
  it.each(IDS)('%s: each declared class is let in and answered as declared', async (id) => {
    const route: Route = routes[id];
    const service = await startService();
    const declared = Object.keys(route.responses).map(Number);
    for (const token of route.auth.length === 0
      ? [undefined]
      : route.auth.map((authClass) => TOKEN_FOR[authClass]))
      expect(declared).toContain((await callExample(service, id, token)).status);
  });

  it.each(IDS.filter((id) => routes[id].auth.length > 0))(
    '%s: every other class is refused, with 403 only for org:read',
    async (id) => {
      const route: Route = routes[id];
      const service = await startService();
      const admitted = new Set<string>(
        route.auth.flatMap((authClass) =>
          authClass === 'org' ? [TOKENS.orgRead, TOKENS.orgAdmin] : [TOKEN_FOR[authClass]],
        ),
      );
      if (admitted.has(TOKENS.rp)) admitted.add(TOKENS.otherRp);
      for (const token of Object.values(TOKENS)) {
        if (admitted.has(token)) continue;
        const { status, headers } = await callExample(service, id, token);
        const forbidden = token === TOKENS.orgRead && route.auth.includes('org:admin');
        expect([token, status]).toEqual([token, forbidden ? 403 : 401]);
        expect(headers.get('www-authenticate')).toBe(forbidden ? null : 'Bearer');
      }
    },
  );

  it.each(IDS)('%s: an unknown query parameter is a 400 that names it', async (id) => {
    const route: Route = routes[id];
    const service = await startService();
    const [authClass] = route.auth;
    const body = exampleBody(id);
    const { status, json } = await service.call(route.method.toUpperCase(), `${examplePath(id)}?unheard=1`, {
      ...(authClass && { token: TOKEN_FOR[authClass] }),
      ...(body !== undefined && { body }),
    });
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: 'INVALID_REQUEST', message: expect.stringContaining('unheard') });
  });

  it.each(IDS)('%s: carries a request id, security headers and its limit', async (id) => {
    const service = await startService();
    const [authClass] = routes[id].auth as Route['auth'];
    const { headers } = await callExample(service, id, authClass && TOKEN_FOR[authClass]);
    expect(headers.get('svc-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none';sandbox");
    expect(headers.get('strict-transport-security')).toMatch(/max-age/);
    expect(headers.get('x-powered-by')).toBeNull();
    for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
      expect(headers.get(name)).toMatch(/^\d+$/);
  });

  it.each(IDS)('%s: may be read from any origin exactly when it is public', async (id) => {
    const service = await startService();
    const route: Route = routes[id];
    const [authClass] = route.auth;
    const { headers } = await callExample(service, id, authClass && TOKEN_FOR[authClass]);
    expect(headers.get('access-control-allow-origin')).toBe(route.auth.length === 0 ? '*' : null);
  });
});

describe('methods', () => {
  it.each([
    ['DELETE', '/grants', 'POST, GET, HEAD, OPTIONS'],
    ['GET', '/verify', 'POST, OPTIONS'],
    ['PUT', examplePath('getRelyingParty'), 'GET, PATCH, HEAD, OPTIONS'],
    ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
    ['POST', '/docs', 'GET, HEAD, OPTIONS'],
  ])('%s %s is 405 and Allow lists %s', async (method, path, allow) => {
    const { call } = await startService();
    const { status, headers, json } = await call(method, path);
    expect([status, headers.get('allow'), json.error]).toEqual([405, allow, 'METHOD_NOT_ALLOWED']);
  });

  it('OPTIONS lists the methods, and on public paths answers a preflight', async () => {
    const { call } = await startService();
    const open = await call('OPTIONS', '/healthz');
    expect([open.status, open.headers.get('allow'), open.headers.get('access-control-allow-origin')]).toEqual(
      [200, 'GET, HEAD, OPTIONS', '*'],
    );
    const closed = await call('OPTIONS', '/verify');
    expect([
      closed.status,
      closed.headers.get('allow'),
      closed.headers.get('access-control-allow-origin'),
    ]).toEqual([200, 'POST, OPTIONS', null]);
  });

  it('HEAD is GET without the body', async () => {
    const { call } = await startService();
    const get = await call('GET', '/healthz');
    const head = await call('HEAD', '/healthz');
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([
      200,
      '',
      String(get.text.length),
    ]);
  });

  it.each([
    '/',
    '/nothing',
    '/grants/',
    '/Grants',
    '/verify/',
    '/decisions',
    '//healthz',
    '/status-lists/one',
  ])('GET %s is 404', async (path) => {
    const { call } = await startService();
    const { status, json } = await call('GET', path);
    expect([status, json.error]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('the fast path', () => {
  const verify = { token: TOKENS.rp, body: exampleBody('verify') };

  it('answers POST /verify as Express answers the same route with a query mark', async () => {
    const { call } = await startService();
    const headers = { 'x-request-id': 'same' };
    const fast = await call('POST', '/verify', { ...verify, headers });
    const routed = await call('POST', '/verify?', { ...verify, headers });
    expect(routed.status).toBe(200);
    expect(routed.text).toBe(fast.text);
    const namesOf = (answer: typeof fast) => [...answer.headers.keys()].sort();
    expect(namesOf(routed)).toEqual(namesOf(fast));
  });

  it.each([
    [401, {}],
    [401, { token: 'dk_rp_nobody', body: {} }],
    [401, { token: TOKENS.principal, body: {} }],
    [400, { token: TOKENS.rp, rawBody: '{"grant":' }],
    [400, { token: TOKENS.rp, body: { grant: '', proof: '' } }],
    [413, { token: TOKENS.rp, rawBody: 'x'.repeat(65_537) }],
  ])('refuses with %d just as Express does: %o', async (status, options) => {
    const { call } = await startService();
    const fast = await call('POST', '/verify', options);
    const routed = await call('POST', '/verify?', options);
    expect([fast.status, fast.text]).toEqual([status, routed.text]);
  });

  it('hands over the action untouched, the text as received, and the Idempotency-Key', async () => {
    const seen: unknown[] = [];
    const { call } = await startService({
      handlers: {
        verify: async (context) => {
          seen.push(
            context.body.action,
            context.bodyText,
            context.headers['idempotency-key'],
            context.caller.class,
          );
          return { status: 200, rawBody: '{}' };
        },
      },
    });
    const rawBody = '{ "grant":"", "proof":"", "action":{"b":1,"__proto__":{"a":1}} }';
    await expect(
      call('POST', '/verify', { token: TOKENS.rp, rawBody, headers: { 'idempotency-key': 'a_B-9' } }),
    ).rejects.toThrow('200');
    expect(JSON.stringify(seen[0])).toBe('{"b":1,"__proto__":{"a":1}}');
    expect(seen.slice(1)).toEqual([rawBody, 'a_B-9', 'rp']);
  });

  it.each(['', ' ', 'a b', 'ü', 'a'.repeat(65), 'a,b'])(
    'Idempotency-Key %j is a 400 that names it',
    async (value) => {
      const { call } = await startService();
      const { status, json } = await call('POST', '/verify', {
        ...verify,
        headers: { 'idempotency-key': value },
      });
      expect(status).toBe(400);
      expect(json.message).toContain('header idempotency-key must be 1 to 64');
    },
  );
});

describe('bodies', () => {
  const post = async (rawBody: string | Uint8Array, headers: Record<string, string> = {}) => {
    const { call } = await startService();
    return call('POST', '/grants', { token: TOKENS.principal, rawBody, headers });
  };

  it.each([
    ['no JSON', 'agent=x', 'strict JSON'],
    ['nothing', '', 'empty'],
    ['a duplicate member', '{"agent":"a","agent":"b"}', 'strict JSON'],
    ['a byte-order mark', '\ufeff{}', 'strict JSON'],
    ['a lone surrogate', '{"agent":"\\ud800"}', 'strict JSON'],
    ['U+0000', '{"agent":"\\u0000"}', 'strict JSON'],
    ['depth', '['.repeat(40) + ']'.repeat(40), 'strict JSON'],
    ['another shape', '[]', 'the body must be a JSON object; got an array of 0'],
    [
      'an unknown member',
      '{"agent":"did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK","x":1}',
      'body.x is not known here',
    ],
    [
      'an unknown __proto__',
      '{"agent":"did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK","__proto__":1}',
      'body.__proto__ is not known here',
    ],
    ['a missing member', '{}', 'body.agent is missing: it must be an Ed25519 did:key'],
    [
      'a wrong type',
      '{"agent":5}',
      'body.agent must be an Ed25519 did:key: did:key:z6Mk and 44 base58 characters; got 5',
    ],
  ])('%s is a 400 that says so', async (_name, rawBody, message) => {
    const { status, json } = await post(rawBody);
    expect([status, json.error]).toEqual([400, 'INVALID_REQUEST']);
    expect(json.message).toContain(message);
  });

  it('bytes that are not UTF-8 are a 400', async () => {
    expect((await post(new Uint8Array([0x7b, 0xff, 0x7d]))).json.message).toContain('UTF-8');
  });

  it('a Content-Encoding is a 400, identity is none', async () => {
    expect((await post('{}', { 'content-encoding': 'gzip' })).json.message).toContain('Content-Encoding');
    expect((await post('{}', { 'content-encoding': 'identity' })).json.message).toContain('agent is missing');
  });

  it('65,536 bytes are read and 65,537 are a 413', async () => {
    const { call } = await startService();
    const sized = (bytes: number) => `{"agent":"${'a'.repeat(bytes - 12)}"}`;
    const send = (bytes: number) =>
      call('POST', '/grants', { token: TOKENS.principal, rawBody: sized(bytes) });
    expect((await send(65_536)).status).toBe(400);
    const over = await send(65_537);
    expect([over.status, over.json.error]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('a chunked body over the limit is a 413 however it is cut', async () => {
    const { raw } = await startService();
    const chunk = `8000\r\n${'a'.repeat(0x8000)}\r\n`;
    const head = `POST /grants HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${TOKENS.principal}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expect(await raw(head, chunk, chunk, chunk, '0\r\n\r\n')).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('every union and number fault names the field, what is right and what was sent', async () => {
    const { call } = await startService();
    const messageOf = async (body: unknown) =>
      (await call('POST', '/relying-parties', { token: TOKENS.admin, body })).json.message;
    expect(await messageOf({ kind: 'other' })).toBe('body.kind must be "managed" or "hosted"; got "other"');
    expect(await messageOf({ slug: 'a' })).toBe('body.kind is missing: it must be "managed" or "hosted"');
    expect(await messageOf({ kind: 'managed', slug: 'a', proof_window_seconds: 301 })).toBe(
      'body.proof_window_seconds must be at most 300; got 301',
    );
    expect(await messageOf({ kind: 'managed', slug: 'a', proof_window_seconds: '60' })).toBe(
      'body.proof_window_seconds must be a number; got "60"',
    );
    expect(await messageOf({ kind: 'managed', slug: 'A' })).toContain(
      'body.slug must be a lower-case DNS label',
    );
    expect(await messageOf({ kind: 'managed', slug: 'a', did: 'did:web:x' })).toBe(
      'body.did is not known here',
    );
  });
});

describe('parameters', () => {
  it('reach the handler parsed, with defaults', async () => {
    const seen: unknown[] = [];
    const { call } = await startService({
      handlers: {
        listGrants: async ({ query }) => {
          seen.push({ ...query });
          return { status: 200, body: { grants: [], next_cursor: null } };
        },
        getRelyingParty: async ({ params }) => {
          seen.push(params.did);
          throw new ApiError('NOT_FOUND', 'no');
        },
      },
    });
    await call('GET', '/grants?state=active&limit=7', { token: TOKENS.principal });
    await call('GET', '/grants', { token: TOKENS.principal });
    await call('GET', examplePath('getRelyingParty'), { token: TOKENS.admin });
    expect(seen).toEqual([{ state: 'active', limit: 7 }, { limit: 50 }, 'did:web:localhost%3A8080:rp:shop']);
  });

  it.each([
    ['limit=0', 'query parameter limit must be an integer from 1 to 200; got 0'],
    ['limit=201', 'limit must be an integer from 1 to 200'],
    ['limit=1&limit=2', 'query parameter "limit" is given twice'],
    ['state=gone', 'query parameter state must be "active" or "revoked"; got "gone"'],
    ['agent=me', 'query parameter agent must be an Ed25519 did:key'],
    ['cursor=', 'query parameter cursor must be the next_cursor'],
    ['state=%zz', 'not well percent-encoded'],
    ['cursor=a%00b', 'control character'],
    ['__proto__=1', 'query parameter __proto__ is not known here'],
  ])('GET /grants?%s is a 400 that says so', async (query, message) => {
    const { call } = await startService();
    const { status, json } = await call('GET', `/grants?${query}`, { token: TOKENS.principal });
    expect(status).toBe(400);
    expect(json.message).toContain(message);
  });

  it('a malformed path parameter names nothing: 404, and says what is right', async () => {
    const { call } = await startService();
    const { status, json } = await call('GET', '/decisions/drc_1', { token: TOKENS.rp });
    expect([status, json.message]).toEqual([
      404,
      'path parameter receipt_id must be a Receipt id: drc_ and a ULID; got "drc_1"',
    ]);
    expect((await call('GET', '/evidence/%zz')).status).toBe(400);
  });
});

describe('request ids', () => {
  it.each(['a', 'trace 1/2;x=~', 'x'.repeat(128)])('X-Request-ID %j is taken over and echoed', async (id) => {
    const { call, log } = await startService();
    const { headers } = await call('GET', '/healthz', { headers: { 'x-request-id': id } });
    expect([headers.get('svc-request-id'), headers.get('x-request-id')]).toEqual([id, id]);
    await expect.poll(() => log.join('')).toContain(JSON.stringify(id));
  });

  it.each(['', 'x'.repeat(129), 'caf\u00e9', 'a\tb'])('X-Request-ID %j is ignored', async (id) => {
    const { call } = await startService();
    const { headers } = await call('GET', '/healthz', { headers: { 'x-request-id': id } });
    expect(headers.get('svc-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('x-request-id')).toBeNull();
  });
});

describe('errors', () => {
  it.each(Object.keys(ERROR_STATUS) as ErrorCode[])('ApiError %s has its status and body', async (code) => {
    const { call } = await startService({
      handlers: {
        getMe: async () => {
          throw new ApiError(code, 'said', { detail: 'unsaid', cause: new Error('unsaid') });
        },
      },
    });
    const { status, json, headers } = await call('GET', '/me', { token: TOKENS.rp });
    expect([status, json]).toEqual([ERROR_STATUS[code], { error: code, message: 'said' }]);
    expect(headers.get('www-authenticate')).toBe(code === 'UNAUTHORIZED' ? 'Bearer' : null);
    expect(headers.get('retry-after')).toBe(code === 'SERVICE_UNAVAILABLE' ? '1' : null);
  });

  it('anything else thrown is INTERNAL, logged with the request id, and shown to nobody', async () => {
    const { call, log } = await startService({
      handlers: {
        getMe: async () => {
          throw new Error('relation "secrets" does not exist');
        },
      },
    });
    const { status, json, text, headers } = await call('GET', '/me', { token: TOKENS.rp });
    expect([status, json.error]).toEqual([500, 'INTERNAL']);
    expect(text).not.toContain('secrets');
    const id = headers.get('svc-request-id');
    expect(log.some((line) => line.includes('secrets') && line.includes(String(id)))).toBe(true);
  });

  it('errors of inner layers are translated by toApiError', async () => {
    class Down extends Error {}
    const { call } = await startService({
      deps: {
        toApiError: (error) =>
          error instanceof Down
            ? new ApiError('SERVICE_UNAVAILABLE', 'down', { retryAfterSeconds: 3 })
            : null,
      },
      handlers: {
        getMe: async () => {
          throw new Down();
        },
      },
    });
    const { status, headers } = await call('GET', '/me', { token: TOKENS.rp });
    expect([status, headers.get('retry-after')]).toEqual([503, '3']);
  });

  it('a failing authentication is 503 or 500, never a 401', async () => {
    const { call } = await startService({
      deps: {
        authenticate: async () => {
          throw new ApiError('SERVICE_UNAVAILABLE', 'the key store is unreachable');
        },
      },
    });
    for (const path of ['/verify', '/verify?'])
      expect((await call('POST', path, { token: TOKENS.rp, body: {} })).status).toBe(503);
  });
});

describe('raw answers', () => {
  it('are sent byte for byte under the content type and headers the handler gives', async () => {
    const bytes = new Uint8Array([0, 255, 10, 13, 128]);
    const { base } = await startService({
      handlers: {
        getEvidence: async () => ({
          status: 200,
          rawBody: bytes,
          contentType: 'application/octet-stream',
          headers: { 'Cache-Control': 'public, max-age=31536000, immutable' },
        }),
      },
    });
    const response = await fetch(base + examplePath('getEvidence'));
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  it('JSON text is sent as it is, without being parsed or written again', async () => {
    const text = '{ "ok":true , "env":"production" }';
    const { call } = await startService({
      handlers: { getHealth: async () => ({ status: 200, rawBody: text }) },
    });
    const answer = await call('GET', '/healthz');
    expect([answer.text, answer.headers.get('cache-control')]).toEqual([text, 'no-store']);
  });
});

describe('the status host', () => {
  it('serves status lists at the bare path, and nothing else', async () => {
    const seen: unknown[] = [];
    const { raw } = await startService({
      deps: { statusHost: 'status.svc.example' },
      handlers: {
        getStatusList: async ({ params }) => {
          seen.push({ ...params });
          return { status: 200, rawBody: 'a.b.c', contentType: 'application/vc+jwt' };
        },
      },
    });
    const get = (line: string) =>
      raw(`${line} HTTP/1.1\r\nHost: Status.svc.example\r\nConnection: close\r\n\r\n`);
    expect(await get('GET /svc.example/1')).toMatch(/^HTTP\/1\.1 200 [\s\S]*a\.b\.c$/);
    expect(seen).toEqual([{ domain: 'svc.example', number: '1' }]);
    expect(await get('GET /healthz')).toMatch(/^HTTP\/1\.1 404 /);
    expect(await get('POST /verify')).toMatch(/^HTTP\/1\.1 404 /);
  });
});

describe('the reference', () => {
  it('/openapi.json is the document with this service as its server', async () => {
    const { call } = await startService();
    const { status, json } = await call('GET', '/openapi.json');
    expect(status).toBe(200);
    expect(json).toMatchObject({ openapi: '3.1.0', servers: [{ url: 'https://svc.example' }] });
  });

  it('/docs names no other origin, and its policy lets none in', async () => {
    const { call } = await startService();
    const page = await call('GET', '/docs');
    expect(page.text).not.toMatch(/https?:|\/\/[a-z]/);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none';script-src 'self'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
    for (const [, source] of page.text.matchAll(/(?:src|spec-url)="([^"]+)"/g))
      expect((await call('GET', `/${source}`)).status).toBe(200);
  });

  it('the script is the packaged Redoc without its vendor image', async () => {
    const { call } = await startService();
    const script = await call('GET', '/docs/redoc.js');
    expect(script.headers.get('content-type')).toContain('javascript');
    expect(script.text).not.toContain('cdn.redoc.ly');
    expect(script.text.length).toBeGreaterThan(500_000);
  });
});
