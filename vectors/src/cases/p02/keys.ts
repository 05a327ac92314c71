/** P2: which keys of the document count, and when a retired one still does (protocol §7). */
import { encodeBase64url, formatDidKey } from '@svc/protocol';
import { WEAK_KEYS, withForgedSignature } from '../../edits/weak-keys.ts';
import { ALLOCATED_AT, verificationMethod } from '../../scene.ts';
import { KEYS, PRINCIPAL_DID, PRINCIPAL_KID } from '../../test-keys.ts';
import { allow, deny, type VectorCase } from '../../vector-case.ts';

const notFound = (id: string, description: string, edit: VectorCase['edit']): VectorCase =>
  deny('ISSUER_KEY_NOT_FOUND', `p02-${id}`, description, { P2: false, P3: 'skipped' }, edit);

const jwk = (x: string, more: Record<string, unknown> = {}) => ({
  type: 'JsonWebKey',
  publicKeyMultibase: undefined,
  publicKeyJwk: { kty: 'OKP', crv: 'Ed25519', x, ...more },
});

const method = (more: Record<string, unknown>) =>
  JSON.parse(JSON.stringify(verificationMethod(KEYS.principal, more)));

const X = encodeBase64url(KEYS.principal.publicKey);

const KEY_FOUND: readonly VectorCase[] = [
  allow('p02-json-web-key', 'a hosted document may publish its key as JsonWebKey', { P2: true }, (s) => {
    s.document.verificationMethod = [method(jwk(X))];
  }),
  allow('p02-relative-ids', 'DID URLs in a document may be relative to it', { P2: true }, (s) => {
    s.document.verificationMethod = [method({ id: '#key-1' })];
    s.document.assertionMethod = ['#key-1'];
  }),
  allow('p02-embedded-method', 'a key may stand inside assertionMethod itself', { P2: true }, (s) => {
    s.document.verificationMethod = [];
    s.document.assertionMethod = [method({})];
  }),
  allow('p02-unusable-key-beside', 'what cannot be used in a document is passed over', { P2: true }, (s) => {
    s.document.verificationMethod = [
      null,
      {
        id: `${PRINCIPAL_DID}#rsa`,
        type: 'JsonWebKey',
        controller: PRINCIPAL_DID,
        publicKeyJwk: { kty: 'RSA' },
      },
      method({}),
    ];
    s.document.assertionMethod = [`${PRINCIPAL_DID}#rsa`, 7, PRINCIPAL_KID];
  }),
  allow('p02-issuer-with-path', 'a did:web DID with a path', { P2: true }, (s) => {
    const did = `${PRINCIPAL_DID}:org:blue`;
    Object.assign(s.grant.payload, { issuer: did });
    s.grant.header.kid = `${did}#key-1`;
    s.allocation.issuer = did;
    s.document.id = did;
    s.document.verificationMethod = [method({ id: `${did}#key-1`, controller: did })];
    s.document.assertionMethod = [`${did}#key-1`];
  }),
  allow('p02-document-3600-s-old', 'a DID document of exactly the greatest age', { P2: true }, (s) => {
    s.resolvedAt = '2026-11-20T09:00:00.000Z';
  }),
];

const KEY_NOT_FOUND: readonly VectorCase[] = [
  notFound('kid-of-another-did', "another Principal's key, even if the document lists it", (s) => {
    const kid = 'did:web:mallory.example#key-1';
    s.grant.header.kid = kid;
    s.document.verificationMethod = [method({ id: kid })];
    s.document.assertionMethod = [kid];
  }),
  notFound('kid-without-fragment', 'the DID alone names no key', (s) => {
    s.grant.header.kid = PRINCIPAL_DID;
  }),
  notFound('kid-not-in-document', 'a key that the document does not list', (s) => {
    s.grant.header.kid = `${PRINCIPAL_DID}#key-2`;
  }),
  notFound('not-an-assertion-method', 'a key that may authenticate but not assert', (s) => {
    s.document.assertionMethod = [];
    s.document.authentication = [PRINCIPAL_KID];
  }),
  notFound('two-methods-one-id', 'which of two keys is meant cannot be told', (s) => {
    s.document.verificationMethod = [
      verificationMethod(KEYS.principal),
      verificationMethod(KEYS.otherPrincipal),
    ];
  }),
  notFound('two-methods-one-id-embedded', 'an embedded key with the id of another is the same doubt', (s) => {
    s.document.verificationMethod = [verificationMethod(KEYS.otherPrincipal)];
    s.document.assertionMethod = [verificationMethod(KEYS.principal)];
  }),
  notFound('other-controller', 'a key that another DID controls', (s) => {
    s.document.verificationMethod = [method({ controller: 'did:web:mallory.example' })];
  }),
  notFound('method-type', 'a verification method of another type', (s) => {
    s.document.verificationMethod = [method({ type: 'Ed25519VerificationKey2020' })];
  }),
  notFound('multikey-x25519', 'a Multikey of another kind of key', (s) => {
    s.document.verificationMethod = [
      method({ publicKeyMultibase: 'z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc' }),
    ];
  }),
  notFound('jwk-other-curve', 'a JsonWebKey on another curve', (s) => {
    s.document.verificationMethod = [method(jwk(X, { crv: 'X25519' }))];
  }),
  notFound('jwk-other-type', 'a JsonWebKey of another type', (s) => {
    s.document.verificationMethod = [method(jwk(X, { kty: 'EC' }))];
  }),
  notFound('jwk-not-canonical', 'a JsonWebKey whose x is spelled with padding', (s) => {
    s.document.verificationMethod = [method(jwk(`${X}=`))];
  }),
  notFound('document-absent', 'the Principal has no DID document', (s) => {
    s.answers.document = 'absent';
  }),
  ...WEAK_KEYS.map((weak) =>
    notFound(
      `weak-key-${weak.id}`,
      `${weak.description}: the Grant's signature satisfies the bare equation`,
      (s) => {
        s.document.verificationMethod = [
          method({ publicKeyMultibase: formatDidKey(weak.publicKey).slice(8) }),
        ];
        withForgedSignature(s.grant, weak.publicKey);
      },
    ),
  ),
  notFound('weak-key-as-jwk', 'a key of small order as JsonWebKey', (s) => {
    const [weak] = WEAK_KEYS;
    if (weak === undefined) throw new Error('there is a weak key');
    s.document.verificationMethod = [method(jwk(encodeBase64url(weak.publicKey)))];
    withForgedSignature(s.grant, weak.publicKey);
  }),
];

const RETIRED: readonly VectorCase[] = [
  allow(
    'p02-retired-after-allocation',
    'a retired key still proves what was allocated before',
    { P2: true },
    (s) => {
      s.principal.key = { state: 'retired', since: '2026-11-20T09:00:00.000Z' };
    },
  ),
  allow(
    'p02-retired-at-allocation',
    'allocated in the very millisecond of the retirement',
    { P2: true },
    (s) => {
      s.principal.key = { state: 'retired', since: ALLOCATED_AT };
    },
  ),
  notFound('retired-before-allocation', 'allocated one millisecond after the retirement', (s) => {
    s.principal.key = { state: 'retired', since: '2026-11-20T07:59:57.999Z' };
  }),
  notFound(
    'retired-not-allocated',
    'a retired key proves nothing about an id that was never allocated',
    (s) => {
      s.principal.key = { state: 'retired', since: '2026-11-20T09:00:00.000Z' };
      s.answers.allocation = 'absent';
    },
  ),
];

export const cases: readonly VectorCase[] = [...KEY_FOUND, ...KEY_NOT_FOUND, ...RETIRED];
