/** P8: the form of a Proof (protocol §3). */

import { nonCanonicalTail, nullText, padProofTo } from '../../edits/token-edits.ts';
import { API_CALL, apiCapability, type Scene } from '../../scene.ts';
import { KEYS, SECOND_SPELLING } from '../../test-keys.ts';
import { allow, deny, type VectorCase } from '../../vector-case.ts';

type Row = readonly [id: string, description: string, edit: (scene: Scene) => void];

const payload = (members: Record<string, unknown>) => (s: Scene) => {
  Object.assign(s.proof.payload, members);
};

const header = (members: Record<string, unknown>) => (s: Scene) => {
  Object.assign(s.proof.header, members);
};

const payloadText = (edit: (json: string) => string) => (s: Scene) => {
  s.proof.editPayload = edit;
};

const token = (edit: (text: string) => string) => (s: Scene) => {
  s.proof.editToken = edit;
};

const MEMBERS = ['iss', 'aud', 'grant_id', 'htm', 'htu', 'action', 'iat', 'jti'];

const MALFORMED: readonly Row[] = [
  ['empty', 'an empty string is no token', token(() => '')],
  ['padding', 'base64url is without padding', token((t) => `${t}==`)],
  ['stray-bits', 'two spellings of one signature are not both a token', token(nonCanonicalTail)],
  ['too-long', '8,193 characters are one too many', (s) => padProofTo(s, 8193)],
  [
    'duplicate-member',
    'a second member of one name',
    payloadText((json) => json.replace('{', '{"jti":"x",')),
  ],
  [
    'nul-character',
    'U+0000 in the Action',
    payloadText((json) => json.replace('order/', `order/${nullText}`)),
  ],
  [
    'lone-surrogate',
    'a lone surrogate in the Action',
    payloadText((json) => json.replace('order/', 'order/\\udc00')),
  ],
  ['alg-none', 'alg none has no reason of its own here', header({ alg: 'none' })],
  ['alg-es256', 'another alg has no reason of its own here', header({ alg: 'ES256' })],
  ['typ-jwt', 'typ tells a Proof from any other token', header({ typ: 'jwt' })],
  ['typ-dpop', 'a DPoP proof is not a Proof', header({ typ: 'dpop+jwt' })],
  ['header-jwk', 'the token must not bring its own key', header({ jwk: { kty: 'OKP' } })],
  ['header-cty', 'a Proof is no credential: it names no content type', header({ cty: 'vc' })],
  [
    'kid-of-another-agent',
    'kid is the key of iss',
    header({ kid: `${KEYS.otherAgent.didKey}#${KEYS.otherAgent.multikey}` }),
  ],
  [
    'iss-second-spelling',
    'a character that is not base58, which some decoders read as a zero digit: the rest would be allowed',
    (s) => {
      s.grant.subject.id = KEYS.twoSpellings.didKey;
      s.proof.key = KEYS.twoSpellings;
      s.proof.payload.iss = `did:key:${SECOND_SPELLING}`;
      s.allocation.agent = KEYS.twoSpellings.didKey;
    },
  ],
  ['kid-without-fragment', 'kid is the full DID URL', header({ kid: KEYS.agent.didKey })],
  ...MEMBERS.map(
    (name): Row => [`no-${name.replace('_', '-')}`, `${name} is required`, payload({ [name]: undefined })],
  ),
  ['extra-member', 'the payload is closed', payload({ exp: 1795172460 })],
  ['iss-did-web', 'iss is a did:key', payload({ iss: 'did:web:agent.example' })],
  ['aud-array', 'aud is one relying party', payload({ aud: ['did:web:shop.example'] })],
  ['aud-url', 'aud is a did:web DID', payload({ aud: 'https://shop.example' })],
  ['grant-id-other-form', 'grant_id is a Grant id', payload({ grant_id: '01KAKB8WG0B5D5MQRNEMTXAXTT' })],
  ['htm-lower-case', 'htm is upper case', payload({ htm: 'post' })],
  ['htu-relative', 'htu is absolute', payload({ htu: '/checkout' })],
  [
    'htu-user-info',
    'htu has no user info',
    payload({ htu: 'https://shop.example@mallory.example/checkout' }),
  ],
  ['htu-backslash', 'htu has no backslash', payload({ htu: 'https://shop.example\\@mallory.example/' })],
  [
    'action-malformed',
    'the signed Action is well formed',
    payload({ action: { type: 'commerce:purchase' } }),
  ],
  ['action-string', 'the signed Action is an object, not its text', payload({ action: '{}' })],
  ['iat-string', 'iat is a number', payload({ iat: '1795168798' })],
  ['iat-fraction', 'iat is whole seconds', payloadText((json) => json.replace(/"iat":\d+/, '$&.5'))],
  ['jti-21', 'a nonce of 21 characters is one too short', payload({ jti: 'a'.repeat(21) })],
  ['jti-65', 'a nonce of 65 characters is one too long', payload({ jti: 'a'.repeat(65) })],
  ['jti-alphabet', 'a nonce is base64url', payload({ jti: `${'a'.repeat(21)}+` })],
];

const malformed = MALFORMED.map(([id, description, edit]) =>
  deny('PROOF_MALFORMED', `p08-${id}`, description, { P8: false, P9: 'skipped' }, edit),
);

const accepted = (id: string, description: string, edit: (s: Scene) => void): VectorCase =>
  allow(`p08-${id}`, description, { P8: true, P9: true }, edit);

const WELL_FORMED: readonly VectorCase[] = [
  accepted('alg-ed25519', 'alg Ed25519 (RFC 9864) says the same as EdDSA', header({ alg: 'Ed25519' })),
  accepted('jti-22', 'a nonce of 22 characters', payload({ jti: '-_'.repeat(11) })),
  accepted('jti-64', 'a nonce of 64 characters', payload({ jti: 'Zz'.repeat(32) })),
  accepted('8192-characters', 'a Proof of exactly 8,192 characters', (s) => padProofTo(s, 8192)),
];

const API: readonly VectorCase[] = [
  deny(
    'PROOF_MALFORMED',
    'p08-action-api-resource',
    'the signed Action of an API call holds a URL',
    { P8: false },
    (s) => {
      s.action = { ...API_CALL };
      s.grant.subject.capabilities = [apiCapability()];
      s.proof.payload.action = { ...API_CALL, resource: 'api.shop.example/v1/orders' };
    },
  ),
];

export const cases: readonly VectorCase[] = [...malformed, ...WELL_FORMED, ...API];
