/** P2: which keys of the document are usable, and until when a retired one is (protocol §7). */
import { encodeBase64url, formatDidKey } from '@svc/protocol';
import { WEAK_KEYS, withForgedSignature } from '../../edits/weak-keys.ts';
import { ALLOCATED_AT, verificationMethod } from '../../scene.ts';
import { KEYS, PRINCIPAL_DID, PRINCIPAL_KID, SECOND_SPELLING } from '../../test-keys.ts';
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

/** The same key, without the two-byte prefix of a Multikey. */
const BASE58 = 'EUG9C2isZXVSB5e9hikh6ZoGcyTaXvrxtEbJL8hUtXLd';

const key2018 = (publicKeyBase58: string) => ({
  type: 'Ed25519VerificationKey2018',
  publicKeyMultibase: undefined,
  publicKeyBase58,
});

/** Adds members to the key that signs the Grant; the scene is at 10:00:00.000Z. */
const markedWith = (members: Record<string, unknown>): VectorCase['edit'] => {
  return (s) => {
    s.document.verificationMethod = [method(members)];
  };
};

const MARKED: readonly VectorCase[] = [
  ...['revoked', 'expires'].flatMap((name) => [
    allow(
      `p02-${name}-later`,
      `a key that its owner ends a millisecond later (${name})`,
      { P2: true },
      markedWith({ [name]: '2026-11-20T10:00:00.001Z' }),
    ),
    notFound(
      `${name}-now`,
      `a key that its owner ends in this millisecond (${name})`,
      markedWith({ [name]: '2026-11-20T10:00:00Z' }),
    ),
    notFound(
      `${name}-before`,
      `a key that its owner has ended (${name})`,
      markedWith({ [name]: '2026-11-20T09:59:59.999Z' }),
    ),
    notFound(
      `${name}-not-a-time`,
      `an end that is no time has come (${name})`,
      markedWith({ [name]: 'next year' }),
    ),
    notFound(
      `${name}-no-zone`,
      `a time without a zone is no instant (${name})`,
      markedWith({ [name]: '2027-11-20T10:00:00' }),
    ),
    notFound(
      `${name}-no-such-day`,
      `a day that does not exist (${name})`,
      markedWith({ [name]: '2027-02-30T10:00:00Z' }),
    ),
    notFound(`${name}-null`, `an end that is null (${name})`, markedWith({ [name]: null })),
    notFound(`${name}-number`, `an end that is a number (${name})`, markedWith({ [name]: 1_900_000_000 })),
  ]),
  allow(
    'p02-expires-with-offset',
    'an end in local time, a second ahead',
    { P2: true },
    markedWith({ expires: '2026-11-20T15:30:01+05:30' }),
  ),
  notFound(
    'expires-with-offset-now',
    'an end in local time, now',
    markedWith({ expires: '2026-11-20T02:00:00.000-08:00' }),
  ),
  notFound(
    'revoked-before-it-expires',
    'the earlier of two ends counts',
    markedWith({ expires: '2027-01-01T00:00:00Z', revoked: '2026-01-01T00:00:00Z' }),
  ),
];

const JWK_MEMBERS: readonly VectorCase[] = [
  allow(
    'p02-jwk-for-signatures',
    'a JsonWebKey that says what it is for',
    { P2: true },
    markedWith(jwk(X, { use: 'sig', alg: 'EdDSA', kid: 'any' })),
  ),
  allow(
    'p02-jwk-alg-ed25519',
    'a JsonWebKey of the algorithm by its newer name',
    { P2: true },
    markedWith(jwk(X, { alg: 'Ed25519' })),
  ),
  notFound('jwk-for-encryption', 'a JsonWebKey for something else', markedWith(jwk(X, { use: 'enc' }))),
  notFound('jwk-use-null', 'a JsonWebKey for nothing', markedWith(jwk(X, { use: null }))),
  notFound('jwk-other-alg', 'a JsonWebKey of another algorithm', markedWith(jwk(X, { alg: 'ES256' }))),
  notFound('jwk-private', 'a JsonWebKey with its private half: everybody has it', (s) =>
    markedWith(jwk(X, { d: encodeBase64url(new Uint8Array(32).fill(1)) }))(s),
  ),
  notFound(
    'multikey-private',
    'a Multikey with its private half',
    markedWith({ secretKeyMultibase: 'z3u2en7t5LR2WtQH5PfFqMqwVHgeXouLzo6haApm8XHqvjxq' }),
  ),
];

const OTHER_FORMS: readonly VectorCase[] = [
  allow(
    'p02-json-web-key-2020',
    'a JsonWebKey by its former name',
    { P2: true },
    markedWith({ ...jwk(X), type: 'JsonWebKey2020' }),
  ),
  allow(
    'p02-key-2020',
    'an Ed25519VerificationKey2020',
    { P2: true },
    markedWith({ type: 'Ed25519VerificationKey2020' }),
  ),
  allow('p02-key-2018', 'an Ed25519VerificationKey2018', { P2: true }, markedWith(key2018(BASE58))),
  allow('p02-fraction-beside', 'a number that is not read may be any', { P2: true }, (s) => {
    s.editDocument = (json) =>
      json.replace('{', '{"latitude":52.5e0,"big":9007199254740993,"exact":[1.0,-0.0],');
  }),
  notFound('fraction-for-a-key', 'a number is no key', (s) => {
    s.document.verificationMethod = [method({ publicKeyMultibase: 1.5 })];
  }),
];

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
    s.document.verificationMethod = [method({ type: 'X25519KeyAgreementKey2020' })];
  }),
  notFound('type-2018-with-multibase', 'an Ed25519VerificationKey2018 has its key as base58', (s) => {
    s.document.verificationMethod = [method({ type: 'Ed25519VerificationKey2018' })];
  }),
  notFound('base58-of-33-bytes', 'a key as base58 has 32 bytes', (s) => {
    s.document.verificationMethod = [method(key2018(`1${BASE58}`))];
  }),
  notFound('multikey-x25519', 'a Multikey of another kind of key', (s) => {
    s.document.verificationMethod = [
      method({ publicKeyMultibase: 'z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc' }),
    ];
  }),
  notFound(
    'multikey-second-spelling',
    'a character that is not base58, which some decoders read as a zero digit: the rest would be allowed',
    (s) => {
      s.grant.key = KEYS.twoSpellings;
      s.document.verificationMethod = [method({ publicKeyMultibase: SECOND_SPELLING })];
    },
  ),
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
    'allocated and valid from the very millisecond of the retirement',
    { P2: true },
    (s) => {
      s.principal.key = { state: 'retired', since: ALLOCATED_AT };
      s.grant.payload.validFrom = '2026-11-20T07:59:58Z';
    },
  ),
  notFound('retired-before-allocation', 'allocated one millisecond after the retirement', (s) => {
    s.principal.key = { state: 'retired', since: '2026-11-20T07:59:57.999Z' };
    s.grant.payload.validFrom = '2026-11-20T07:59:57Z';
  }),
  allow('p02-retired-at-valid-from', 'valid from the very second of the retirement', { P2: true }, (s) => {
    s.principal.key = { state: 'retired', since: '2026-11-20T08:00:00.000Z' };
  }),
  notFound('retired-before-valid-from', 'allocated in time, and valid from after the retirement on', (s) => {
    s.principal.key = { state: 'retired', since: '2026-11-20T07:59:59.999Z' };
  }),
  notFound(
    'retired-before-valid-from-not-looked-up',
    'a Grant that begins after the retirement is denied whatever its allocation is',
    (s) => {
      s.principal.key = { state: 'retired', since: '2026-11-20T07:59:59.999Z' };
      s.answers.allocation = 'unavailable';
    },
  ),
  notFound(
    'retired-not-allocated',
    'a retired key proves nothing about an id that was never allocated',
    (s) => {
      s.principal.key = { state: 'retired', since: '2026-11-20T09:00:00.000Z' };
      s.answers.allocation = 'absent';
    },
  ),
];

export const cases: readonly VectorCase[] = [
  ...KEY_FOUND,
  ...OTHER_FORMS,
  ...KEY_NOT_FOUND,
  ...MARKED,
  ...JWK_MEMBERS,
  ...RETIRED,
];
