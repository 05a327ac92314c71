import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Received, type Reply, startServer, unavailable } from '@svc/testkit/sdk/scripted-server';
import express from 'express';
// @ts-expect-error: its types are those of Express 5, as for whoever has both.
import express4 from 'express-4';
import fastify from 'fastify';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type AuthorityOptions,
  requireAuthority as expressGuard,
  getAuthority,
  refuseUnreadableBody,
  type SvcAuthority,
} from '../src/express.ts';
import { requireAuthority as fastifyGuard } from '../src/fastify.ts';
import { createAuthorizer, protect } from '../src/fetch.ts';
import type { Action } from '../src/index.ts';
import { createVerifier, REASON_TEXTS, RequestMismatchError, SvcError } from '../src/index.ts';
import {
  agent,
  grant,
  grantId,
  ISSUER,
  NOW_MS,
  newProof,
  ORIGIN,
  order,
  SERVICE,
  serviceDocument,
  serviceScript,
} from './world.ts';

afterEach(() => vi.restoreAllMocks());

interface Shop extends AsyncDisposable {
  readonly baseUrl: string;
  /** What the handler behind the middleware received, one entry per run. */
  readonly handled: { svc: SvcAuthority; body: string }[];
}

/** The options without those that differ between frameworks: how to read the body, or how reading it fails. */
type ShopOptions = Pick<AuthorityOptions<unknown>, 'verifier' | 'onError' | 'allowTrailingSlash'> & {
  action?: (body: string) => typeof order;
  url?: (path: string) => string;
};

const address = (
  { verifier, onError, url, allowTrailingSlash }: ShopOptions,
  pathOf: (request: never) => string,
) => ({
  verifier,
  ...(allowTrailingSlash === undefined ? {} : { allowTrailingSlash }),
  ...(onError === undefined ? {} : { onError }),
  ...(url === undefined ? { origin: ORIGIN } : { url: (request: unknown) => url(pathOf(request as never)) }),
});

const described = ({ action = () => order }: ShopOptions, body: string) => action(body);

/** Mounted under a router, so that `url` is not the whole path. */
async function startExpress(options: ShopOptions): Promise<Shop> {
  const handled: Shop['handled'] = [];
  const router = express.Router();
  const guard = expressGuard<express.Request>({
    ...address(options, (request: express.Request) => request.originalUrl),
    action: ({ body }) => described(options, body),
  } as AuthorityOptions<express.Request>);
  router.use(express.text({ type: '*/*' }), guard, (request, response) => {
    handled.push({ svc: getAuthority(request), body: String(request.body) });
    response.json({ ok: true });
  });
  const app = express().use('/orders', router);
  app.use(((_error, _request, response, _next) => {
    response.status(500).json({ error: 'INTERNAL' });
  }) satisfies express.ErrorRequestHandler);
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    handled,
    [Symbol.asyncDispose]: close,
  };
}

async function startFastify(options: ShopOptions): Promise<Shop> {
  const handled: Shop['handled'] = [];
  // Express's default routing.
  const app = fastify({ forceCloseConnections: true, routerOptions: { ignoreTrailingSlash: true } });
  app.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => done(null, body));
  const preHandler = fastifyGuard({
    ...address(options, (request: { originalUrl: string }) => request.originalUrl),
    action: ({ body }: { body?: unknown }) => described(options, String(body)),
  } as AuthorityOptions<Parameters<ReturnType<typeof fastifyGuard>>[0]>);
  app.post('/orders', { preHandler }, async (request) => {
    handled.push({ svc: getAuthority(request), body: String(request.body) });
    return { ok: true };
  });
  const baseUrl = await app.listen({ port: 0, host: '127.0.0.1' });
  return { baseUrl, handled, [Symbol.asyncDispose]: () => app.close() };
}

/** A plain fetch handler behind a minimal server. */
async function startFetch(options: ShopOptions): Promise<Shop> {
  const handled: Shop['handled'] = [];
  const common = address(options, (request: Request) => new URL(request.url).pathname);
  const action = async (request: Request) => described(options, await request.text());
  const handler = protect(
    { ...common, action } as AuthorityOptions<Request>,
    async (request, svc, _env: string) => {
      handled.push({ svc, body: await request.text() });
      return Response.json({ ok: true });
    },
  );
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method = '', headers } = incoming;
    const target = incoming.url ?? '';
    const given = { method, headers: headers as Record<string, string>, body: Buffer.concat(chunks) };
    const request = new Request(new URL(target, 'http://internal.example'), given);
    const response = await handler(request, 'env').catch(() => new Response(null, { status: 500 }));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    handled,
    [Symbol.asyncDispose]: close,
  };
}

const verifierOf = (baseUrl: string, timeoutMs = 10_000) =>
  createVerifier({
    baseUrl,
    apiKey: 'dk_rp_test',
    didDocument: serviceDocument,
    serviceDid: SERVICE,
    timeoutMs,
    now: () => NOW_MS,
    random: () => 0,
  });

const post = async (shop: Shop, headers: Record<string, string>, path = '/orders?draft=1') => {
  const response = await fetch(`${shop.baseUrl}${path}`, {
    method: 'POST',
    body: 'the order',
    headers: { 'content-type': 'text/plain', connection: 'close', ...headers },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
};

const presented = async (change: Parameters<typeof newProof>[0] = {}) => ({
  'svc-grant': grant,
  'svc-proof': await newProof(change),
});

/** At the host of the service's DID, which differs from the address that this server uses. */
const help = (page: string) => `<https://svc.example/guide/${page}>; rel="help"`;

describe.each([
  ['Express', startExpress],
  ['Fastify', startFastify],
  ['fetch', startFetch],
])('the %s middleware', (name, start) => {
  it('lets a request with an ALLOW through, with its authority and its body unchanged', async () => {
    await using service = await startServer(serviceScript());
    await using shop = await start({ verifier: verifierOf(service.baseUrl) });
    expect(await post(shop, await presented())).toMatchObject({ status: 200, body: { ok: true } });
    expect(shop.handled).toMatchObject([
      {
        body: 'the order',
        svc: {
          authority: { action: 'commerce:purchase' },
          agent: agent.did,
          principal: ISSUER,
          grantId,
          receiptId: expect.stringMatching(/^drc_/),
          receipt: { decision: 'ALLOW' },
        },
      },
    ]);
  });

  it('answers a DENY with 403, its reason and its receipt_id', async () => {
    await using service = await startServer(serviceScript());
    await using shop = await start({ verifier: verifierOf(service.baseUrl) });
    const headers = await presented();
    expect((await post(shop, headers)).status).toBe(200);
    const replay = await post(shop, headers);
    expect(replay).toMatchObject({
      status: 403,
      body: { error: 'FORBIDDEN', reason: 'PROOF_REPLAYED', receipt_id: expect.stringMatching(/^drc_/) },
    });
    expect(replay.headers.get('content-type')).toMatch(/^application\/json/);
    expect(replay.headers.get('link')).toBe(help('reasons/PROOF_REPLAYED'));
    expect(replay.headers.get('cache-control')).toBe('no-store');
    expect(shop.handled).toHaveLength(1);
  });

  it('answers 401 where a header is missing, and does not ask the service', async () => {
    await using service = await startServer(serviceScript());
    await using shop = await start({ verifier: verifierOf(service.baseUrl) });
    const { 'svc-grant': g, 'svc-proof': p } = await presented();
    for (const headers of [{}, { 'svc-grant': g }, { 'svc-proof': p }] as Record<string, string>[]) {
      const answer = await post(shop, headers);
      expect(answer).toMatchObject({ status: 401, body: { error: 'UNAUTHORIZED' } });
      expect(answer.headers.get('www-authenticate')).toBe('Svc');
      expect(answer.headers.get('link')).toBe(help('errors/UNAUTHORIZED'));
    }
    expect(service.received).toEqual([]);
    expect(shop.handled).toEqual([]);
  });

  it('answers 400 to a Proof header that is too long, and does not ask the service', async () => {
    await using service = await startServer(serviceScript());
    await using shop = await start({ verifier: verifierOf(service.baseUrl) });
    const headers = { ...(await presented()), 'svc-proof': 'x'.repeat(8_193) };
    expect(await post(shop, headers)).toMatchObject({ status: 400, body: { error: 'INVALID_REQUEST' } });
    expect(service.received).toEqual([]);
  });

  it('answers 403 to a Proof for another request without asking the service, and names the request in the Proof', async () => {
    await using service = await startServer(serviceScript());
    await using shop = await start({ verifier: verifierOf(service.baseUrl) });
    const others = [{ method: 'GET' }, { url: `${ORIGIN}/refunds` }, { url: 'https://other.example/orders' }];
    for (const change of others) {
      const { method = 'POST', url = `${ORIGIN}/orders` } = change;
      const { status, body, headers } = await post(shop, await presented(change));
      expect({ status, body, link: headers.get('link') }).toEqual({
        status: 403,
        link: help('errors/REQUEST_MISMATCH'),
        body: {
          error: 'FORBIDDEN',
          message: expect.stringContaining(`the Proof names ${method} ${url}, which is not`),
          reason: 'REQUEST_MISMATCH',
        },
      });
    }
    expect(service.received).toEqual([]);
    expect(shop.handled).toEqual([]);
  });

  it('answers 403 to an ALLOW for another request, and names both requests and the Receipt', async () => {
    const signedFor = { method: 'GET', url: `${ORIGIN}/orders` };
    const received = { method: 'POST', url: `${ORIGIN}/orders` };
    const receipt = { receipt_id: 'drc_1' } as never;
    const verify = () => Promise.reject(new RequestMismatchError(receipt, received, signedFor));
    await using shop = await start({ verifier: { verify } });
    expect(await post(shop, await presented())).toMatchObject({
      status: 403,
      body: {
        message: expect.stringContaining(`for GET ${ORIGIN}/orders, received POST ${ORIGIN}/orders`),
        reason: 'REQUEST_MISMATCH',
        receipt_id: 'drc_1',
      },
    });
    expect(shop.handled).toEqual([]);
  });

  const allow = serviceScript();
  const tampered = async (received: Received): Promise<Reply> => {
    const reply = await allow(received);
    if (typeof reply === 'string') return reply;
    return { json: { ...(reply.json as object), expires_at: '2099-01-01T00:00:00Z' } };
  };
  it.each<[string, (received: Received) => Reply | Promise<Reply>]>([
    ['answers 503', () => unavailable()],
    ['drops the connection', () => 'destroy'],
    ['does not answer in time', () => 'silence'],
    ['does not know the key', () => ({ status: 401, json: { error: 'UNAUTHORIZED', message: '' } })],
    ['wants a plan', () => ({ status: 402, json: { error: 'PLAN_REQUIRED', message: '' } })],
    ['answers garbage', () => ({ text: '{"decision":"ALLOW"' })],
    ['answers ALLOW without a signature', () => ({ json: { decision: 'ALLOW', receipt: 'x' } })],
    ['answers a Receipt that was changed', tampered],
  ])('answers 503 and does not continue when the service %s', async (_, script) => {
    const errors: unknown[] = [];
    await using service = await startServer(script);
    await using shop = await start({
      verifier: verifierOf(service.baseUrl, 150),
      onError: (error) => errors.push(error),
    });
    const answer = await post(shop, await presented());
    expect(answer).toMatchObject({ status: 503, body: { error: 'SERVICE_UNAVAILABLE' } });
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(errors).toEqual([expect.any(SvcError)]);
    expect(shop.handled).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'order/7'],
    ['a number that is not JSON', { amount: 1n }],
  ])('answers 500, which no Agent repeats, where `action` returns %s', async (_, described) => {
    const errors: unknown[] = [];
    await using shop = await start({
      verifier: verifierOf('https://svc.example'),
      action: () => described as never,
      onError: (error) => errors.push(error),
    });
    const answer = await post(shop, await presented());
    expect(answer).toMatchObject({ status: 500, body: { error: 'CONFIGURATION' } });
    expect(answer.headers.get('retry-after')).toBeNull();
    expect(errors).toMatchObject([{ kind: 'invalid-argument' }]);
    expect(shop.handled).toEqual([]);
  });

  it('answers 503 and does not continue on an error that is no SvcError', async () => {
    const verify = () => Promise.reject(new TypeError('a bug'));
    await using shop = await start({ verifier: { verify }, onError: () => undefined });
    expect((await post(shop, await presented())).status).toBe(503);
    expect(shop.handled).toEqual([]);
  });

  it('logs the cause in one line without API key, Grant or Proof where `onError` is not set', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const unknown: Reply = { status: 401, json: { error: 'UNAUTHORIZED', message: 'no such\nkey' } };
    await using service = await startServer([unknown]);
    await using shop = await start({ verifier: verifierOf(service.baseUrl) });
    const headers = await presented();
    expect((await post(shop, headers)).status).toBe(503);
    await using broken = await start({ verifier: { verify: () => Promise.reject(new TypeError(grant)) } });
    expect((await post(broken, headers)).status).toBe(503);
    expect(log.mock.calls).toEqual([
      ['[svc] authority could not be verified, answered 503: refused 401: no such key'],
      ['[svc] authority could not be verified, answered 503: TypeError; pass onError to see it'],
    ]);
  });

  it('passes what `action` throws to the framework, and does not ask the service', async () => {
    await using service = await startServer(serviceScript());
    const action = () => {
      throw new Error('no such order');
    };
    await using shop = await start({ verifier: verifierOf(service.baseUrl), action });
    expect((await post(shop, await presented())).status).toBe(500);
    expect(service.received).toEqual([]);
    expect(shop.handled).toEqual([]);
  });

  it('verifies the Action that `action` reads from the request', async () => {
    await using service = await startServer(serviceScript());
    const action = (body: string) => ({ ...order, amount: body.length });
    await using shop = await start({ verifier: verifierOf(service.baseUrl), action });
    const answer = await post(shop, await presented());
    const message = REASON_TEXTS.PROOF_ACTION_MISMATCH;
    expect(answer).toMatchObject({ status: 403, body: { reason: 'PROOF_ACTION_MISMATCH', message } });
    expect((await post(shop, await presented({ action: action('the order') }))).status).toBe(200);
    expect(shop.handled).toMatchObject([{ body: 'the order' }]);
  });

  it('uses the address that `url` returns, and answers 400 where that is no URL', async () => {
    await using service = await startServer(serviceScript());
    const url = (path: string) => `https://public.example/v1${path}`;
    await using shop = await start({ verifier: verifierOf(service.baseUrl), url });
    expect((await post(shop, await presented())).status).toBe(403);
    const proof = await presented({ url: 'https://public.example/v1/orders' });
    expect((await post(shop, proof, '/orders')).status).toBe(200);
    await using lost = await start({ verifier: verifierOf(service.baseUrl), url: () => 'not a URL' });
    expect((await post(lost, await presented())).status).toBe(400);
  });

  // WHATWG requests have no request target, so this cannot occur.
  if (name !== 'fetch')
    it('refuses an absolute request target with another host', async () => {
      await using service = await startServer(serviceScript());
      await using shop = await start({ verifier: verifierOf(service.baseUrl) });
      const headers = await presented();
      const status = await new Promise((resolve, reject) => {
        const { hostname, port } = new URL(shop.baseUrl);
        const path = 'http://evil.example/orders';
        const sent = httpRequest(
          { hostname, port, path, method: 'POST', headers, agent: false },
          (response) => {
            response.resume().on('end', () => resolve(response.statusCode));
          },
        );
        sent.on('error', reject).end();
      });
      expect([400, 404]).toContain(status);
      expect(service.received).toEqual([]);
      expect(shop.handled).toEqual([]);
    });

  // A WHATWG request's URL is already in normal form: the router and the check see the same path.
  if (name !== 'fetch')
    it.each([
      '/danger/../orders',
      '/danger/%2e%2e/orders',
      '/./orders',
      '/%6Frders',
      '/a%2Forders',
      '/a%5Corders',
    ])(
      'refuses the path %s, because authority is for the normal form and the router uses the received one',
      async (path) => {
        await using service = await startServer(serviceScript());
        await using shop = await start({ verifier: verifierOf(service.baseUrl) });
        const headers = await presented();
        const status = await new Promise((resolve, reject) => {
          const { hostname, port } = new URL(shop.baseUrl);
          const sent = httpRequest(
            { hostname, port, path, method: 'POST', headers, agent: false },
            (response) => {
              response.resume().on('end', () => resolve(response.statusCode));
            },
          );
          sent.on('error', reject).end();
        });
        expect([400, 404]).toContain(status);
        expect(service.received).toEqual([]);
        expect(shop.handled).toEqual([]);
      },
    );

  it('refuses a slash before a semicolon, which some routers serve as the path without it', async () => {
    await using service = await startServer(serviceScript());
    await using shop = await start({ verifier: verifierOf(service.baseUrl) });
    for (const path of ['/orders/;draft', '/orders/;']) {
      const headers = await presented({ url: `${ORIGIN}${path}` });
      // 404: this framework's router does not cut the path there.
      expect([400, 404], path).toContain((await post(shop, headers, path)).status);
    }
    expect(service.received).toEqual([]);
  });

  it('refuses two slashes in a row, which some routers read as one', async () => {
    await using service = await startServer(serviceScript());
    await using shop = await start({ verifier: verifierOf(service.baseUrl) });
    for (const path of ['/orders//', '/orders//7', '/orders/7//items?draft=1']) {
      const answer = await post(shop, await presented({ url: `${ORIGIN}${path}` }), path);
      // 404: this framework's router has no such route.
      expect([400, 404], path).toContain(answer.status);
      if (answer.status === 400)
        expect(answer.body).toMatchObject({ message: expect.stringContaining('two slashes in a row') });
    }
    expect(service.received).toEqual([]);
    expect(shop.handled).toEqual([]);
  });

  it.each(['/orders/', '/orders/?draft=1'])(
    'refuses %s, which the router serves as /orders, unless allowTrailingSlash is set',
    async (path) => {
      await using service = await startServer(serviceScript());
      const verifier = verifierOf(service.baseUrl);
      await using shop = await start({ verifier });
      const headers = await presented({ url: `${ORIGIN}${path}` });
      expect(await post(shop, headers, path)).toMatchObject({
        status: 400,
        body: { error: 'INVALID_REQUEST', message: 'the path must not end in a slash' },
      });
      expect(service.received).toEqual([]);
      expect(shop.handled).toEqual([]);
      await using strict = await start({ verifier, allowTrailingSlash: true });
      expect((await post(strict, headers, path)).status).toBe(200);
    },
  );

  const verifier = verifierOf('https://svc.example');
  const complete = { verifier, origin: ORIGIN, action: () => order };
  it.each<[string, object | undefined, RegExp]>([
    ['no options', undefined, /takes an object/],
    ['no verifier', { ...complete, verifier: undefined }, /verifier must be .* given nothing/],
    ['an object that is no verifier', { ...complete, verifier: {} }, /verifier must be .* given an object/],
    ['no action', { ...complete, action: undefined }, /action must be a function.* given nothing/],
    ['an Action instead of a function', { ...complete, action: order }, /action must be a function/],
    ['origin and url', { ...complete, url: () => ORIGIN }, /either origin.* or url/],
    ['neither origin nor url', { ...complete, origin: undefined }, /either origin.* or url/],
    ['a URL as text', { verifier, action: () => order, url: ORIGIN }, /url must be a function/],
    [
      'a flag that is no boolean',
      { ...complete, allowTrailingSlash: 'no' },
      /allowTrailingSlash must be true or false/,
    ],
    ['an unknown option', { ...complete, onFailure: () => undefined }, /no option "onFailure".*onError/],
  ])('refuses to be made with %s', (_, given, message) => {
    const options = given as AuthorityOptions<unknown>;
    for (const make of [
      () => expressGuard(options),
      () => fastifyGuard(options),
      () => protect(options, () => new Response()),
      () => createAuthorizer(options),
    ]) {
      const refused = { kind: 'configuration', message: expect.stringMatching(message) };
      expect(make).toThrow(expect.objectContaining(refused));
    }
  });

  it.each(['shop.example', 'https://shop.example/', 'https://shop.example/api', ''])(
    'refuses to be made with the origin %j',
    (origin) => {
      const options = { verifier: verifierOf('https://svc.example'), origin, action: () => order };
      for (const make of [
        () => expressGuard(options),
        () => fastifyGuard(options),
        () => protect(options, () => new Response()),
      ]) {
        expect(make).toThrow(expect.objectContaining({ kind: 'configuration' }));
      }
    },
  );
});

it('protect requires a handler, and answers 400 to a method that no Proof can name', async () => {
  await using service = await startServer(serviceScript());
  const options = { verifier: verifierOf(service.baseUrl), origin: ORIGIN, action: () => order };
  const missing = undefined as unknown as () => Response;
  expect(() => protect(options, missing)).toThrow(expect.objectContaining({ kind: 'configuration' }));
  const handler = protect(options, () => new Response());
  const headers = await presented();
  const response = await handler(new Request(`${ORIGIN}/orders`, { method: 'purge', headers }));
  expect(response.status).toBe(400);
  expect(service.received).toEqual([]);
});

it('behind the Express 4 middleware, two slashes reach no route, although a mounted router reads them as one', async () => {
  await using service = await startServer(serviceScript());
  const served: string[] = [];
  const routes = () => {
    const router = express4.Router();
    for (const path of ['/orders', '/:id/orders'])
      router.get(path, (_request: unknown, response: express.Response) => {
        served.push(path);
        response.json({ ok: true });
      });
    return router;
  };
  const guard = expressGuard<express.Request>({
    verifier: verifierOf(service.baseUrl),
    origin: ORIGIN,
    action: () => order,
  });
  const server = express4().use('/users', guard, routes()).use('/open', routes()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const ask = async (path: string) => {
    const headers = { ...(await presented({ method: 'GET', url: `${ORIGIN}${path}` })), connection: 'close' };
    return (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { headers }))
      .status;
  };
  // The reason for the refusal: without the guard, the collection is served as if it had been requested.
  expect([await ask('/open//orders'), served.splice(0)]).toEqual([200, ['/orders']]);
  expect([await ask('/users//orders'), served, service.received]).toEqual([400, [], []]);
  expect([await ask('/users/7/orders'), served]).toEqual([200, ['/:id/orders']]);
  await new Promise((resolve) => server.close(resolve));
});

describe('a body that cannot be read', () => {
  /** Typical apps: `req.body.items[0]`, and the frameworks' own parsers. */
  const action = ({ body }: { body?: unknown }) => ({
    ...order,
    resource: `order/${(body as { items: readonly string[] }).items[0]}`,
  });
  const options = { verifier: verifierOf('https://svc.example'), origin: ORIGIN, action };
  const json = { 'content-type': 'application/json' };

  interface Answer {
    readonly status: number;
    readonly text: string;
  }
  type Ask = (init: RequestInit, parsers?: express.RequestHandler[], onError?: () => void) => Promise<Answer>;

  /** Mounted as the README says. */
  const askExpress =
    (framework: typeof express): Ask =>
    async (init, parsers = [framework.json({ limit: 100 })], onError) => {
      const guard = expressGuard<express.Request>(onError === undefined ? options : { ...options, onError });
      const app = framework();
      app.post('/orders', ...parsers, guard);
      app.use(refuseUnreadableBody);
      const server = app.listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`;
      const headers = { ...(await presented()), connection: 'close', ...init.headers };
      const response = await fetch(url, { method: 'POST', ...init, headers });
      const text = await response.text();
      await new Promise((resolve) => server.close(resolve));
      return { status: response.status, text };
    };
  const askFastify: Ask = async ({ body, headers }) => {
    const app = fastify({ bodyLimit: 100 });
    app.post('/orders', { preHandler: fastifyGuard(options) }, async () => ({}));
    const sent = { ...(await presented()), ...(headers as Record<string, string>) };
    const payload = typeof body === 'string' ? { payload: body } : {};
    const { statusCode, body: text } = await app.inject({
      ...{ method: 'POST', url: '/orders', headers: sent },
      ...payload,
    });
    return { status: statusCode, text };
  };
  const askFetch: Ask = async ({ body, headers }) => {
    const fromJson = async (request: Request) => action({ body: await request.json() }) as Action;
    const handler = protect({ ...options, action: fromJson }, () => new Response());
    const sent = { ...(await presented()), ...(headers as Record<string, string>) };
    const response = await handler(
      new Request(`${ORIGIN}/orders`, { method: 'POST', headers: sent, body: body ?? null }),
    );
    return { status: response.status, text: await response.text() };
  };

  const TOO_LARGE = JSON.stringify({ items: ['x'.repeat(1_048_576)] });
  const OF_ALL: readonly (readonly [what: string, init: RequestInit, status: number])[] = [
    ['malformed', { headers: json, body: '{"items":' }, 400],
    ['none at all', {}, 400],
    ['a JSON null', { headers: json, body: 'null' }, 400],
    ['too large', { headers: json, body: TOO_LARGE }, 413],
  ];
  /** `json()` in a fetch handler reads any content type. */
  const OF_PARSERS = [
    ...OF_ALL,
    ['text', { headers: { 'content-type': 'text/plain' }, body: 'items' }, 415],
    ['of a type that nobody parses', { headers: { 'content-type': 'image/png' }, body: 'items' }, 415],
  ] as const;
  const OF_EXPRESS = [
    ...OF_PARSERS,
    ['of an unknown charset', { headers: { 'content-type': 'application/json; charset=x' }, body: '1' }, 415],
    ['of an unknown encoding', { headers: { ...json, 'content-encoding': 'x' }, body: '1' }, 415],
  ] as const;
  describe.each<[string, Ask, typeof OF_ALL]>([
    ['Express 5', askExpress(express), OF_EXPRESS],
    ['Express 4', askExpress(express4), OF_EXPRESS],
    ['Fastify', askFastify, OF_PARSERS],
    ['a fetch handler', askFetch, OF_ALL],
  ])('in %s', (_, ask, cases) => {
    it.each(cases)(
      'an unreadable body is refused with a message and without a stack: %s',
      async (_, init, expected) => {
        const { status, text } = await ask(init);
        expect([status, JSON.parse(text)]).toEqual([
          expected,
          expect.objectContaining({ message: expect.any(String) }),
        ]);
        expect(text).not.toMatch(/\bat .*\.[jt]s|TypeError|undefined/);
      },
    );
  });

  it('a body that no parser reads is answered 500, and onError is called', async () => {
    const onError = vi.fn();
    const { status, text } = await askExpress(express)({ headers: json, body: '{"items":[1]}' }, [], onError);
    expect(status).toBe(500);
    expect(JSON.parse(text)).toEqual({
      error: 'CONFIGURATION',
      message: expect.stringContaining('express.json()'),
    });
    expect(onError.mock.calls).toMatchObject([[{ kind: 'configuration' }, {}]]);
  });

  it('an error that `action` throws before it reads a body is passed to the framework', async () => {
    const bug = new TypeError("Cannot read properties of undefined (reading 'price')");
    const broken = { ...options, action: () => Promise.reject<Action>(bug) };
    const next = vi.fn();
    const express5 = { method: 'POST', originalUrl: '/orders', headers: await presented() };
    await new Promise<void>((resolve) => {
      next.mockImplementation(() => resolve());
      expressGuard<typeof express5>(broken)(express5, {} as never, next);
    });
    expect(next).toHaveBeenCalledExactlyOnceWith(bug);
    expect(Object.keys(express5)).not.toContain('body');
    const app = fastify();
    const onBug = vi.fn();
    app.setErrorHandler((error, _, reply) => {
      onBug(error);
      return reply.code(500).send();
    });
    app.get('/orders', { preHandler: fastifyGuard(broken) }, async () => ({}));
    const { statusCode } = await app.inject({ url: '/orders', headers: await presented() });
    expect([statusCode, onBug.mock.calls]).toEqual([500, [[bug]]]);
  });

  it('the handler finds the `body` that `action` set', async () => {
    await using service = await startServer(serviceScript());
    const verifier = verifierOf(service.baseUrl);
    const request = {
      method: 'POST',
      originalUrl: '/orders',
      headers: await presented(),
      body: 'sent' as unknown,
    };
    const own = (req: { body?: unknown }) => {
      req.body = { was: req.body };
      return order;
    };
    const url = () => `${ORIGIN}/orders`;
    const problem = await new Promise((resolve) => {
      expressGuard<typeof request>({ verifier, url, action: own })(request, {} as never, resolve);
    });
    expect(problem).toBeUndefined();
    expect(Object.getOwnPropertyDescriptor(request, 'body')).toMatchObject({ value: { was: 'sent' } });
  });

  it('a fetch handler reads the body of a proxied Request, as Next.js passes it', async () => {
    const proxied = (target: Request): Request =>
      new Proxy(target, {
        get(of, name) {
          if (name === 'clone') return () => proxied(of.clone());
          const value = Reflect.get(of, name, of);
          return typeof value === 'function' ? value.bind(of) : value;
        },
      });
    await using service = await startServer(serviceScript());
    const handler = protect(
      {
        verifier: verifierOf(service.baseUrl),
        origin: ORIGIN,
        action: async (request) => ({ ...order, ...((await request.json()) as { amount: number }) }),
      },
      async (request) => Response.json(await request.json()),
    );
    const init = { method: 'POST', headers: await presented(), body: '{"amount":42700}' };
    const response = await handler(proxied(new Request(`${ORIGIN}/orders`, init)));
    expect([response.status, await response.json()]).toEqual([200, { amount: 42_700 }]);
  });

  it('a fetch handler keeps no copy of the body for an `action` that does not read it', async () => {
    await using service = await startServer(serviceScript());
    let left = 64;
    const body = new ReadableStream<Uint8Array>({
      pull(to) {
        if (left-- > 0) to.enqueue(new Uint8Array(65_536));
        else to.close();
      },
    });
    const init = { method: 'POST', headers: await presented(), body, duplex: 'half' as const };
    const request = new Request(`${ORIGIN}/orders`, init);
    const copies: Request[] = [];
    const clone = request.clone.bind(request);
    Object.defineProperty(request, 'clone', {
      value: () => {
        const copy = clone();
        copies.push(copy);
        return copy;
      },
    });
    const handler = protect(
      { verifier: verifierOf(service.baseUrl), origin: ORIGIN, action: () => order },
      async (given) => Response.json((await given.arrayBuffer()).byteLength),
    );
    expect(await (await handler(request)).json()).toBe(64 * 65_536);
    // What can still be read from the copy was buffered.
    const [copy] = copies;
    expect(await copy?.body?.getReader().read()).toEqual({ done: true, value: undefined });
  });

  it('a fetch handler keeps no copy of the body of a request that it refuses before it calls `action`', async () => {
    const request = new Request(`${ORIGIN}/orders`, { method: 'POST', body: 'x'.repeat(65_536) });
    const copy = request.clone();
    Object.defineProperty(request, 'clone', { value: () => copy });
    const verifier = { verify: () => Promise.reject(new Error('asked')) };
    const handler = protect({ verifier, origin: ORIGIN, action: () => order }, () => new Response());
    expect((await handler(request)).status).toBe(401);
    expect(await copy.body?.getReader().read()).toEqual({ done: true, value: undefined });
  });

  it('other errors of the shop reach its framework unchanged', async () => {
    const next = vi.fn();
    const errors = [
      new TypeError('own'),
      Object.assign(new Error('own'), { type: 'own', status: 400 }),
      null,
    ];
    for (const error of errors) refuseUnreadableBody(error, {}, {} as never, next);
    expect(next.mock.calls.flat()).toEqual(errors);
    const answerTo = async (body: string, own: (request: Request) => Promise<Action>) => {
      const handler = protect({ ...options, action: own }, () => new Response());
      return handler(new Request(`${ORIGIN}/orders`, { method: 'POST', headers: await presented(), body }));
    };
    const rule = new SyntaxError('a rule of the shop');
    await expect(answerTo('{}', () => Promise.reject(rule))).rejects.toBe(rule);
    const noSuch = async (request: Request) => action({ body: await request.json() }) as Action;
    await expect(answerTo('{"id":1}', noSuch)).rejects.toThrow(TypeError);
    const twice = async (request: Request) => {
      await request.json();
      return (await request.json()) as Action;
    };
    await expect(answerTo('{"items":[1]}', twice)).rejects.toThrow(/unusable|already/);
  });
});

it('getAuthority throws in a handler without the middleware', () => {
  expect(() => getAuthority({})).toThrow(expect.objectContaining({ kind: 'configuration' }));
});
