import type { DidWeb } from '@svc/codec';
import { verificationMethod } from '@svc/vectors/src/scene.ts';
import { KEYS, PRINCIPAL_DID, PRINCIPAL_KID } from '@svc/vectors/src/test-keys.ts';
import { describe, expect, it } from 'vitest';
import { parseDidDocument } from './did-document.ts';

const did = PRINCIPAL_DID as DidWeb;
const method = verificationMethod(KEYS.principal);
const keysOf = (members: Record<string, unknown>) =>
  parseDidDocument(JSON.stringify({ id: did, ...members }), did)?.assertionKeys;

describe('parseDidDocument', () => {
  it('returns null for a document of another DID, and for a malformed one', () => {
    expect(parseDidDocument('{"id":"did:web:mallory.example"}', did)).toBeNull();
    expect(parseDidDocument('{}', did)).toBeNull();
    expect(parseDidDocument('[]', did)).toBeNull();
    expect(parseDidDocument(`{"id":"${did}","id":"${did}"}`, did)).toBeNull();
  });

  it.each<[string, Record<string, unknown>]>([
    ['by absolute reference', { verificationMethod: [method], assertionMethod: [PRINCIPAL_KID] }],
    ['by relative reference', { verificationMethod: [method], assertionMethod: ['#key-1'] }],
    ['embedded', { assertionMethod: [method] }],
    [
      'listed twice by the same reference',
      { verificationMethod: [method], assertionMethod: ['#key-1', PRINCIPAL_KID] },
    ],
  ])('returns a key %s', (_, members) => {
    expect(keysOf(members)?.get(PRINCIPAL_KID)).toEqual(KEYS.principal.publicKey);
  });

  const other = verificationMethod(KEYS.otherPrincipal);
  const foreign = { ...method, controller: 'did:web:mallory.example' };
  it.each<[string, Record<string, unknown>]>([
    ['two methods with its id', { verificationMethod: [method, other], assertionMethod: [PRINCIPAL_KID] }],
    ['an embedded method with its id too', { verificationMethod: [other], assertionMethod: [method] }],
    ['two embedded methods with its id', { assertionMethod: [other, method] }],
    [
      'a relative spelling of its id too',
      { verificationMethod: [method, { ...other, id: '#key-1' }], assertionMethod: ['#key-1'] },
    ],
    [
      'an unusable method with its id too',
      { verificationMethod: [method, { id: PRINCIPAL_KID }], assertionMethod: ['#key-1'] },
    ],
    ['a foreign controller', { verificationMethod: [foreign], assertionMethod: [PRINCIPAL_KID] }],
    [
      'a foreign controller in a second, embedded method',
      { verificationMethod: [method], assertionMethod: [foreign] },
    ],
  ])('returns no usable key for an id with %s', (_, members) => {
    expect(keysOf(members)?.get(PRINCIPAL_KID)?.length ?? 0).toBe(0);
  });

  it('returns no key that is not listed under assertionMethod', () => {
    expect(keysOf({ verificationMethod: [method], authentication: [PRINCIPAL_KID] })?.size).toBe(0);
    expect(keysOf({ verificationMethod: [method], assertionMethod: PRINCIPAL_KID })?.size).toBe(0);
  });
});

describe('the end of a key in a DID document', () => {
  const marked = (members: Record<string, unknown>) =>
    parseDidDocument(
      JSON.stringify({
        id: did,
        verificationMethod: [{ ...method, ...members }],
        assertionMethod: [PRINCIPAL_KID],
      }),
      did,
    );

  it('is the earlier of revoked and expires, with any UTC offset', () => {
    expect(marked({})?.endedFromMs.size).toBe(0);
    const ends = { revoked: '2026-11-20T12:00:00+02:00', expires: '2026-11-20T11:00:00.5Z' };
    expect(marked(ends)?.endedFromMs.get(PRINCIPAL_KID)).toBe(Date.parse('2026-11-20T10:00:00Z'));
    expect(marked({ expires: ends.expires })?.endedFromMs.get(PRINCIPAL_KID)).toBe(Date.parse(ends.expires));
  });

  it.each(['', 'soon', '2026-11-20', '2026-11-20T10:00:00', null, true, 1_900_000_000, 1.5, {}, []])(
    'makes the key unusable at once if it is %j',
    (end) => {
      for (const name of ['revoked', 'expires'])
        expect(marked({ [name]: end })?.assertionKeys.get(PRINCIPAL_KID)?.length).toBe(0);
    },
  );
});
