import { generateKeyPairSync } from 'node:crypto';
import { type DidWeb, encodeMultikey } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { closedEndpoint, startHttpHost } from '@svc/testkit/outbound/hosts';
import { type Page, type ServedHost, startServedHost } from '@svc/testkit/outbound/served';
import { addresses, HOST_ADDRESS, tableDns, type World, worldOf } from '@svc/testkit/outbound/world';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createOutbound, resolveDidWeb } from '../src/index.ts';

const DID = 'did:web:acme.example' as DidWeb;
const PAGE = 'acme.example/.well-known/did.json';

const newKey = (): Uint8Array =>
  new Uint8Array(
    generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(-32),
  );
const multikey = newKey();
const jwkKey = newKey();

const method = (id: string, publicKeyMultibase: string) => ({
  id,
  type: 'Multikey',
  controller: DID,
  publicKeyMultibase,
});
const documentOf = (members: object): string => JSON.stringify({ id: DID, ...members });
const GOOD = documentOf({
  verificationMethod: [
    method(`${DID}#key-1`, encodeMultikey(multikey)),
    {
      id: '#jwk',
      type: 'JsonWebKey',
      controller: DID,
      publicKeyJwk: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(jwkKey).toString('base64url') },
    },
    method(`${DID}#not-for-assertions`, encodeMultikey(newKey())),
  ],
  assertionMethod: ['#key-1', `${DID}#jwk`],
});

let served: ServedHost;
let world: World;

beforeAll(async () => {
  served = await startServedHost(['acme.example', 'shared.example']);
  world = worldOf(served.authority.ca, { [HOST_ADDRESS]: served.host.endpoint });
});
afterAll(() => served.host.close());
beforeEach(() => served.pages.clear());

const resolveFrom = (page: Page, did = DID) => {
  served.pages.set(PAGE, page);
  return resolveDidWeb(world.outbound, nativeCrypto, did);
};

describe('a hosted Principal’s document', () => {
  it('is resolved with its original text and its usable keys', async () => {
    const text = ` ${GOOD}\n`;
    expect(await resolveFrom({ body: text })).toMatchObject({
      kind: 'resolved',
      text,
      document: { id: DID },
      keys: [
        { kid: `${DID}#key-1`, publicKeyMultibase: encodeMultikey(multikey) },
        { kid: `${DID}#jwk`, publicKeyMultibase: encodeMultikey(jwkKey) },
      ],
    });
  });

  it('is fetched from the path in the DID', async () => {
    const did = 'did:web:shared.example:tenants:Acme-1' as DidWeb;
    served.pages.set('shared.example/tenants/Acme-1/did.json', { body: JSON.stringify({ id: did }) });
    expect(await resolveDidWeb(world.outbound, nativeCrypto, did)).toMatchObject({
      kind: 'resolved',
      keys: [],
    });
  });

  it('offers no weak key, no key under another DID and no key without a valid fragment', async () => {
    const weak = new Uint8Array(32);
    weak[0] = 1;
    const foreign = 'did:web:other.example#key-1';
    const strange = [
      foreign,
      DID,
      `${DID}#`,
      `${DID}#a b`,
      `${DID}x#k`,
      `${DID}#${'k'.repeat(257)}`,
      `${DID}#a#b`,
    ];
    const methods = [
      method(`${DID}#weak`, encodeMultikey(weak)),
      ...strange.map((id) => method(id, encodeMultikey(newKey()))),
    ];
    const body = documentOf({ verificationMethod: methods, assertionMethod: methods.map(({ id }) => id) });
    expect(await resolveFrom({ body })).toMatchObject({ kind: 'resolved', keys: [] });
  });

  it('is invalid with more than 32 usable keys (33 are examined) or more than 64 keys (none is examined)', async () => {
    const examined = vi.spyOn(nativeCrypto, 'isStrictKey');
    const resolveWith = (keys: readonly Uint8Array[], others: readonly object[] = []) => {
      const methods = [...others, ...keys.map((key, i) => method(`${DID}#${i}`, encodeMultikey(key)))];
      const assertionMethod = methods.map((one) => ('id' in one ? one.id : ''));
      examined.mockClear();
      return resolveFrom({ body: documentOf({ verificationMethod: methods, assertionMethod }) });
    };
    try {
      const keys = Array.from({ length: 65 }, newKey);
      const unread = Array.from({ length: 100 }, (_, i) => method(`${DID}#unread-${i}`, 'z'));
      const most = await resolveWith(keys.slice(0, 32), unread);
      expect(most.kind === 'resolved' && most.keys).toHaveLength(32);
      expect(await resolveWith(keys.slice(0, 33))).toMatchObject({ kind: 'invalid' });
      expect(await resolveWith(keys.slice(0, 64))).toMatchObject({ kind: 'invalid' });
      expect(examined).toHaveBeenCalledTimes(33);
      expect(await resolveWith(keys)).toMatchObject({ kind: 'invalid' });
      expect(examined).not.toHaveBeenCalled();
    } finally {
      examined.mockRestore();
    }
  });

  it.each<[string, string | Uint8Array]>([
    ['another id', JSON.stringify({ id: 'did:web:other.example' })],
    ['the id of a path under it', JSON.stringify({ id: `${DID}:a` })],
    ['no id', '{}'],
    ['an inherited id', `{"__proto__":{"id":"${DID}"}}`],
    ['two ids', `{"id":"${DID}","id":"${DID}"}`],
    ['an array', '[]'],
    ['a string', `"${DID}"`],
    ['nothing', ''],
    ['a web page', '<!doctype html>'],
    ['a byte order mark', `\ufeff${GOOD}`],
    ['bytes that are not UTF-8', Buffer.from(`{"id":"${DID}","a":"\xff"}`, 'latin1')],
    ['half of it', GOOD.slice(0, -1)],
    ['more than 64 KB', documentOf({ filler: 'x'.repeat(65_536) })],
    ['depth without end', documentOf({ deep: 0 }).replace('0', `${'['.repeat(2000)}${']'.repeat(2000)}`)],
  ])('is invalid: %s', async (_title, body) => {
    expect(await resolveFrom({ body })).toMatchObject({ kind: 'invalid' });
  });

  it.each([204, 206, 301, 302, 304, 307, 400, 401, 403, 404, 410, 451])(
    'is invalid with status %d',
    async (status) => {
      const body = status === 204 || status === 304 ? '' : GOOD;
      expect(await resolveFrom({ status, body })).toEqual({
        kind: 'invalid',
        problem: `the host answered ${status}`,
      });
    },
  );

  it.each([408, 425, 429, 500, 502, 503, 504, 520])('is unreachable with status %d', async (status) => {
    expect(await resolveFrom({ status, body: GOOD })).toMatchObject({ kind: 'unreachable' });
  });

  it('is unreachable with a Content-Encoding that was not asked for', async () => {
    expect(await resolveFrom({ body: GOOD, headers: { 'content-encoding': 'gzip' } })).toMatchObject({
      kind: 'unreachable',
    });
  });

  it('is unreachable on a fault of DNS, address, connection or certificate', async () => {
    const { ca } = served.authority;
    const resolveBy = (...parameters: Parameters<typeof worldOf>) =>
      resolveDidWeb(worldOf(...parameters).outbound, nativeCrypto, DID);
    const inside = tableDns({ 'acme.example': addresses('10.0.0.1') });
    const failing = tableDns({
      'acme.example': { kind: 'unreachable', fault: 'dns', why: 'DNS: ESERVFAIL' },
    });
    const gone = tableDns({ 'acme.example': { kind: 'absent' } });
    const unreachable = { kind: 'unreachable' };
    for (const dns of [inside, failing, gone])
      expect(await resolveBy(ca, {}, { dns })).toMatchObject(unreachable);
    expect(await resolveBy(ca, { [HOST_ADDRESS]: await closedEndpoint() })).toMatchObject(unreachable);
    const other = await startServedHost(['other.example']);
    expect(await resolveBy(other.authority.ca, { [HOST_ADDRESS]: other.host.endpoint })).toMatchObject(
      unreachable,
    );
    await other.host.close();
  });

  it('is fetched from a port only on loopback, where the outbound map says so', async () => {
    const did = 'did:web:acme.example%3A8443' as DidWeb;
    const local = await startHttpHost((request, response) => {
      response.end(JSON.stringify({ id: did, seen: request.headers.host }));
    });
    const hosts = { 'acme.example': `http://127.0.0.1:${local.endpoint.port}` };
    const development = createOutbound({ mode: 'development', outboundMap: { hosts, txt: {} } });
    expect(await resolveDidWeb(development, nativeCrypto, did)).toMatchObject({
      kind: 'resolved',
      text: JSON.stringify({ id: did, seen: 'acme.example:8443' }),
    });
    expect(await resolveDidWeb(world.outbound, nativeCrypto, did)).toMatchObject({ kind: 'invalid' });
    await local.close();
  });
});
