/** P8–P13: the Proof's form, signature, bindings and freshness (protocol §1, §3, §7). */
import { encodeBase64url, encodeUtf8, formatDidKey } from '@svc/protocol';
import { API_CALL, apiCapability, type Scene } from '../scene.ts';
import { KEYS, type TestKey } from '../test-keys.ts';
import { allow, deny, type VectorCase } from '../vector-case.ts';
import { nonCanonicalTail, nullText, padProofTo } from './token-edits.ts';
import { WEAK_KEYS, withForgedSignature } from './weak-keys.ts';

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
  [
    'kid-of-another-agent',
    'kid is the key of iss',
    header({ kid: `${KEYS.otherAgent.didKey}#${KEYS.otherAgent.multikey}` }),
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

/** An Agent whose did:key holds `publicKey`, in the Grant, the allocation and the Proof alike. */
const weakAgent = (s: Scene, publicKey: Uint8Array): void => {
  const didKey = formatDidKey(publicKey);
  const key: TestKey = { ...KEYS.agent, publicKey, didKey, multikey: didKey.slice('did:key:'.length) };
  s.proof.key = key;
  s.grant.subject.id = didKey;
  s.allocation.agent = didKey;
  withForgedSignature(s.proof, publicKey);
};

const badSignature = (id: string, description: string, edit: (s: Scene) => void): VectorCase =>
  deny(
    'PROOF_SIGNATURE_INVALID',
    `p09-${id}`,
    description,
    { P8: true, P9: false, P10: 'skipped', P11: 'skipped', P12: 'skipped', P13: 'skipped', P14: 'skipped' },
    edit,
  );

const SIGNATURE: readonly VectorCase[] = [
  badSignature('another-key', "signed by a key that is not the Agent's", (s) => {
    s.proof.key = { ...KEYS.agent, sign: KEYS.otherAgent.sign };
  }),
  badSignature('payload-changed', 'another nonce after signing', (s) => {
    s.proof.editToken = (text) => {
      const [head = '', body = '', signature = ''] = text.split('.');
      const json = Buffer.from(body, 'base64url').toString().replace('"jti":"d', '"jti":"e');
      return `${head}.${encodeBase64url(encodeUtf8(json))}.${signature}`;
    };
  }),
  badSignature(
    'signature-empty',
    'an empty signature',
    token((t) => t.slice(0, t.lastIndexOf('.') + 1)),
  ),
  ...WEAK_KEYS.map((weak) =>
    badSignature(
      `weak-key-${weak.id}`,
      `an Agent with ${weak.description}, named by the Grant: anybody can make signatures that satisfy the bare equation`,
      (s) => weakAgent(s, weak.publicKey),
    ),
  ),
];

const BINDINGS: readonly VectorCase[] = [
  deny(
    'PROOF_AGENT_MISMATCH',
    'p10-another-agent',
    'a valid Proof by an Agent that the Grant does not name',
    { P9: true, P10: false },
    (s) => {
      s.proof.key = KEYS.otherAgent;
    },
  ),
  deny('PROOF_GRANT_MISMATCH', 'p11-another-grant', 'a Proof made for another Grant', { P11: false }, (s) => {
    s.proof.payload.grant_id = 'urn:svc:grant:01KAKB8WG00000000000000000';
  }),
  deny(
    'PROOF_AUDIENCE_MISMATCH',
    'p12-another-relying-party',
    'a Proof made for another relying party',
    { P12: false },
    (s) => {
      s.proof.payload.aud = 'did:web:other.example';
    },
  ),
  deny(
    'PROOF_AGENT_MISMATCH',
    'p10-to-p13-all-false',
    'the bindings do not hide each other',
    { P10: false, P11: false, P12: false, P13: false },
    (s) => {
      s.proof.key = KEYS.otherAgent;
      s.proof.payload.grant_id = 'urn:svc:grant:01KAKB8WG00000000000000000';
      s.proof.payload.aud = 'did:web:other.example';
      s.proof.payload.iat = 0;
    },
  ),
];

const NOON = Date.parse('2026-11-20T10:00:00Z') / 1000;

const fresh = (id: string, description: string, now: string, iat: number, window = 60): VectorCase =>
  allow(`p13-${id}`, description, { P13: true }, (s) => {
    s.now = now;
    s.rp.proof_window_seconds = window;
    s.proof.payload.iat = iat;
  });
const expired = (id: string, description: string, now: string, iat: number, window = 60): VectorCase =>
  deny('PROOF_EXPIRED', `p13-${id}`, description, { P13: false, P14: true }, (s) => {
    s.now = now;
    s.rp.proof_window_seconds = window;
    s.proof.payload.iat = iat;
  });

const FRESHNESS: readonly VectorCase[] = [
  fresh('oldest', 'iat exactly one window ago is included', '2026-11-20T10:00:00.000Z', NOON - 60),
  expired('one-second-too-old', 'one second more than the window', '2026-11-20T10:00:00.000Z', NOON - 61),
  expired(
    'one-millisecond-too-old',
    'one millisecond more than the window',
    '2026-11-20T10:00:00.001Z',
    NOON - 60,
  ),
  fresh('newest', 'iat exactly 5 seconds ahead is included', '2026-11-20T10:00:00.000Z', NOON + 5),
  expired('one-second-too-new', 'one second more than the skew', '2026-11-20T10:00:00.000Z', NOON + 6),
  expired(
    'one-millisecond-too-new',
    'one millisecond more than the skew',
    '2026-11-20T09:59:59.999Z',
    NOON + 5,
  ),
  fresh('window-1', 'the smallest window', '2026-11-20T10:00:00.000Z', NOON - 1, 1),
  expired(
    'window-1-too-old',
    'the smallest window, one second more',
    '2026-11-20T10:00:00.000Z',
    NOON - 2,
    1,
  ),
  fresh('window-300', 'the largest window', '2026-11-20T10:00:00.000Z', NOON - 300, 300),
  expired('iat-zero', 'the beginning of the epoch', '2026-11-20T10:00:00.000Z', 0),
  expired('iat-negative', 'before the epoch', '2026-11-20T10:00:00.000Z', -NOON),
  expired(
    'iat-in-milliseconds',
    'milliseconds in the place of seconds',
    '2026-11-20T10:00:00.000Z',
    NOON * 1000,
  ),
  expired('iat-largest', 'the largest integer there is', '2026-11-20T10:00:00.000Z', Number.MAX_SAFE_INTEGER),
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

export const proofCases: readonly VectorCase[] = [
  ...malformed,
  ...WELL_FORMED,
  ...SIGNATURE,
  ...BINDINGS,
  ...FRESHNESS,
  ...API,
];
