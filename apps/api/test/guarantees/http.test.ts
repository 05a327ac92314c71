/** What holds for every path, on the real process: methods, unknown paths, request ids, CORS, malformed addresses. */
import { type Route, routes } from '@svc/contract';
import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { withOwnDeployment } from '../world/deployment.ts';

/** All optional features are on. */
const deployment = withOwnDeployment({
  SVC_DEMO: '1',
  SVC_SELF_SERVE: '1',
  SVC_PROVISION_KEYS: 'provision-key-of-this-test-provision-key',
  SVC_SSF: '1',
  SVC_WEBHOOK_KEYS: 'a-root-for-tests-that-is-long-enough-0',
});
const { call } = deployment;

const METHODS_OF = new Map<string, string[]>();
for (const { path, method } of Object.values(routes) as Route[])
  METHODS_OF.set(path, [...(METHODS_OF.get(path) ?? []), method.toUpperCase()]);
const PARAMETERS: Readonly<Record<string, string>> = { hash: '0'.repeat(64), number: '1' };
const filled = (path: string) => path.replaceAll(/\{(\w+)\}/g, (_, name: string) => PARAMETERS[name] ?? 'x');
const allowOf = (path: string) => {
  const methods = METHODS_OF.get(path) ?? [];
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort();
};
const listed = (allow: unknown) => String(allow).split(', ').sort();

describe.each([...METHODS_OF.keys()])('%s', (path) => {
  it('answers 405 with Allow to every method that it does not support', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND']) {
      if (allowOf(path).includes(method)) continue;
      const { status, json, headers } = await call(method, filled(path), { key: ADMIN_TOKEN });
      expect([method, status, json.error]).toEqual([method, 405, 'METHOD_NOT_ALLOWED']);
      expect(listed(headers.allow)).toEqual(allowOf(path));
    }
  });

  it('answers OPTIONS with its methods, and with CORS headers only where the path is public', async () => {
    const { status, text, headers } = await call('OPTIONS', filled(path), {
      headers: { origin: 'https://page.example', 'access-control-request-method': 'GET' },
    });
    expect([status, text, listed(headers.allow)]).toEqual([200, '', allowOf(path)]);
    const isPublic = (Object.values(routes) as Route[]).some(
      (route) => route.path === path && route.auth.length === 0,
    );
    expect(headers['access-control-allow-origin']).toBe(isPublic ? '*' : undefined);
    expect(headers['access-control-allow-methods']).toBe(isPublic ? headers.allow : undefined);
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  });
});

describe('HEAD', () => {
  it.each(['/healthz', '/.well-known/did.json', '/openapi.json', '/docs', '/org/nobody/did.json', '/me'])(
    '%s answers with the status and headers of GET, without the body',
    async (path) => {
      const [get, head] = [await call('GET', path), await call('HEAD', path)];
      expect([head.status, head.text]).toEqual([get.status, '']);
      for (const name of ['content-type', 'content-length', 'cache-control', 'access-control-allow-origin'])
        expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
    },
  );
});

describe('404', () => {
  it.each([
    '/nothing',
    '/healthz/',
    '/HEALTHZ',
    '//healthz',
    '/verify/',
    '/decision',
    '/evidence/',
    '/.env',
    '/metrics/',
    '/livez',
    '/openapi.json/',
    '/docs/redoc.js.map',
  ])('%s is not found, with every method', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE'])
      expect((await call(method, path)).json.error).toBe('NOT_FOUND');
  });
});

describe('malformed paths and bodies', () => {
  it.each(['/org/%E0%A4%A/did.json', '/evidence/%', '/relying-parties/%zz', '/status-lists/a/%C0'])(
    '%s, whose percent-escapes are invalid, is INVALID_REQUEST and counts against the limit of the address',
    async (path) => {
      const { json, headers } = await call('GET', path, { key: ADMIN_TOKEN });
      expect([json.error, headers['ratelimit-limit']]).toEqual(['INVALID_REQUEST', '300']);
    },
  );

  it('a body with a Content-Encoding is 400', async () => {
    const headers = { 'content-encoding': 'gzip' };
    expect((await call('POST', '/principals', { key: ADMIN_TOKEN, rawBody: '{}', headers })).status).toBe(
      400,
    );
  });

  it('a body over 64 KB is PAYLOAD_TOO_LARGE on POST and PATCH routes', async () => {
    const rawBody = `{"kind":"${'x'.repeat(65_536)}"}`;
    for (const [method, path] of [
      ['POST', '/principals'],
      ['POST', '/relying-parties'],
      ['PATCH', '/relying-parties/did:web:a.example'],
    ] as const)
      expect((await call(method, path, { key: ADMIN_TOKEN, rawBody })).json.error).toBe('PAYLOAD_TOO_LARGE');
  });
});

describe('request ids', () => {
  it.each([
    ['up to 1,024 characters', 'x'.repeat(1_024)],
    ['of any script', 'заказ 42 — 注文 🛒'],
  ])('an X-Request-ID %s is used as the request id', async (_, id) => {
    const sent = Buffer.from(id, 'utf8').toString('latin1');
    const { headers } = await call('GET', '/healthz', {
      headers: { 'x-request-id': sent },
    });
    expect([headers['x-request-id'], headers['svc-request-id']]).toEqual([sent, sent]);
  });

  it.each([
    ['longer', 'x'.repeat(1_025)],
    ['with a tab', 'a\tb'],
    ['with a control character of Unicode', Buffer.from('a\u0085b', 'utf8').toString('latin1')],
  ])('an X-Request-ID %s is ignored', async (_, id) => {
    const { headers } = await call('GET', '/healthz', {
      headers: { 'x-request-id': id },
    });
    expect(headers['x-request-id']).toBeUndefined();
    expect(headers['svc-request-id']).not.toBe(id);
  });

  it('X-Request-ID is used as the request id, echoed and written to the audit log', async () => {
    const id = 'trace 7; a="b" ~';
    const { status, headers } = await call('POST', '/relying-parties', {
      key: ADMIN_TOKEN,
      body: { kind: 'managed', slug: 'request-id' },
      headers: { 'x-request-id': id },
    });
    expect([status, headers['svc-request-id'], headers['x-request-id']]).toEqual([201, id, id]);
    const { rows } = await deployment.sql.query('select action from audit_events where request_id = $1', [
      id,
    ]);
    expect(rows).toEqual([{ action: 'relying_party.create' }]);
  });

  it('refusals have a request id too; without a usable X-Request-ID the service generates one', async () => {
    const ids = new Set<unknown>();
    for (const path of ['/healthz', '/nothing', '/me', '/evidence/%']) {
      const own = await call('GET', path);
      ids.add(own.headers['svc-request-id']);
      expect((await call('GET', path, { headers: { 'x-request-id': 'mine' } })).headers['x-request-id']).toBe(
        'mine',
      );
    }
    expect(ids.size).toBe(4);
    const { headers } = await call('GET', '/healthz', { headers: { 'x-request-id': 'x'.repeat(1_025) } });
    expect(headers['svc-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers['x-request-id']).toBeUndefined();
  });
});
