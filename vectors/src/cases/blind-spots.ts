/**
 * Slips that the cases about one rule at a time do not notice: an array of one text taken for that text, a bound missed
 * by one on the side that is allowed, a pattern read as a regular expression.
 */
import { encodeBase64url, formatDidKey } from '@svc/protocol';
import { underV2 } from '../balances.ts';
import {
  API_CALL,
  apiCapability,
  GRANT_ID,
  type Members,
  PURCHASE,
  purchaseCapability,
  type Scene,
  statusEntry,
  verificationMethod,
} from '../scene.ts';
import { KEYS, PRINCIPAL_KID, RP_DID } from '../test-keys.ts';
import { allow, deny, type VectorCase } from '../vector-case.ts';
import { capabilities, header, payload, type Row, refusal, resources, status } from './grant-edits.ts';

const proofPayload = (members: Record<string, unknown>) => (s: Scene) => {
  Object.assign(s.proof.payload, members);
};
const GRANTS_REFUSED: readonly Row[] = [
  ['id-array', 'an id in an array is not an id', payload({ id: [GRANT_ID] })],
  ['id-with-more-in-front', 'nothing stands in front of an id', payload({ id: `x${GRANT_ID}` })],
  ['id-with-more-behind', 'nothing stands behind an id', payload({ id: `${GRANT_ID}0` })],
  ['valid-from-array', 'a time is a text', payload({ validFrom: ['2026-11-20T08:00:00Z'] })],
  ['valid-from-number', 'a time is not a number of seconds', payload({ validFrom: 1_795_161_600 })],
  [
    'status-list-other-scheme',
    'a scheme that begins with https is another',
    status({ statusListCredential: 'httpss://status.svc.example/acme.example/1' }),
  ],
  [
    'status-list-scheme-inside',
    'nothing stands in front of the scheme',
    status({ statusListCredential: 'x-https://status.svc.example/acme.example/1' }),
  ],
  ['capability-null', 'a Capability is not null', capabilities(null)],
  ['resources-string', 'resources are an array', resources('order/**')],
  ['resource-array', 'a pattern is a text', resources([['order/**']])],
  ['currency-array', 'a currency is a text', capabilities(purchaseCapability({ currency: ['USD'] }))],
  ['method-array', 'a method is a text', capabilities(apiCapability({ methods: [['POST']] }))],
];

const NO_TIMES = [
  ['t-lower-case', 'T is upper case', '2026-11-20t08:00:00Z'],
  ['z-lower-case', 'Z is upper case', '2026-11-20T08:00:00z'],
  ['space', 'T parts day and time', '2026-11-20 08:00:00Z'],
  ['offset-0', 'an offset of nothing is not Z', '2026-11-20T08:00:00+00:00'],
  ['no-seconds', 'seconds are written', '2026-11-20T08:00Z'],
  ['year-of-6-digits', 'a year has four digits', '+002026-11-20T08:00:00Z'],
  ['no-leap-day', '2027 has no 29 February', '2027-02-29T08:00:00Z'],
  ['no-leap-day-of-2100', 'nor has 2100', '2100-02-29T08:00:00Z'],
  ['month-13', 'there is no month 13', '2026-13-01T08:00:00Z'],
  ['day-0', 'there is no day 0', '2026-12-00T08:00:00Z'],
  ['minute-60', 'there is no minute 60', '2026-11-20T08:60:00Z'],
] as const;
const noTimes = NO_TIMES.map(
  ([id, description, validFrom]): Row => [`valid-from-${id}`, description, payload({ validFrom })],
);

/** One letter, and as many as there may be. */
const LONGEST_METHOD = 'M'.repeat(32);
const callBy = (method: string) => (s: Scene) => {
  s.action = { ...API_CALL, method };
  s.grant.subject.capabilities = [apiCapability({ methods: [method] })];
};

const LIST = 'https://status.svc.example/acme.example/1';
const atIndex = (index: string) => (s: Scene) => {
  s.grant.status = statusEntry(LIST, index);
  s.allocation.status_list_index = index;
};
/** In form, but never allocated. */
const inForm = (id: string, description: string, url: string, index: string): VectorCase =>
  deny('AUTHORITY_REVOKED', `p01-status-${id}`, description, { P1: true, P6: false }, (s) => {
    s.grant.status = statusEntry(url, index);
  });

const GRANTS_ACCEPTED: readonly VectorCase[] = [
  allow('p01-status-index-0', 'the first index', { P1: true, P6: true }, atIndex('0')),
  allow('p01-status-index-1-digit', 'an index of one digit', { P1: true, P6: true }, atIndex('7')),
  inForm('index-16-digits', 'an index of 16 digits', LIST, '9'.repeat(16)),
  inForm('http', 'a list may be named by an http URL', LIST.replace('https', 'http'), '7'),
  inForm(
    'id-2048',
    'a status id of 2,048 characters',
    `${LIST}/${'x'.repeat(2048 - LIST.length - '/#7'.length)}`,
    '7',
  ),
  deny(
    'GRANT_NOT_YET_VALID',
    'p01-leap-day-of-2028',
    '2028 has a 29 February',
    { P1: true, P4: false },
    payload({ validFrom: '2028-02-29T00:00:00Z', validUntil: '2028-03-01T00:00:00Z' }),
  ),
  deny(
    'GRANT_EXPIRED',
    'p01-leap-day-of-2000',
    '2000 had a 29 February',
    { P1: true, P5: false },
    payload({ validFrom: '2000-02-29T23:59:59Z', validUntil: '2000-03-01T00:00:00Z' }),
  ),
  deny(
    'ISSUER_KEY_NOT_FOUND',
    'p01-kid-1',
    'a kid of one character is in form, and names no key of the issuer',
    { P1: true, P2: false },
    header({ kid: 'k' }),
  ),
  deny(
    'UNSUPPORTED_FEATURE',
    'v2-unsupported-action-with-any-budget',
    'the constraints of an action that is not known can be anything, budgets too',
    { P1: false },
    underV2([purchaseCapability(), { action: 'data:read', constraints: { maxUses: 'x', period: 7 } }]),
  ),
  deny(
    'ISSUER_KEY_NOT_FOUND',
    'p02-retired-not-in-document',
    'a key that was retired in time, and that the document does not list any more',
    { P2: false, P3: 'skipped' },
    (s) => {
      s.principal.key = { state: 'retired', since: '2026-11-20T09:00:00.000Z' };
      s.document.verificationMethod = [];
      s.document.assertionMethod = [];
    },
  ),
];

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

const DOCUMENTS: readonly VectorCase[] = [
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

const PROOFS: readonly VectorCase[] = (
  [
    ...(['did:web:agent.example', 'did:key:z6MkNoKey', 'did:key:'] as const).map(
      (iss, i) =>
        [
          `iss-is-no-key-${i + 1}`,
          `kid fits iss, which is no did:key of Ed25519: ${iss}`,
          (s: Scene) => {
            s.proof.header.kid = `${iss}#${iss.slice('did:key:'.length)}`;
            s.proof.payload.iss = iss;
          },
        ] as const,
    ),
    ['aud-array-of-one', 'the one relying party in an array', proofPayload({ aud: [RP_DID] })],
    ['grant-id-array', 'a Grant id is a text', proofPayload({ grant_id: [GRANT_ID] })],
    ['grant-id-with-more-behind', 'nothing stands behind it', proofPayload({ grant_id: `${GRANT_ID}0` })],
    ['htm-array', 'htm is a text', proofPayload({ htm: ['POST'] })],
    ['htm-33', 'htm has at most 32 letters', proofPayload({ htm: `${LONGEST_METHOD}M` })],
    ['htm-empty', 'htm has at least one letter', proofPayload({ htm: '' })],
    ['htu-array', 'htu is a text', proofPayload({ htu: ['https://shop.example/checkout'] })],
    ['jti-array', 'a nonce is a text', proofPayload({ jti: ['dGhlIG5vbmNlIG9mIGEgdGVzdA'] })],
    ['action-null', 'null is no Action', proofPayload({ action: null })],
    ['action-array', 'an Action in an array is none', proofPayload({ action: [PURCHASE] })],
  ] as const
).map(([id, description, edit]) =>
  deny('PROOF_MALFORMED', `p08-${id}`, description, { P8: false, P9: 'skipped' }, edit),
);

const ACTIONS: readonly VectorCase[] = [
  ...(
    [
      ['currency-array', 'a currency is a text', { ...PURCHASE, currency: ['USD'] }],
      ['currency-two-letters', 'a currency has three letters', { ...PURCHASE, currency: 'US' }],
      ['amount-null', 'no amount is not none', { ...PURCHASE, amount: null }],
      ['amount-array', 'an amount is a number', { ...PURCHASE, amount: [42700] }],
      ['resource-array', 'a resource is a text', { ...PURCHASE, resource: ['order/1001'] }],
      ['call-of-unknown-type', 'another type with the members of a call', { ...API_CALL, type: 'data:read' }],
      [
        'resource-lone-surrogate',
        'a resource is text that has a UTF-8 form',
        { ...PURCHASE, resource: 'order/\ud800' },
      ],
      ['api-method-array', 'a method is a text', { ...API_CALL, method: ['POST'] }],
      ['api-method-empty', 'a method has at least one letter', { ...API_CALL, method: '' }],
    ] as const
  ).map(([id, description, action]) =>
    deny('ACTION_MALFORMED', `p15-${id}`, description, { P15: false, P14: 'skipped' }, (s) => {
      s.presentedAction = action;
    }),
  ),
  allow('p15-resource-1', 'a resource of one character', { P15: true, P14: true }, (s) => {
    s.action.resource = '7';
    resources(['*'])(s);
  }),
  allow('p15-api-method-1', 'a method of one letter', { P15: true, P14: true }, callBy('M')),
  allow('p15-api-method-32', 'a method of 32 letters', { P15: true, P14: true }, callBy(LONGEST_METHOD)),
];

const REGEX = 'order/.+(a|b)?[c]{1}$^\\d';
const PATTERNS: readonly VectorCase[] = [
  allow(
    'p20-no-regular-expression',
    'what means something in regular expressions is itself in a pattern',
    { P20: true },
    (s) => {
      resources([REGEX])(s);
      s.action.resource = REGEX;
    },
  ),
  deny(
    'RESOURCE_NOT_AUTHORIZED',
    'p20-dot-is-a-dot',
    'a dot is no other character',
    { P19: true, P20: false },
    (s) => {
      resources(['order/1.01'])(s);
    },
  ),
  allow(
    'p20-url-http',
    'a pattern may be of http',
    { P20: true },
    callTo('http://api.shop.example/v1/**', 'http://api.shop.example/v1/orders'),
  ),
  deny(
    'RESOURCE_NOT_AUTHORIZED',
    'p20-url-dot-is-a-dot',
    'a dot in a host is no other character',
    { P19: true, P20: false },
    callTo('https://api.shop.example/**', 'https://api-shop.example/'),
  ),
  deny(
    'RESOURCE_NOT_AUTHORIZED',
    'p20-url-scheme-inside',
    'nothing stands in front of the scheme',
    { P19: true, P20: false },
    callTo('x-https://api.shop.example/**', 'https://api.shop.example/v1/orders'),
  ),
];

function callTo(pattern: string, resource: string) {
  return (s: Scene) => {
    s.action = { ...API_CALL, resource };
    s.grant.subject.capabilities = [apiCapability({}, { resources: [pattern] })];
  };
}

export const blindSpotCases: readonly VectorCase[] = [
  ...[...GRANTS_REFUSED, ...noTimes].map((row) => refusal('GRANT_MALFORMED', 'p01-malformed', row)),
  ...GRANTS_ACCEPTED,
  ...DOCUMENTS,
  ...PROOFS,
  ...ACTIONS,
  ...PATTERNS,
];
