/** P2: forms of DID documents without a usable key (protocol §7). */
import { encodeBase64url, formatDidKey } from '@svc/protocol';
import { type Members, verificationMethod } from '../../scene.ts';
import { KEYS, PRINCIPAL_KID } from '../../test-keys.ts';
import { allow, deny, type VectorCase } from '../../vector-case.ts';

const unusable = (id: string, description: string, members: Members): VectorCase =>
  deny('ISSUER_KEY_NOT_FOUND', `p02-${id}`, description, { P2: false, P3: 'skipped' }, (s) => {
    Object.assign(s.document, members);
  });

const X = encodeBase64url(KEYS.principal.publicKey);

const JWK = { kty: 'OKP', crv: 'Ed25519', x: X };

const JSON_WEB_KEY = { type: 'JsonWebKey', publicKeyMultibase: undefined };

const NO_POINT = new Uint8Array(32).fill(2, 0, 1);

const withKey = (id: string, description: string, members: Members): VectorCase =>
  unusable(id, description, { verificationMethod: [verificationMethod(KEYS.principal, members)] });

const noDocument = (id: string, description: string, text: string): VectorCase =>
  deny('SERVICE_UNAVAILABLE', `unavailable-document-${id}`, description, { P2: 'skipped' }, (s) => {
    s.editDocument = () => text;
  });

export const cases: readonly VectorCase[] = [
  unusable('no-methods', 'a document without verificationMethod', { verificationMethod: undefined }),
  unusable('methods-are-one', 'one method where a list of them belongs', {
    verificationMethod: verificationMethod(KEYS.principal),
  }),
  unusable('no-assertion-methods', 'a document without assertionMethod', { assertionMethod: undefined }),
  unusable('assertion-methods-are-one', 'one id where a list of them belongs', {
    assertionMethod: PRINCIPAL_KID,
  }),
  withKey('multikey-array', 'a Multikey is a text', { publicKeyMultibase: [KEYS.principal.multikey] }),
  withKey('key-is-no-point', 'y = 2 is on no point of the curve', {
    publicKeyMultibase: formatDidKey(NO_POINT).slice('did:key:'.length),
  }),
  allow('p02-anything-beside', 'a document may hold whatever strict JSON can', { P2: true }, (s) => {
    s.document.service = [{ id: '', on: true, off: false, none: null, number: -1, deep: { list: [] } }];
  }),
  withKey('jwk-null', 'a key in JSON that is null', { ...JSON_WEB_KEY, publicKeyJwk: null }),
  withKey('jwk-x-array', 'x is a text', { ...JSON_WEB_KEY, publicKeyJwk: { ...JWK, x: [X] } }),
  noDocument('null', 'null is no DID document', 'null'),
  noDocument('array', 'an array is no DID document', '[]'),
  noDocument('empty', 'nothing is no DID document', ''),
];
