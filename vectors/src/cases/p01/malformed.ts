/** P1: what makes a Grant malformed (protocol §1, §2). */
import { encodeUtf8 } from '@svc/protocol';
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
import { nonCanonicalTail, nullText, padTo } from '../../edits/token-edits.ts';
import { apiCapability, purchaseCapability } from '../../scene.ts';
import { KEYS, PRINCIPAL_DID, RP_DID } from '../../test-keys.ts';
import type { VectorCase } from '../../vector-case.ts';

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
  [
    'kid-1025',
    'a kid of 1,025 characters is one too long',
    header({ kid: `${PRINCIPAL_DID}#${'k'.repeat(1025 - PRINCIPAL_DID.length - 1)}` }),
  ],
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
  ['context-one-other', 'one right context is not both', payload({ '@context': [CONTEXT, CONTEXT] })],
  ['type-order', 'type is exact, order included', payload({ type: ['SvcGrant', 'VerifiableCredential'] })],
  ['type-other', 'another credential is not a Grant', payload({ type: ['VerifiableCredential'] })],
  ['type-one-other', 'one right type is not both', payload({ type: ['VerifiableCredential', 'Grant'] })],
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
  ['status-no-type', 'the entry has a type', status({ type: undefined })],
  ['status-no-purpose', 'the entry has a purpose', status({ statusPurpose: undefined })],
  ['status-index-17-digits', 'an index has at most 16 digits', status({ statusListIndex: '1'.repeat(17) })],
  ['status-index-number', 'the index is a string', status({ statusListIndex: 94567 })],
  ['status-index-leading-zero', 'an index has one spelling', status({ statusListIndex: '094567' })],
  [
    'status-list-not-a-url',
    'the list is named by its URL',
    status({ statusListCredential: 'acme.example/1' }),
  ],
];

const MALFORMED_CAPABILITIES: readonly Row[] = [
  ['no-capabilities', 'capabilities is required', subject({ capabilities: undefined })],
  ['capabilities-empty', 'a Grant grants something', capabilities()],
  [
    'capabilities-17',
    '17 Capabilities are one too many',
    capabilities(...Array.from({ length: 17 }, () => purchaseCapability())),
  ],
  ['capability-string', 'a Capability is an object', capabilities('commerce:purchase')],
  ['capability-no-action', 'a Capability names its action', capabilities({ constraints: {} })],
  ['capability-empty-action', 'an empty action names none', capabilities({ action: '', constraints: {} })],
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
  [
    'methods-one-lower-case',
    'every method is upper case',
    capabilities(apiCapability({ methods: ['POST', 'get'] })),
  ],
  ['methods-lower-case', 'methods are upper case', capabilities(apiCapability({ methods: ['get'] }))],
  ['resources-empty', 'an empty list is neither nothing nor everything', resources([])],
  ['resources-65', '65 patterns are one too many', resources(Array.from({ length: 65 }, (_, i) => `r/${i}`))],
  ['resource-empty', 'a pattern has at least one character', resources(['order/**', ''])],
  ['resource-513', 'a pattern of 513 characters is one too long', resources([`order/**${'x'.repeat(505)}`])],
  ['resource-9-runs', 'a ninth run of asterisks is one too many', resources(['*/*/*/*/*/*/*/*/*'])],
];

export const cases: readonly VectorCase[] = [
  ...MALFORMED_TOKEN,
  ...MALFORMED_HEADER,
  ...MALFORMED_CREDENTIAL,
  ...MALFORMED_STATUS,
  ...MALFORMED_CAPABILITIES,
].map((row) => refusal('GRANT_MALFORMED', 'p01-malformed', row));
