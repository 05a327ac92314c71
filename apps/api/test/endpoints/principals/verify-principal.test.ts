/**
 * `POST /principals/{did}/verify` (interface §Principal lifecycle). Tests over time and under load:
 * deployments/hosted-*.
 */
import { createHash } from 'node:crypto';
import { generatePrincipalKey } from '@svc/sdk-principal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { randomSlug, withOwnDeployment } from '../../world/deployment.ts';
import { didDocument, PROOF, startPrincipalHost } from '../../world/principal-host.ts';

const host = await startPrincipalHost();
afterAll(() => host.close());
const name = `${randomSlug('host')}.example`;
const did = `did:web:${name}`;
const deployment = withOwnDeployment({ SVC_OUTBOUND_MAP: JSON.stringify({ [name]: host.url }) });

const verify = (of: string, key = ADMIN_TOKEN) =>
  deployment.call('POST', `/principals/${of}/verify`, { key });

it('A hosted Principal is verified only by a proof with its token on its domain', async () => {
  const { key, body } = await deployment.register('/principals', { kind: 'hosted', did });
  const { token } = body.verification as { token: string };
  for (const [page, state] of [
    [undefined, 'unverified'],
    [{ did, token: `${token}x` }, 'unverified'],
    [{ did, token }, 'verified'],
  ] as const) {
    if (page !== undefined) host.pages.set(PROOF, page);
    const { status, json } = await verify(did, key);
    expect([status, json.verification]).toMatchObject([200, { state }]);
  }
  const { json } = await deployment.call('GET', `/principals/${did}`, { key: ADMIN_TOKEN });
  expect(json.verification).toMatchObject({ state: 'verified' });
});

it('A managed Principal is verified without a request to a host', async () => {
  const { principalDid, principalKey } = await deployment.createTenants();
  const asked = host.asked.length;
  const { status, json } = await verify(principalDid, principalKey);
  expect([status, json.verification]).toMatchObject([200, { state: 'verified' }]);
  expect(host.asked.length).toBe(asked);
  const query = `action=principal.verify&target=${encodeURIComponent(principalDid)}`;
  const audit = await deployment.call('GET', `/audit?${query}`, { key: principalKey });
  expect(audit.json.events).toMatchObject([{ details: { from: 'verified', to: 'verified' } }]);
});

it('The proof file of a host may list several DIDs; only well-formed entries of the list verify their DID', async () => {
  const dids = [`${did}:one`, `${did}:two`, `${did}:three`];
  const registered = await Promise.all(
    dids.map((one) => deployment.register('/principals', { kind: 'hosted', did: one })),
  );
  const [one, two, three] = registered.map(
    ({ body }) => (body.verification as { well_known: { body: object } }).well_known.body,
  );
  host.pages.set(PROOF, [one, two, { ...three, more: 1 }, 'else', null, [three]]);
  const states = await Promise.all(
    dids.map(async (of) => ((await verify(of)).json.verification as { state: string }).state),
  );
  expect(states).toEqual(['verified', 'verified', 'unverified']);
});

describe('The DID document fetched by POST /principals/{did}/verify', () => {
  const PATH = '/doc/did.json';
  const documented = `${did}:doc`;
  const publish = (keys: readonly { id: string; publicKeyMultibase: string }[], more: object = {}) =>
    host.pages.set(PATH, { ...didDocument(documented, keys), ...more });
  const keysOf = async () => {
    const { json } = await deployment.call('GET', `/principals/${documented}`, { key: reader });
    return json.keys as { kid: string; state: string; since: string }[];
  };
  let reader: string;
  let keys: { id: string; publicKeyMultibase: string }[];

  beforeAll(async () => {
    reader = (await deployment.createTenants()).rpKey;
    keys = await Promise.all(
      ['a', 'b'].map(async (id) => ({
        id,
        publicKeyMultibase: (await generatePrincipalKey()).registration.publicKeyMultibase,
      })),
    );
    await deployment.register('/principals', { kind: 'hosted', did: documented });
  });

  it('retires keys that it does not list, and reactivates them when it lists them again', async () => {
    publish(keys);
    await verify(documented);
    expect((await keysOf()).map(({ state }) => state)).toEqual(['active', 'active']);
    publish(keys.slice(0, 1));
    await verify(documented);
    const [kept, withdrawn] = await keysOf();
    expect([kept?.state, withdrawn?.state]).toEqual(['active', 'retired']);
    await verify(documented);
    expect((await keysOf())[1]).toEqual(withdrawn);
    publish(keys);
    await verify(documented);
    expect((await keysOf()).map(({ state }) => state)).toEqual(['active', 'active']);
  });

  it('retires keys marked as revoked or expired since that instant, in the directory and in /me', async () => {
    const own = (await deployment.register('/principals', { kind: 'hosted', did: `${documented}:own` })).key;
    const statesOfOwn = async () =>
      ((await deployment.call('GET', '/me', { key: own })).json.keys as { state: string }[]).map(
        ({ state }) => state,
      );
    const mark = async (of: string, marks: object) => {
      const document = didDocument(of, keys);
      const [first, second] = document.verificationMethod;
      const page = { ...document, verificationMethod: [first, { ...second, ...marks }] };
      host.pages.set(`${of.slice(did.length).replaceAll(':', '/')}/did.json`, page);
      await verify(of);
    };
    const since = '2026-01-02T03:04:05.000Z';
    for (const [marks, state] of [
      [{ revoked: since }, 'retired'],
      [{ expires: '2026-01-02T04:04:05+01:00' }, 'retired'],
      [{ expires: '2999-01-01T00:00:00Z' }, 'active'],
      [{ revoked: 'yesterday' }, 'retired'],
      // In UTC this is in the year before the first that a timestamp can express.
      [{ revoked: '0000-01-01T00:00:00+00:01' }, 'retired'],
      [{}, 'active'],
    ] as const) {
      await mark(documented, marks);
      const [kept, marked] = await keysOf();
      expect([kept?.state, marked?.state]).toEqual(['active', state]);
      if (state === 'retired' && ('expires' in marks || marks.revoked === since))
        expect(marked?.since).toBe(since);
      const listed = await deployment.call('GET', '/principals?limit=100', { key: reader });
      expect(listed.status).toBe(200);
      await mark(`${documented}:own`, marks);
      // A key that was malformed when it was first seen has never been a key.
      expect((await statesOfOwn()).at(-1)).toBe(state);
    }
  });

  it('is stored as evidence with the host’s content type if that is in the JSON family, else as did+json', async () => {
    for (const [given, served] of [
      ['application/did+ld+json', 'application/did+ld+json'],
      ['application/json; charset=utf-8', 'application/json; charset=utf-8'],
      ['Application/Vnd.Acme+JSON', 'application/vnd.acme+json'],
      ['text/html', 'application/did+json'],
    ] as const) {
      host.contentType = given;
      const text = JSON.stringify({ ...didDocument(documented, keys), note: given });
      host.pages.set(PATH, text);
      await verify(documented);
      const hash = createHash('sha256').update(text).digest('hex');
      const { status, headers } = await deployment.call('GET', `/evidence/${hash}`);
      expect([status, headers['content-type']]).toEqual([200, served]);
    }
    host.contentType = 'application/json';
  });

  it('is applied at most 30 times an hour, except for one that only removes keys, which always applies', async () => {
    const stored = async () => {
      const { rows } = await deployment.sql.query(
        `select count(*)::int as n from evidence where position($1::bytea in body) > 0`,
        [Buffer.from(documented)],
      );
      return Number(rows[0]?.n);
    };
    await deployment.sql.query('update principals set document_changes_since = null');
    const before = await stored();
    const operator = await deployment.createKey('org:admin', await deployment.createOrg());
    await deployment.call('POST', `/claims/${documented}/transfer`, {
      key: ADMIN_TOKEN,
      body: {
        kind: 'principal',
        org_id: (await deployment.call('GET', '/me', { key: operator })).json.subject,
      },
    });
    for (let i = 0; i < 36; i++) {
      publish(keys, { note: i });
      expect((await verify(documented, operator)).status).toBe(200);
    }
    expect((await stored()) - before).toBe(30);
    publish(keys.slice(0, 1), { note: 'withdrawn' });
    await verify(documented, operator);
    expect((await keysOf()).map(({ state }) => state)).toEqual(['active', 'retired']);
    expect((await stored()) - before).toBe(31);
    publish(keys, { note: 'again' });
    await verify(documented, operator);
    expect((await stored()) - before).toBe(31);
    const { verificationMethod } = didDocument(documented, keys.slice(0, 1));
    const revoked = verificationMethod.map((method) => ({ ...method, revoked: '2026-01-01T00:00:00Z' }));
    for (const note of ['revoked', 'and changed again']) {
      publish(keys.slice(0, 1), { verificationMethod: revoked, note });
      await verify(documented, operator);
      expect((await keysOf()).map(({ state }) => state)).toEqual(['retired', 'retired']);
      expect((await stored()) - before).toBe(32);
    }
  });
});

it('POST /principals/{did}/verify answers 404 for another’s Principal exactly as for one that does not exist', async () => {
  const { principalKey, principalDid } = await deployment.createTenants();
  const foreign = await deployment.createTenants();
  const absent = principalDid.replace(/.{10}$/, '0000000000');
  const seen = await verify(foreign.principalDid, principalKey);
  const none = await verify(absent, principalKey);
  expect([seen.status, seen.text.replaceAll(foreign.principalDid, '')]).toEqual([
    404,
    none.text.replaceAll(absent, ''),
  ]);
});
