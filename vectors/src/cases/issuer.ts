/** T1–T3, P2, P3: whose Grant it is, and whether that Principal signed it (protocol §7). */
import { decodeBase64url, encodeBase64url, formatDidKey } from '@svc/protocol';
import { ALLOCATED_AT, verificationMethod } from '../scene.ts';
import { KEYS, PRINCIPAL_DID, PRINCIPAL_KID } from '../test-keys.ts';
import { allow, deny, type VectorCase } from '../vector-case.ts';
import { WEAK_KEYS, withForgedSignature } from './weak-keys.ts';

const TRUST: readonly VectorCase[] = [
  deny(
    'ISSUER_UNKNOWN',
    't01-issuer-unknown',
    'the issuer is not registered',
    { T1: false, T2: 'skipped', T3: 'skipped', P2: 'skipped' },
    (s) => {
      s.answers.principal = 'absent';
    },
  ),
  deny(
    'ISSUER_UNVERIFIED',
    't02-issuer-unverified',
    'the Principal has not proved its domain; the Grant is still authenticated and the Receipt says unverified',
    { T1: true, T2: false, P3: true },
    (s) => {
      s.principal.verification = 'unverified';
    },
  ),
  deny(
    'ISSUER_KEY_COMPROMISED',
    't03-key-compromised',
    'a compromised key proves nothing any more',
    { T3: false, P2: 'skipped', P3: 'skipped' },
    (s) => {
      s.principal.key = { state: 'compromised', since: '2026-11-20T09:59:59.999Z' };
    },
  ),
  deny(
    'ISSUER_UNVERIFIED',
    't02-before-t03',
    'unverified and compromised: T2 comes first',
    { T2: false, T3: false },
    (s) => {
      s.principal = { verification: 'unverified', key: { state: 'compromised', since: ALLOCATED_AT } };
    },
  ),
  allow(
    't03-key-never-seen',
    'a key that the service has no record of is judged by the DID document alone',
    { T3: true, P2: true },
    (s) => {
      s.principal.key = null;
    },
  ),
];

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

const editSignature = (token: string, edit: (signature: Uint8Array) => Uint8Array): string => {
  const at = token.lastIndexOf('.') + 1;
  return token.slice(0, at) + encodeBase64url(edit(decodeBase64url(token.slice(at)) ?? new Uint8Array()));
};

/** S + L: the same equation, another signature. RFC 8032 demands S < L. */
const addGroupOrder = (signature: Uint8Array): Uint8Array => {
  const order = Buffer.from('edd3f55c1a631258d69cf7a2def9de14', 'hex');
  const result = Uint8Array.from(signature);
  let carry = 0;
  for (let i = 0; i < 32; i++) {
    const sum = (result[32 + i] ?? 0) + (order[i] ?? (i === 31 ? 0x10 : 0)) + carry;
    result[32 + i] = sum & 0xff;
    carry = sum >> 8;
  }
  return result;
};

const badSignature = (id: string, description: string, edit: VectorCase['edit']): VectorCase =>
  deny(
    'GRANT_SIGNATURE_INVALID',
    `p03-${id}`,
    description,
    {
      P2: true,
      P3: false,
      P4: 'skipped',
      P5: 'skipped',
      P6: 'skipped',
      P7: 'skipped',
      P10: 'skipped',
      P11: 'skipped',
      P16: 'skipped',
    },
    edit,
  );

const SIGNATURE: readonly VectorCase[] = [
  badSignature('another-key', 'signed by a key that is not the one named', (s) => {
    s.grant.key = KEYS.otherPrincipal;
  }),
  badSignature('payload-changed', 'a ceiling raised after signing', (s) => {
    s.grant.editToken = (token) => {
      const [header = '', payload = '', signature = ''] = token.split('.');
      const json = Buffer.from(payload, 'base64url').toString().replace(':50000', ':90000');
      return `${header}.${Buffer.from(json).toString('base64url')}.${signature}`;
    };
  }),
  badSignature('signature-empty', 'an empty signature', (s) => {
    s.grant.editToken = (token) => editSignature(token, () => new Uint8Array());
  }),
  badSignature('signature-zero', 'a signature of zeros', (s) => {
    s.grant.editToken = (token) => editSignature(token, () => new Uint8Array(64));
  }),
  badSignature('signature-one-bit', 'one bit of R changed', (s) => {
    s.grant.editToken = (token) => editSignature(token, (bytes) => bytes.with(0, (bytes[0] ?? 0) ^ 1));
  }),
  badSignature('signature-malleated', 'S + L in the place of S', (s) => {
    s.grant.editToken = (token) => editSignature(token, addGroupOrder);
  }),
];

export const issuerCases: readonly VectorCase[] = [
  ...TRUST,
  ...KEY_FOUND,
  ...KEY_NOT_FOUND,
  ...RETIRED,
  ...SIGNATURE,
];
