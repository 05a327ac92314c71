import { type Route, type RouteId, routes } from '@svc/contract';
import { badRequestMessage, badRequestOf } from '@svc/contract/openapi';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import { describe, expect, it } from 'vitest';
import { exampleBody, examplePath, startService, TOKENS } from '../../test/world/http-fixture.ts';

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

/** Without the query that the route requires. */
const barePath = (id: RouteId) => examplePath(id).replace(/\?.*$/, '');

describe('Every route', () => {
  it.each(sampleOf(IDS, 30))(
    '%s: admits each declared key class and answers with a declared status',
    async (id) => {
      const route: Route = routes[id];
      const service = await startService();
      const declared = Object.keys(route.responses).map(Number);
      for (const token of route.auth.length === 0
        ? [undefined]
        : route.auth.map((authClass) => TOKEN_FOR[authClass]))
        expect(declared).toContain((await callExample(service, id, token)).status);
    },
  );

  // A sample takes half of the classes at each route, and the others at the next.
  const KEYED = IDS.filter((id) => routes[id].auth.length > 0);
  it.each(KEYED.map((id, i) => [id, i] as const))(
    `%s: refuses ${isDeep ? 'every other key class' : 'half of the other key classes'} with 401, or 403 for org:read where org:admin may call`,
    async (id, i) => {
      const route: Route = routes[id];
      const service = await startService();
      const admitted = new Set<string>(
        route.auth.flatMap((authClass) =>
          authClass === 'org' ? [TOKENS.orgRead, TOKENS.orgAdmin] : [TOKEN_FOR[authClass]],
        ),
      );
      if (admitted.has(TOKENS.rp)) admitted.add(TOKENS.otherRp);
      for (const [at, token] of Object.values(TOKENS).entries()) {
        if (admitted.has(token) || (!isDeep && (at + i) % 2 === 0)) continue;
        const { status, headers } = await callExample(service, id, token);
        const forbidden = token === TOKENS.orgRead && route.auth.includes('org:admin');
        expect([token, status]).toEqual([token, forbidden ? 403 : 401]);
        expect(headers.get('www-authenticate')).toBe(forbidden ? null : 'Bearer');
      }
    },
  );

  it.each(sampleOf(IDS, 16))(
    '%s: refuses an unknown query parameter with a 400 that names it',
    async (id) => {
      const route: Route = routes[id];
      const service = await startService();
      const [authClass] = route.auth;
      const body = exampleBody(id);
      const { status, json } = await service.call(route.method.toUpperCase(), `${barePath(id)}?unheard=1`, {
        ...(authClass && { token: TOKEN_FOR[authClass] }),
        ...(body !== undefined && { body }),
      });
      expect(status).toBe(400);
      expect(json).toMatchObject({ error: 'INVALID_REQUEST', message: expect.stringContaining('unheard') });
    },
  );

  it.each(sampleOf(IDS, 16))('%s: answers the 400 that the reference shows', async (id) => {
    const route: Route = routes[id];
    const service = await startService();
    const [authClass] = route.auth;
    const { query, body = exampleBody(id) } = badRequestOf(route);
    const path = `${barePath(id)}${query === undefined ? '' : `?${new URLSearchParams(query)}`}`;
    const { status, json } = await service.call(route.method.toUpperCase(), path, {
      ...(authClass && { token: TOKEN_FOR[authClass] }),
      ...(body !== undefined && { body }),
    });
    expect([status, json.message]).toEqual([400, badRequestMessage(route)]);
  });

  it.each(sampleOf(IDS, 16))('%s: sends a request id, security headers and its rate limit', async (id) => {
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

  // Endpoint tests check it for every answer that they get.
  it.each(sampleOf(IDS, 16))('%s: allows any origin exactly if it is public', async (id) => {
    const service = await startService();
    const route: Route = routes[id];
    const [authClass] = route.auth;
    const { headers } = await callExample(service, id, authClass && TOKEN_FOR[authClass]);
    expect(headers.get('access-control-allow-origin')).toBe(route.auth.length === 0 ? '*' : null);
  });
});

describe('Routing', () => {
  it.each([
    ['DELETE', '/grants', 'POST, GET, HEAD, OPTIONS'],
    ['GET', '/verify', 'POST, OPTIONS'],
    ['PUT', examplePath('getRelyingParty'), 'GET, PATCH, HEAD, OPTIONS'],
    ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
    ['POST', '/openapi.json', 'GET, HEAD, OPTIONS'],
  ])('%s %s is 405 and Allow lists %s', async (method, path, allow) => {
    const { call } = await startService();
    const { status, headers, json } = await call(method, path);
    expect([status, headers.get('allow'), json.error]).toEqual([405, allow, 'METHOD_NOT_ALLOWED']);
  });

  it('OPTIONS lists the methods of a path, and on public paths answers a preflight', async () => {
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
    '/decision',
    '//healthz',
    '/status-lists/one',
  ])('GET %s is 404', async (path) => {
    const { call } = await startService();
    const { status, json } = await call('GET', path);
    expect([status, json.error]).toEqual([404, 'NOT_FOUND']);
  });
});
