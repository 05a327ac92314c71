import multikeyContext from '@digitalbazaar/multikey-context';
import { type DidWeb, parseDidDocument } from '@svc/protocol';
import { readServiceKeys } from '@svc/transparency';
import didContext from 'did-context';
import jsonld from 'jsonld';
import { describe, expect, it } from 'vitest';
import { ALWAYS, type KeySet, type PublishedKey } from './key-set.ts';
import { buildEventJwks, buildServiceDidDocument, buildServiceJwks } from './service-identity.ts';

const DID = 'did:web:svc.example' as DidWeb;
const MULTIBASE = 'z6MksfbemfxmHksEVufvPpiYfCnHH5VxpcPA9na36GXu3mwS';
const at = (text: string) => Date.parse(text);

const keySet = (...published: Partial<PublishedKey>[]): KeySet => ({
  signer: { kid: `${DID}#receipt-1`, sign: () => new Uint8Array(64) },
  published: published.map((key, i) => ({
    ...{ kid: `${DID}#receipt-${i + 1}`, publicKey: new Uint8Array(32), publicKeyMultibase: MULTIBASE },
    ...{ canSign: true, time: ALWAYS, ...key },
  })),
});

const sets = {
  receiptKeys: keySet(
    {
      time: { fromMs: at('2026-01-01T00:00:00Z'), untilMs: at('2026-02-01T00:00:00Z'), isCompromised: true },
    },
    {
      time: { fromMs: at('2026-01-01T00:00:00Z'), untilMs: at('2026-03-01T00:00:00Z'), isCompromised: false },
    },
    { time: { fromMs: at('2026-02-01T00:00:00Z'), untilMs: null, isCompromised: false } },
  ),
  statusKeys: keySet(),
};
const text = buildServiceDidDocument({ did: DID, ...sets });

/** Both JSON-LD contexts, from the packages of their publishers. */
const CONTEXTS: Readonly<Record<string, object>> = {
  ...Object.fromEntries(multikeyContext.contexts),
  ...Object.fromEntries(didContext.contexts),
};
const documentLoader = async (url: string) => {
  const document = CONTEXTS[url];
  if (document === undefined) throw new Error(`no context ${url}`);
  return { contextUrl: undefined, documentUrl: url, document };
};

describe('the DID document of the service', () => {
  it('states beside each key when it is in force', () => {
    const { verificationMethod } = JSON.parse(text);
    const base = { type: 'Multikey', controller: DID, publicKeyMultibase: MULTIBASE };
    expect(verificationMethod).toEqual([
      {
        ...{ id: `${DID}#receipt-1`, ...base, 'svc:validFrom': '2026-01-01T00:00:00Z' },
        ...{ 'svc:validUntil': '2026-02-01T00:00:00Z', revoked: '2026-02-01T00:00:00Z' },
      },
      {
        ...{ id: `${DID}#receipt-2`, ...base, 'svc:validFrom': '2026-01-01T00:00:00Z' },
        'svc:validUntil': '2026-03-01T00:00:00Z',
      },
      { id: `${DID}#receipt-3`, ...base, 'svc:validFrom': '2026-02-01T00:00:00Z' },
    ]);
  });

  it('is accepted by a JSON-LD processor in safe mode, with every member defined', async () => {
    const options = { documentLoader, safe: true } as Parameters<typeof jsonld.expand>[1];
    const [expanded] = await jsonld.expand(JSON.parse(text), options);
    const methods = Object(expanded)['https://w3id.org/security#verificationMethod'];
    expect(methods).toHaveLength(3);
    expect(methods[0]).toMatchObject({
      '@id': `${DID}#receipt-1`,
      '@type': ['https://w3id.org/security#Multikey'],
      'svc:validFrom': [{ '@value': '2026-01-01T00:00:00Z' }],
      'svc:validUntil': [{ '@value': '2026-02-01T00:00:00Z' }],
      'https://w3id.org/security#revoked': [
        { '@type': 'http://www.w3.org/2001/XMLSchema#dateTime', '@value': '2026-02-01T00:00:00Z' },
      ],
    });
    const quads = await jsonld.canonize(JSON.parse(text), {
      ...options,
      algorithm: 'RDFC-1.0',
      format: 'application/n-quads',
    } as never);
    expect(String(quads)).toContain(`<${DID}#receipt-1> <svc:validUntil> "2026-02-01T00:00:00Z" .`);
    // Control: the same processor refuses a member that no context defines.
    const unknown = JSON.parse(text.replaceAll('svc:validFrom', 'validFrom'));
    await expect(jsonld.expand(unknown, options)).rejects.toThrow();
  });

  it('is read by our own readers', () => {
    expect(parseDidDocument(text, DID)?.assertionKeys.size).toBe(3);
    expect(readServiceKeys(text).ok).toBe(true);
  });
});

describe('the JWK Set of the service', () => {
  it('contains retired keys with their times, and no compromised key, since libraries would accept it', () => {
    const base = { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', x: 'A'.repeat(43) };
    const [january, february, march] = ['01', '02', '03'].map((n) => at(`2026-${n}-01T00:00:00Z`) / 1000);
    expect(JSON.parse(buildServiceJwks(sets))).toEqual({
      keys: [
        { ...base, kid: `${DID}#receipt-2`, nbf: january, exp: march },
        { ...base, kid: `${DID}#receipt-3`, nbf: february },
      ],
    });
  });

  it('for events contains only status keys that have not ended', () => {
    const { receiptKeys } = sets;
    const status = {
      published: receiptKeys.published.map((key) => ({ ...key, kid: key.kid.replace('receipt', 'status') })),
    };
    const kids = (json: string) =>
      (JSON.parse(json) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
    expect(kids(buildEventJwks({ statusKeys: status }))).toEqual([`${DID}#status-3`]);
  });
});
