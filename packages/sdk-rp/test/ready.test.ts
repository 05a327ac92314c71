import { type Reply, startServer } from '@svc/testkit/sdk/scripted-server';
import { expect, it, vi } from 'vitest';
import { createVerifier, type VerifierOptions } from '../src/index.ts';
import { NOW_MS, olderDocument, SERVICE, SHOP, serviceDocument } from './world.ts';

const ME = {
  subject: SHOP,
  role: 'rp',
  key_id: '3fa1c09be742',
  service_did: SERVICE,
  env: 'development',
};

/** A service that answers this about the key. */
const serviceOf = (me: object) =>
  startServer(
    async ({ path }): Promise<Reply> => ({ json: path === '/me' ? { ...ME, ...me } : serviceDocument }),
  );
const verifierOf = (baseUrl: string, options: Partial<VerifierOptions> = {}) => {
  const whose = options.didDocument === undefined ? { serviceDid: SERVICE } : {};
  return createVerifier({ baseUrl, apiKey: 'dk_rp_test', relyingParty: SHOP, ...whose, ...options });
};

it('ready resolves for a verifier that can verify', async () => {
  await using server = await serviceOf({});
  await expect(verifierOf(server.baseUrl).ready()).resolves.toBeUndefined();
  const { serviceDid: _, ...pinned } = { serviceDid: SERVICE, didDocument: serviceDocument };
  await expect(
    createVerifier({ baseUrl: server.baseUrl, apiKey: 'dk_rp_test', ...pinned }).ready(),
  ).resolves.toBeUndefined();
});

const OTHER = 'did:web:other.example';
const documentOfOther: unknown = JSON.parse(JSON.stringify(serviceDocument).replaceAll(SERVICE, OTHER));
it.each<[string, object, Partial<VerifierOptions>, RegExp]>([
  [
    'is of another role',
    { role: 'principal' },
    {},
    /not a relying party's.*role principal.*pass the key of did:web:shop/,
  ],
  [
    'is of another relying party',
    { subject: OTHER },
    {},
    /key is that of did:web:other\.example.*relyingParty is did:web:shop/,
  ],
  [
    'is of a service of another DID',
    { service_did: OTHER },
    {},
    /service at baseUrl is did:web:other.*serviceDid is of did:web:svc/,
  ],
  [
    'is of a service that is not the pinned one',
    {},
    { didDocument: documentOfOther, serviceDid: OTHER },
    /service at baseUrl is did:web:svc.*serviceDid is of did:web:other/,
  ],
  [
    'is of a service with another document',
    {},
    { didDocument: documentOfOther },
    /service at baseUrl is did:web:svc.*didDocument is of did:web:other/,
  ],
])('ready refuses a key that %s, and says what to change', async (_, me, options, message) => {
  await using server = await serviceOf(me);
  const ready = async () => verifierOf(server.baseUrl, options).ready();
  await expect(ready()).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringMatching(message),
  });
});

/** Answers at `NOW_MS` by the clock that dates Receipts, behind a gateway whose own clock is a minute ahead. */
const datedService = () =>
  startServer(({ path }): Reply => {
    const headers = {
      'svc-time': new Date(NOW_MS).toISOString(),
      date: new Date(NOW_MS + 60_000).toUTCString(),
    };
    return { headers, json: path === '/me' ? ME : serviceDocument };
  });

it.each<[string, number, Partial<VerifierOptions>, RegExp]>([
  ['6 s behind', -6_000, {}, /^the clock here is at least 6 s behind .* 5000 ms of serviceClockAheadMs/],
  ['a year behind', -31_536_000_000, {}, /^the clock here is at least 31536000 s behind/],
  [
    '31.25 s ahead',
    31_250,
    {},
    /^the clock here is at least 31.25 s ahead .* 30000 ms of serviceClockBehindMs/,
  ],
  ['behind by more than the setting allows', -2_000, { serviceClockAheadMs: 1_000 }, /behind .* 1000 ms/],
  ['ahead by more than the setting allows', 3_000, { serviceClockBehindMs: 1_000 }, /ahead .* 1000 ms/],
])('ready refuses a clock that is %s, before a Proof is spent', async (_, offMs, options, message) => {
  await using server = await datedService();
  const ready = verifierOf(server.baseUrl, { now: () => NOW_MS + offMs, ...options }).ready();
  await expect(ready).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringMatching(message),
  });
});

it.each([-5_000, -1, 0, 30_000])(
  'ready accepts a clock that is off by %d ms, as verify does',
  async (offMs) => {
    await using server = await datedService();
    const ready = verifierOf(server.baseUrl, { now: () => NOW_MS + offMs }).ready();
    await expect(ready).resolves.toBeUndefined();
  },
);

it.each<[string, object]>([
  ['no Svc-Time', { date: new Date(NOW_MS).toUTCString() }],
  ['a malformed Svc-Time', { 'svc-time': 'soon' }],
])('ready draws no conclusion about the clock from an answer with %s', async (_, headers) => {
  const fetch = async (url: unknown) =>
    Response.json(String(url).endsWith('/me') ? ME : serviceDocument, { headers: { ...headers } });
  const verifier = verifierOf('https://svc.example', { now: () => NOW_MS - 3_600_000, fetch });
  await expect(verifier.ready()).resolves.toBeUndefined();
});

const [first, second] = serviceDocument.verificationMethod;
const served = (...methods: (object | undefined)[]) => ({ ...serviceDocument, verificationMethod: methods });

it.each<[string, Reply, boolean]>([
  ['signs by a key that it lacks', { json: served(second, first) }, false],
  [
    'signs by a key that it lacks, the former one ended',
    { json: served({ ...first, 'svc:validUntil': '2026-11-20T07:00:00Z' }, second) },
    false,
  ],
  [
    'signs by another key under the same name',
    { json: served({ ...first, publicKeyMultibase: second?.publicKeyMultibase }) },
    false,
  ],
  ['has published a key that does not sign yet', { json: serviceDocument }, true],
  ['serves no document', { status: 404, json: {} }, true],
  ['serves a malformed document', { json: { verificationMethod: [null, 7, {}] } }, true],
])(
  'a pinned document whose service %s: ready refuses it only where verify would',
  async (_, reply, isReady) => {
    await using server = await startServer(({ path }) => (path === '/me' ? { json: ME } : reply));
    const ready = verifierOf(server.baseUrl, { didDocument: olderDocument }).ready();
    const refused = {
      kind: 'configuration',
      message: expect.stringMatching(/^the pinned didDocument does not have the key .*receipt-[12] under/),
    };
    await (isReady ? expect(ready).resolves.toBeUndefined() : expect(ready).rejects.toMatchObject(refused));
  },
);

it('ready refuses a missing API key, and one that the service does not know', async () => {
  vi.stubEnv('SVC_RP_KEY', '');
  const { apiKey: _, ...rest } = { baseUrl: 'http://localhost:9', apiKey: '', serviceDid: SERVICE };
  await expect(createVerifier(rest).ready()).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringContaining('pass apiKey or set SVC_RP_KEY'),
  });
  vi.unstubAllEnvs();
  await using server = await startServer([{ status: 401, json: { error: 'UNAUTHORIZED', message: 'no' } }]);
  await expect(verifierOf(server.baseUrl).ready()).rejects.toMatchObject({
    kind: 'configuration',
    status: 401,
    message: expect.stringContaining('does not know the API key'),
  });
});

it('ready refuses an address at which something else answers', async () => {
  const notFound = {
    status: 404,
    json: { error: 'NOT_FOUND', message: 'There are /livez, /readyz, /servez and /metrics' },
  };
  await using server = await startServer([notFound]);
  await expect(verifierOf(server.baseUrl).ready()).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringMatching(
      /^what answers at http.* is not the API of a service: check address, port and path/,
    ),
  });
});

it('ready reports a service that cannot be reached', async () => {
  const server = await startServer([]);
  const { baseUrl } = server;
  await server[Symbol.asyncDispose]();
  await expect(verifierOf(baseUrl, { maxAttempts: 1 }).ready()).rejects.toMatchObject({
    kind: 'network',
    message: expect.stringMatching(/cannot be reached: check baseUrl.*ECONNREFUSED/),
  });
});
