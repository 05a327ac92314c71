import { type Reply, startServer } from '@svc/testkit/sdk/scripted-server';
import { expect, it, vi } from 'vitest';
import { createVerifier, type VerifierOptions } from '../src/index.ts';
import { SERVICE, SHOP, serviceDocument } from './world.ts';

const ME = {
  subject: SHOP,
  role: 'rp',
  key_id: '3fa1c09be742',
  service_did: SERVICE,
  env: 'development',
};

/** A service that says so of itself and of the key. */
const serviceOf = (me: object) =>
  startServer(
    async ({ path }): Promise<Reply> => ({ json: path === '/me' ? { ...ME, ...me } : serviceDocument }),
  );
const verifierOf = (baseUrl: string, options: Partial<VerifierOptions> = {}) =>
  createVerifier({ baseUrl, apiKey: 'dk_rp_test', serviceDid: SERVICE, relyingParty: SHOP, ...options });

it('a verifier that could verify is ready', async () => {
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
    /didDocument is of did:web:other/,
  ],
])('a key that %s is told at start, with what to change', async (_, me, options, message) => {
  await using server = await serviceOf(me);
  const ready = async () => verifierOf(server.baseUrl, options).ready();
  await expect(ready()).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringMatching(message),
  });
});

it('no key at all, and one that the service does not know, are told at start', async () => {
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

it('an address at which something else answers is told at start', async () => {
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

it('a service that cannot be reached is told at start', async () => {
  const server = await startServer([]);
  const { baseUrl } = server;
  await server[Symbol.asyncDispose]();
  await expect(verifierOf(baseUrl, { maxAttempts: 1 }).ready()).rejects.toMatchObject({
    kind: 'network',
    message: expect.stringMatching(/cannot be reached: check baseUrl.*ECONNREFUSED/),
  });
});
