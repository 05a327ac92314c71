/**
 * P1: what this profile does not support, which reason takes precedence, and well-formed values up to the limits
 * (protocol §1, §2).
 */
import { encodeBase64url } from '@svc/protocol';
import {
  capabilities,
  dids,
  header,
  letters,
  nested,
  payload,
  payloadText,
  type Row,
  refusal,
  resources,
  status,
  subject,
  token,
} from '../../edits/grant-edits.ts';
import { padTo } from '../../edits/token-edits.ts';
import { API_CALL, apiCapability, GRANT_ID, purchaseCapability, type Scene } from '../../scene.ts';
import { KEYS, PRINCIPAL_DID } from '../../test-keys.ts';
import { allow, deny, type VectorCase } from '../../vector-case.ts';

const UNSUPPORTED: readonly Row[] = [
  ['alg-es256', 'another signature algorithm', header({ alg: 'ES256' })],
  ['alg-hs256', 'a MAC, for which a public key would be the secret', header({ alg: 'HS256' })],
  [
    'alg-none',
    'no signature at all',
    (s) => {
      s.grant.header.alg = 'none';
      s.grant.editToken = (t) => t.slice(0, t.lastIndexOf('.') + 1);
    },
  ],
  ['header-crit', 'crit: an extension that must be understood', header({ crit: ['exp'] })],
  ['header-b64', 'b64: an unencoded payload', header({ b64: false, crit: ['b64'] })],
  [
    'header-jwk',
    'jwk: the token brings its own key',
    header({ jwk: { kty: 'OKP', crv: 'Ed25519', x: 'AA' } }),
  ],
  ['header-jku', 'jku: the token says where its key is', header({ jku: 'https://mallory.example/jwks' })],
  ['header-x5c', 'x5c: the token brings its own certificate', header({ x5c: ['AA'] })],
  ['header-cty', 'another content type', header({ cty: 'vc+sd-jwt' })],
  ['header-other', 'any other header member', header({ iat: 1 })],
  ['member-unknown', 'an unknown member of the credential', payload({ termsOfUse: { type: 'X' } })],
  ['member-vc', 'a vc claim around a second credential', payload({ vc: {} })],
  ['member-exp', 'exp would be a second end', payload({ exp: 1797667200 })],
  ['member-nbf', 'nbf would be a second beginning', payload({ nbf: 1795161600 })],
  ['status-member-unknown', 'an unknown member of the status entry', status({ statusSize: 2 })],
  ['status-type', 'another kind of status', status({ type: 'StatusList2021Entry' })],
  ['status-purpose', 'another purpose of status', status({ statusPurpose: 'suspension' })],
  ['subject-member-unknown', 'an unknown member of the subject', subject({ delegation: { depth: 1 } })],
  ['several-subjects', 'several subjects', payload({ credentialSubject: [{}, {}] })],
  ['action-unknown', 'an unknown kind of action', capabilities({ action: 'data:read', constraints: {} })],
  [
    'action-unknown-beside-known',
    'an unknown kind of action beside one that would do',
    capabilities(purchaseCapability(), { action: 'data:read', constraints: {} }),
  ],
  [
    'capability-member-unknown',
    'an unknown member of a Capability',
    capabilities(purchaseCapability({}, { deny: [] })),
  ],
];

const MALFORMED_WINS: readonly Row[] = [
  [
    'header',
    'an unknown header member and a missing validUntil',
    (s) => {
      s.grant.header.crit = ['exp'];
      s.grant.payload.validUntil = undefined;
    },
  ],
  ['alg-and-typ', 'another alg and another typ', header({ alg: 'ES256', typ: 'JWT' })],
  ['member-and-claim', 'an unknown member and an iss that is not the issuer', payload({ exp: 1, iss: 'x' })],
  [
    'status-and-claim',
    'another status type and a jti that is not the id',
    (s) => {
      s.grant.status.type = 'StatusList2021Entry';
      s.grant.payload.jti = 'urn:svc:grant:01KBFZW0000000000000000000';
    },
  ],
  [
    'subjects-and-claim',
    'several subjects and a sub that is no string',
    payload({ credentialSubject: [], sub: 1 }),
  ],
  [
    'action-and-constraint',
    'an unknown action in one Capability and a missing ceiling in the next',
    capabilities({ action: 'data:read', constraints: {} }, purchaseCapability({ maxAmount: undefined })),
  ],
];

const accepted = (id: string, description: string, edit: (scene: Scene) => void): VectorCase =>
  allow(`p01-${id}`, description, { P1: true }, edit);

const ACCEPTED: readonly VectorCase[] = [
  accepted('alg-ed25519', 'alg Ed25519 (RFC 9864) says the same as EdDSA', header({ alg: 'Ed25519' })),
  accepted('jwt-claims', 'iss, sub and jti may repeat the credential; iat may stand', (s) => {
    const claims = { jti: GRANT_ID, iss: PRINCIPAL_DID, sub: KEYS.agent.didKey, iat: -1 };
    Object.assign(s.grant.payload, claims);
  }),
  accepted('16384-characters', 'a Grant of exactly 16,384 characters', (s) => padTo(s, 16_384)),
  accepted('validity-90-days', 'exactly 90 days', payload({ validUntil: '2027-02-18T08:00:00Z' })),
  accepted('audience-64', '64 relying parties, the caller last', subject({ audience: dids(64) })),
  accepted(
    'capabilities-16',
    '16 Capabilities, the last of which authorizes',
    capabilities(
      ...Array.from({ length: 15 }, () => purchaseCapability({ maxAmount: 0 })),
      purchaseCapability(),
    ),
  ),
  accepted(
    'resources-64',
    '64 patterns, the last of which matches',
    resources([...Array.from({ length: 63 }, (_, i) => `r/${i}`), 'order/**']),
  ),
  accepted('resource-512', 'a pattern of 512 characters', resources(['order/*', `x${'y'.repeat(511)}`])),
  accepted('methods-16', '16 methods, the last of which is called', (s) => {
    s.action = { ...API_CALL };
    capabilities(apiCapability({ methods: [...letters(15), 'POST'] }))(s);
  }),
  deny(
    'ISSUER_KEY_NOT_FOUND',
    'p01-kid-1024',
    'a kid of 1,024 characters is well formed',
    { P1: true, P2: false },
    header({ kid: `${PRINCIPAL_DID}#${'k'.repeat(1024 - PRINCIPAL_DID.length - 1)}` }),
  ),
  accepted('resource-8-runs', 'a pattern with 8 runs of asterisks', resources(['o*r*d*e*r*/*1*0**'])),
  accepted(
    'member-names-escaped',
    'how JSON is written does not matter, only what it says',
    payloadText((json) => ` ${json.replace('"issuer":', '\n"\\u0069ssuer"\t: ')} `),
  ),
  deny(
    'UNKNOWN_CONSTRAINT',
    'p01-depth-32',
    'nesting 32 deep is well formed: the unknown constraint that holds it is left to P17',
    { P1: true, P17: false },
    payloadText((json) => json.replace('"maxAmount":', `"x":${nested(27)},"maxAmount":`)),
  ),
  deny(
    'GRANT_SIGNATURE_INVALID',
    'p01-signature-63-bytes',
    'the length of a signature is not its form: P3 refuses it',
    { P1: true, P3: false },
    token((t) => `${t.slice(0, t.lastIndexOf('.') + 1)}${encodeBase64url(new Uint8Array(63))}`),
  ),
];

export const cases: readonly VectorCase[] = [
  ...UNSUPPORTED.map((row) => refusal('UNSUPPORTED_FEATURE', 'p01-unsupported', row)),
  ...MALFORMED_WINS.map((row) => refusal('GRANT_MALFORMED', 'p01-malformed-wins', row)),
  ...ACCEPTED,
];
