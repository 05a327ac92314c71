import { generateKeyPairSync } from 'node:crypto';
import { type DidDocument, type DidWeb, decodeBase64url, encodeMultikey } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import type { KeyState } from '../ports/principals.ts';
import { keyStateOf, withKnownKeys } from './known-keys.ts';

const DID = 'did:web:acme.example' as DidWeb;

const newKey = (): Uint8Array => {
  const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  return decodeBase64url(x ?? '') ?? new Uint8Array();
};
const [one, two] = [newKey(), newKey()];

const documentOf = (keys: Record<string, Uint8Array>): DidDocument => ({
  id: DID,
  assertionKeys: new Map(Object.entries(keys).map(([id, key]) => [`${DID}#${id}`, key])),
  endedFromMs: new Map([[`${DID}#key-1`, 7]]),
});
const recordOf = (id: string, key: Uint8Array, state: KeyState = 'active', sinceMs = 0) => ({
  kid: `${DID}#${id}`,
  publicKeyMultibase: encodeMultikey(key),
  state,
  sinceMs,
  withdrawnMs: null,
});
const kidsOf = (document: DidDocument) => [...document.assertionKeys.keys()];

describe('withKnownKeys', () => {
  it('keeps the keys of the document that the record has under the same kid', () => {
    const document = documentOf({ 'key-1': one, 'k%65y': two });
    const known = withKnownKeys(document, [recordOf('key-1', one)]);
    expect(kidsOf(known)).toEqual([`${DID}#key-1`]);
    expect(known.endedFromMs).toEqual(document.endedFromMs);
  });

  it('drops a key with other bytes under a known kid, since a kid always stands for the same key', () => {
    const swapped = documentOf({ 'key-1': two });
    expect(kidsOf(withKnownKeys(swapped, [recordOf('key-1', one)]))).toEqual([]);
  });

  it('adds no key that the document no longer lists', () => {
    expect(kidsOf(withKnownKeys(documentOf({}), [recordOf('key-1', one)]))).toEqual([]);
  });
});

describe('keyStateOf', () => {
  it('follows the bytes of a key to another kid: a compromised key published again stays compromised', () => {
    const keys = [recordOf('key-1', one, 'compromised', 5), recordOf('key-9', one), recordOf('key-2', two)];
    expect(keyStateOf(keys, `${DID}#key-9`)).toEqual({ state: 'compromised', sinceMs: 5 });
    expect(keyStateOf(keys, `${DID}#key-2`)).toEqual({ state: 'active', sinceMs: 0 });
  });

  it('returns the worst state of all kids of a key, and of equal states the earliest', () => {
    const keys = [recordOf('a', one, 'retired', 7), recordOf('b', one, 'retired', 3), recordOf('c', one)];
    expect(keyStateOf(keys, `${DID}#c`)).toEqual({ state: 'retired', sinceMs: 3 });
  });

  it('returns null for a kid that was never seen', () => {
    expect(keyStateOf([recordOf('key-1', one)], `${DID}#key-2`)).toBeNull();
  });
});
