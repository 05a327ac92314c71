import { encodeMultikey } from '@svc/codec';
import { nativeCrypto } from '@svc/codec/native';
import { describe, expect, it, vi } from 'vitest';
import { publicKeyOf, SERVICE, signerOf } from '../test/service.ts';
import {
  openServiceKeys,
  readServiceKeys,
  type ServiceKeyFailure,
  type ServiceKeys,
} from './service-keys.ts';

const methodOf = (id: string, seed: number) => ({
  ...{ id, type: 'Multikey', controller: SERVICE },
  publicKeyMultibase: encodeMultikey(publicKeyOf(seed)),
});
const documentOf = <Method extends { readonly id: string }>(methods: readonly Method[]) => ({
  id: SERVICE,
  verificationMethod: methods,
  assertionMethod: methods.map(({ id }) => id),
});
const document = documentOf([methodOf(`${SERVICE}#receipt-1`, 1), methodOf('#status-1', 2)]);

const keysOf = (given: unknown): ServiceKeys => {
  const read = readServiceKeys(given);
  if (!read.ok) throw new Error(read.failures[0]?.message);
  return read.keys;
};
const codeOf = (found: Uint8Array | ServiceKeyFailure) =>
  found instanceof Uint8Array ? 'found' : found.code;

describe('the keys of a pinned document', () => {
  it.each([
    ['an object', document],
    ['its text', JSON.stringify(document)],
    ['the result of an earlier call', keysOf(document)],
  ])('are read from %s', (_, given) => {
    const keys = keysOf(given);
    expect(keys.did).toBe(SERVICE);
    expect(keys.find(`${SERVICE}#receipt-1`, 'receipt')).toEqual(publicKeyOf(1));
    expect(keys.find(`${SERVICE}#status-1`, 'status')).toEqual(publicKeyOf(2));
    const time = { fromMs: null, untilMs: null, isCompromised: false };
    expect(keys.list()).toEqual([
      { kid: `${SERVICE}#receipt-1`, multikey: encodeMultikey(publicKeyOf(1)), time },
      { kid: `${SERVICE}#status-1`, multikey: encodeMultikey(publicKeyOf(2)), time },
    ]);
  });

  it('do not change if the object is changed after reading', () => {
    const later = structuredClone(document);
    const keys = keysOf(later);
    for (const method of later.verificationMethod) method.publicKeyMultibase = encodeMultikey(publicKeyOf(9));
    later.assertionMethod.length = 0;
    expect(keys.find(`${SERVICE}#receipt-1`, 'receipt')).toEqual(publicKeyOf(1));
    expect(keys.list().map(({ multikey }) => multikey)).not.toContain(encodeMultikey(publicKeyOf(9)));
  });

  it('are read from 80,000 methods with the same id, and this key is then unusable', () => {
    // This would take ten seconds if each method copied those before it.
    const methods = Array.from({ length: 80_000 }, () => ({ id: '#receipt-1' }));
    const keys = keysOf({ id: SERVICE, verificationMethod: methods, assertionMethod: ['#receipt-1'] });
    expect(codeOf(keys.find(`${SERVICE}#receipt-1`, 'receipt'))).toBe('unusable-key');
  });

  it('report for a missing key that the document may be older than the key and must be obtained again', () => {
    const keys = keysOf(document);
    expect(keys.find(`${SERVICE}#status-2`, 'status')).toMatchObject({
      message: `the DID document has no verification method ${SERVICE}#status-2; it may be older than the key: obtain it again over a channel that you trust`,
    });
  });

  it.each([
    ['a key for another purpose', `${SERVICE}#receipt-1`, document, 'wrong-key'],
    ['a key of another service', 'did:web:other.example#status-1', document, 'wrong-service'],
    ['a number that begins with 0', `${SERVICE}#status-01`, document, 'wrong-key'],
    ['a key that the document does not have', `${SERVICE}#status-2`, document, 'unknown-key'],
    [
      'a key not under assertionMethod',
      `${SERVICE}#status-1`,
      { ...document, assertionMethod: [] },
      'wrong-key',
    ],
    [
      'a key named twice, once relatively',
      `${SERVICE}#status-1`,
      documentOf([methodOf(`${SERVICE}#status-1`, 1), methodOf('#status-1', 1)]),
      'unusable-key',
    ],
    [
      'a key that another DID controls',
      `${SERVICE}#status-1`,
      documentOf([{ ...methodOf('#status-1', 1), controller: 'did:web:other.example' }]),
      'unusable-key',
    ],
    [
      'a key that is not a Multikey',
      `${SERVICE}#status-1`,
      documentOf([{ ...methodOf('#status-1', 1), type: 'JsonWebKey' }]),
      'unusable-key',
    ],
  ])('do not include %s', (_, kid, given, code) => {
    expect(codeOf(keysOf(given).find(kid, 'status'))).toBe(code);
  });

  it('are accepted by other copies of this package, but not as a copied object', async () => {
    vi.resetModules();
    const other = await import('./service-keys.ts');
    expect(other.readServiceKeys).not.toBe(readServiceKeys);
    const keys = keysOf(document);
    expect(other.readServiceKeys(keys)).toEqual({ ok: true, keys });
    expect(other.readServiceKeys({ ...keys })).toMatchObject({ ok: false });
  });

  it('verify what was signed with them, and refuse another text', async () => {
    const keys = keysOf(document);
    const kid = `${SERVICE}#status-1`;
    const signature = await signerOf(2).sign(new TextEncoder().encode('a.b'));
    expect(
      keys.check('status', { kid, signingInput: 'a.b', signature, signedAtMs: null }, nativeCrypto),
    ).toBeNull();
    expect(
      keys.check('status', { kid, signingInput: 'a.c', signature, signedAtMs: null }, nativeCrypto)?.code,
    ).toBe('wrong-signature');
  });
});

describe('readServiceKeys refuses a document', () => {
  it.each([
    ['that is not JSON', '{'],
    ['that is not an object', []],
    ['that is absent', undefined],
    ['without a DID', {}],
    ['of another method', { ...document, id: 'did:key:z6Mk' }],
    ['with a member twice', `{"id":"${SERVICE}","id":"${SERVICE}"}`],
    ['that is a Receipt', { receipt_id: 'drc_', id: SERVICE }],
  ])('%s', (_, given) => {
    expect(readServiceKeys(given)).toMatchObject({
      ok: false,
      failures: [{ code: 'malformed-did-document' }],
    });
  });

  it('of another service with wrong-service, but openServiceKeys still returns its keys', () => {
    const failures: ServiceKeyFailure[] = [];
    const keys = openServiceKeys(document, failures, 'did:web:other.example');
    expect(keys?.find(`${SERVICE}#status-1`, 'status')).toEqual(publicKeyOf(2));
    expect(failures.map(({ code }) => code)).toEqual(['wrong-service']);
  });
});
