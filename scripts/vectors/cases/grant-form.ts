/** P1: what makes a Grant malformed, what makes it unsupported, and which wins (protocol §1, §2). */
import { encodeBase64url, encodeUtf8 } from '../../../packages/protocol/src/index.ts';
import { apiCapability, GRANT_ID, purchaseCapability, type Scene } from '../scene.ts';
import { KEYS, PRINCIPAL_DID, RP_DID } from '../test-keys.ts';
import { allow, deny, type VectorCase } from '../vector-case.ts';
import { nonCanonicalTail, nullText, padTo } from './token-edits.ts';

type Row = readonly [id: string, description: string, edit: (scene: Scene) => void];

const capabilities =
  (...list: unknown[]) =>
  (s: Scene) => {
    s.grant.subject.capabilities = list;
  };
const payload = (members: Record<string, unknown>) => (s: Scene) => {
  Object.assign(s.grant.payload, members);
};
const header = (members: Record<string, unknown>) => (s: Scene) => {
  Object.assign(s.grant.header, members);
};
const status = (members: Record<string, unknown>) => (s: Scene) => {
  Object.assign(s.grant.status, members);
};
const subject = (members: Record<string, unknown>) => (s: Scene) => {
  Object.assign(s.grant.subject, members);
};
const payloadText = (edit: (json: string) => string | Uint8Array) => (s: Scene) => {
  s.grant.editPayload = edit;
};
const token = (edit: (text: string) => string) => (s: Scene) => {
  s.grant.editToken = edit;
};

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const dids = (count: number) => [
  ...Array.from({ length: count - 1 }, (_, i) => `did:web:rp-${i}.example`),
  RP_DID,
];
const letters = (n: number) =>
  Array.from({ length: n }, (_, i) => `M${String.fromCharCode(65 + Math.floor(i / 26), 65 + (i % 26))}`);

const MALFORMED_TOKEN: readonly Row[] = [
  ['empty', 'an empty string is no token', token(() => '')],
  ['two-parts', 'the signature part is missing', token((t) => t.slice(0, t.lastIndexOf('.')))],
  ['four-parts', 'a compact JWS has three parts', token((t) => `${t}.AA`)],
  ['five-parts', 'a JWE is not a JWS', token((t) => `${t}.AA.AA`)],
  ['padding', 'base64url is without padding', token((t) => `${t}==`)],
  ['white-space', 'white space around a token is not trimmed', token((t) => ` ${t}`)],
  ['trailing-newline', 'a line end behind a token is not trimmed', token((t) => `${t}\n`)],
  ['standard-alphabet', 'the alphabet is that of base64url', token((t) => `${t.slice(0, -2)}+A`)],
  ['stray-bits', 'two spellings of one signature are not both a token', token(nonCanonicalTail)],
  ['too-long', '16,385 characters are one too many', (s) => padTo(s, 16_385)],
  [
    'header-array',
    'the header is an object',
    (s) => {
      s.grant.editHeader = () => '[]';
    },
  ],
  [
    'header-not-json',
    'the header is JSON',
    (s) => {
      s.grant.editHeader = () => '{alg:EdDSA}';
    },
  ],
  [
    'header-duplicate',
    'a second member of one name in the header, though both say the same',
    (s) => {
      s.grant.editHeader = (json) => json.replace('{', '{"alg":"EdDSA",');
    },
  ],
  ['payload-array', 'the payload is an object', payloadText(() => '[]')],
  ['payload-not-json', 'the payload is JSON', payloadText((json) => `${json},`)],
  ['payload-bom', 'a byte order mark is not JSON', payloadText((json) => `\ufeff${json}`)],
  [
    'payload-not-utf8',
    'the payload is UTF-8',
    payloadText((json) => Uint8Array.of(...encodeUtf8(json.slice(0, -1)), 0x2c, 0x22, 0xff, 0x22, 0x7d)),
  ],
  [
    'duplicate-member',
    'a second member of one name: two readers would see two Grants',
    payloadText((json) => json.replace('"issuer":', '"issuer":"did:web:mallory.example","issuer":')),
  ],
  [
    'duplicate-member-deep',
    'a second member of one name at depth: here two ceilings for one amount',
    payloadText((json) => json.replace('"maxAmount":', '"maxAmount":99999999,"maxAmount":')),
  ],
  [
    'duplicate-member-escaped',
    'a member name is what it means, not how it is written',
    payloadText((json) => json.replace('"maxAmount":', '"max\\u0041mount":99999999,"maxAmount":')),
  ],
  [
    'depth-33',
    'nesting deeper than 32, in a constraint that would otherwise only be unknown',
    payloadText((json) => json.replace('"maxAmount":', `"x":${nested(28)},"maxAmount":`)),
  ],
  [
    'lone-surrogate',
    'text that has no UTF-8 form',
    payloadText((json) => json.replace('order/**', 'order/\\ud800**')),
  ],
  [
    'nul-character',
    'U+0000, which not every store can hold',
    payloadText((json) => json.replace('order/**', `order/${nullText}**`)),
  ],
  ['fraction', 'numbers are integers', payloadText((json) => json.replace(':50000', ':50000.0'))],
  ['exponent', 'numbers are written without exponent', payloadText((json) => json.replace(':50000', ':5e4'))],
  [
    'number-too-large',
    '2^53 is beyond what every reader keeps exactly',
    payloadText((json) => json.replace(':50000', ':9007199254740992')),
  ],
];

const MALFORMED_HEADER: readonly Row[] = [
  ['no-alg', 'alg is required', header({ alg: undefined })],
  ['alg-number', 'alg is a string', header({ alg: 1 })],
  ['no-kid', 'kid is required', header({ kid: undefined })],
  ['empty-kid', 'an empty kid names nothing', header({ kid: '' })],
  ['no-typ', 'typ is required: it tells the kinds of token apart', header({ typ: undefined })],
  ['typ-jwt', 'a typ that fits any token fits none', header({ typ: 'JWT' })],
  [
    'typ-with-prefix',
    'typ is the exact text, not a media type equal to it',
    header({ typ: 'application/vc+jwt' }),
  ],
];

const CONTEXT = 'https://www.w3.org/ns/credentials/v2';
const UNDEFINED_TERMS = 'https://www.w3.org/ns/credentials/undefined-terms/v2';
const MALFORMED_CREDENTIAL: readonly Row[] = [
  ['context-order', '@context is exact, order included', payload({ '@context': [UNDEFINED_TERMS, CONTEXT] })],
  [
    'context-extra',
    'another context could redefine every term',
    payload({ '@context': [CONTEXT, UNDEFINED_TERMS, 'https://mallory.example/v1'] }),
  ],
  ['type-order', 'type is exact, order included', payload({ type: ['SvcGrant', 'VerifiableCredential'] })],
  ['type-other', 'another credential is not a Grant', payload({ type: ['VerifiableCredential'] })],
  ['id-not-a-grant', 'id is a Grant id', payload({ id: 'urn:uuid:0188a1c8-0000-7000-8000-000000000000' })],
  ['id-lower-case', 'a ULID is upper case', payload({ id: 'urn:svc:grant:01kbfzw0000000000000000000' })],
  ['issuer-object', 'issuer is a string', payload({ issuer: { id: PRINCIPAL_DID } })],
  ['issuer-did-key', 'issuer is a did:web DID', payload({ issuer: KEYS.principal.didKey })],
  ['issuer-did-url', 'issuer is a DID, not a DID URL', payload({ issuer: `${PRINCIPAL_DID}#key-1` })],
  ['no-valid-from', 'validFrom is required', payload({ validFrom: undefined })],
  ['no-valid-until', 'nothing is granted without an end', payload({ validUntil: undefined })],
  ['valid-from-milliseconds', 'times are whole seconds', payload({ validFrom: '2026-11-20T08:00:00.000Z' })],
  ['valid-from-offset', 'times are written with Z', payload({ validFrom: '2026-11-20T09:00:00+01:00' })],
  ['valid-from-no-such-day', 'times are real instants', payload({ validFrom: '2026-02-30T08:00:00Z' })],
  ['empty-validity', 'validFrom is before validUntil', payload({ validUntil: '2026-11-20T08:00:00Z' })],
  ['validity-over-90-days', '90 days and one second', payload({ validUntil: '2027-02-18T08:00:01Z' })],
  ['no-subject', 'credentialSubject is required', payload({ credentialSubject: undefined })],
  ['agent-did-web', 'the Agent is a did:key', subject({ id: 'did:web:agent.example' })],
  ['audience-empty', 'an empty audience is neither nobody nor everybody', subject({ audience: [] })],
  ['audience-65', '65 relying parties are one too many', subject({ audience: dids(65) })],
  ['audience-duplicate', 'audience is distinct', subject({ audience: [RP_DID, RP_DID] })],
  ['audience-string', 'audience is an array', subject({ audience: RP_DID })],
  ['audience-not-a-did', 'audience holds DIDs', subject({ audience: [RP_DID, 'shop.example'] })],
  ['iss-other', 'iss, if given, equals issuer', payload({ iss: 'did:web:mallory.example' })],
  ['sub-other', 'sub, if given, equals the subject id', payload({ sub: KEYS.otherAgent.didKey })],
  ['jti-other', 'jti, if given, equals id', payload({ jti: 'urn:svc:grant:01KBFZW0000000000000000000' })],
  ['iat-string', 'iat, if given, is an integer', payload({ iat: '1795161600' })],
];

const MALFORMED_STATUS: readonly Row[] = [
  ['no-status', 'credentialStatus is required', payload({ credentialStatus: undefined })],
  ['status-array', 'there is one status entry', payload({ credentialStatus: [] })],
  ['status-no-id', 'the entry has an id', status({ id: undefined })],
  ['status-index-number', 'the index is a string', status({ statusListIndex: 94567 })],
  ['status-index-leading-zero', 'an index has one spelling', status({ statusListIndex: '094567' })],
  [
    'status-list-not-a-url',
    'the list is named by its URL',
    status({ statusListCredential: 'acme.example/1' }),
  ],
];

const resources = (list: unknown) => capabilities(purchaseCapability({}, { resources: list }));
const MALFORMED_CAPABILITIES: readonly Row[] = [
  ['no-capabilities', 'capabilities is required', subject({ capabilities: undefined })],
  ['capabilities-empty', 'a Grant grants something', capabilities()],
  [
    'capabilities-17',
    '17 Capabilities are one too many',
    capabilities(...Array.from({ length: 17 }, () => purchaseCapability())),
  ],
  ['capability-string', 'a Capability is an object', capabilities('commerce:purchase')],
  ['no-constraints', 'constraints is required', capabilities({ action: 'commerce:purchase' })],
  [
    'no-max-amount',
    'no unlimited amount by omission',
    capabilities(purchaseCapability({ maxAmount: undefined })),
  ],
  ['max-amount-negative', 'maxAmount is not negative', capabilities(purchaseCapability({ maxAmount: -1 }))],
  ['max-amount-string', 'maxAmount is a number', capabilities(purchaseCapability({ maxAmount: '50000' }))],
  [
    'no-currency',
    'no unlimited currency by omission',
    capabilities(purchaseCapability({ currency: undefined })),
  ],
  ['currency-lower-case', 'a currency is upper case', capabilities(purchaseCapability({ currency: 'usd' }))],
  ['no-methods', 'no unlimited methods by omission', capabilities(apiCapability({ methods: undefined }))],
  ['methods-empty', 'methods names at least one', capabilities(apiCapability({ methods: [] }))],
  ['methods-17', '17 methods are one too many', capabilities(apiCapability({ methods: letters(17) }))],
  ['methods-duplicate', 'methods are distinct', capabilities(apiCapability({ methods: ['GET', 'GET'] }))],
  ['methods-lower-case', 'methods are upper case', capabilities(apiCapability({ methods: ['get'] }))],
  ['resources-empty', 'an empty list is neither nothing nor everything', resources([])],
  ['resources-65', '65 patterns are one too many', resources(Array.from({ length: 65 }, (_, i) => `r/${i}`))],
  ['resource-empty', 'a pattern has at least one character', resources(['order/**', ''])],
  ['resource-513', 'a pattern of 513 characters is one too long', resources([`order/**${'x'.repeat(505)}`])],
  ['resource-9-runs', 'a ninth run of asterisks is one too many', resources(['*/*/*/*/*/*/*/*/*'])],
];

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
  ['header-cty', 'any other header member', header({ cty: 'vc' })],
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

const refusals = (
  reason: 'GRANT_MALFORMED' | 'UNSUPPORTED_FEATURE',
  prefix: string,
  rows: readonly Row[],
): VectorCase[] =>
  rows.map(([id, description, edit]) => deny(reason, `${prefix}-${id}`, description, { P1: false }, edit));

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

export const grantFormCases: readonly VectorCase[] = [
  ...refusals('GRANT_MALFORMED', 'p01-malformed', MALFORMED_TOKEN),
  ...refusals('GRANT_MALFORMED', 'p01-malformed', MALFORMED_HEADER),
  ...refusals('GRANT_MALFORMED', 'p01-malformed', MALFORMED_CREDENTIAL),
  ...refusals('GRANT_MALFORMED', 'p01-malformed', MALFORMED_STATUS),
  ...refusals('GRANT_MALFORMED', 'p01-malformed', MALFORMED_CAPABILITIES),
  ...refusals('UNSUPPORTED_FEATURE', 'p01-unsupported', UNSUPPORTED),
  ...refusals('GRANT_MALFORMED', 'p01-malformed-wins', MALFORMED_WINS),
  ...ACCEPTED,
];
