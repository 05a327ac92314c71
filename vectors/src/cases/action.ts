/** P15 and P14: the relying party's Action, and whether the Agent signed for it (protocol §4, §5, §7). */
import { API_CALL, apiCapability, PURCHASE, purchaseCapability, type Scene } from '../scene.ts';
import { allow, deny, type VectorCase } from '../vector-case.ts';

const LONG = 'x'.repeat(2049 - 'order/'.length);

/** Presented by the relying party; the Proof is for an Action that is well formed. */
const MALFORMED: readonly (readonly [id: string, description: string, action: Record<string, unknown>])[] = [
  ['no-type', 'type is required', { ...PURCHASE, type: undefined }],
  ['type-unknown', 'another type', { ...PURCHASE, type: 'data:read' }],
  ['type-array', 'type is a string', { ...PURCHASE, type: ['commerce:purchase'] }],
  ['purchase-extra-member', 'a purchase is closed', { ...PURCHASE, note: 'gift' }],
  [
    'purchase-proto-member',
    '__proto__ is a member like any other',
    JSON.parse(`{"__proto__":{},${JSON.stringify(PURCHASE).slice(1)}`),
  ],
  ['purchase-no-resource', 'resource is required', { ...PURCHASE, resource: undefined }],
  ['purchase-no-amount', 'amount is required', { ...PURCHASE, amount: undefined }],
  ['purchase-no-currency', 'currency is required', { ...PURCHASE, currency: undefined }],
  ['resource-empty', 'resource has at least one character', { ...PURCHASE, resource: '' }],
  ['resource-2049', 'resource has at most 2,048 characters', { ...PURCHASE, resource: `order/${LONG}` }],
  ['resource-nul', 'resource holds no U+0000', { ...PURCHASE, resource: 'order/\u0000' }],
  ['resource-number', 'resource is a string', { ...PURCHASE, resource: 1001 }],
  ['amount-fraction', 'amount is an integer of minor units', { ...PURCHASE, amount: 427.5 }],
  ['amount-negative', 'amount is not negative', { ...PURCHASE, amount: -1 }],
  ['amount-string', 'amount is a number', { ...PURCHASE, amount: '42700' }],
  ['amount-2-53', 'amount is at most 2^53-1', { ...PURCHASE, amount: 2 ** 53 }],
  ['currency-lower-case', 'currency is upper case', { ...PURCHASE, currency: 'usd' }],
  ['currency-four-letters', 'currency has three letters', { ...PURCHASE, currency: 'USDT' }],
  ['api-extra-member', 'an API call is closed', { ...API_CALL, amount: 1 }],
  ['api-no-method', 'method is required', { ...API_CALL, method: undefined }],
  ['api-method-lower-case', 'method is upper case', { ...API_CALL, method: 'post' }],
  ['api-method-33', 'method has at most 32 letters', { ...API_CALL, method: 'M'.repeat(33) }],
  ['api-resource-no-url', 'resource is a URL', { ...API_CALL, resource: 'orders/1' }],
  [
    'api-resource-scheme-upper-case',
    'resource begins with http in lower case',
    { ...API_CALL, resource: 'HTTPS://api.shop.example/v1/orders' },
  ],
  [
    'api-resource-user-info',
    'resource has no user info',
    { ...API_CALL, resource: 'https://u@api.shop.example/v1/orders' },
  ],
  [
    'api-resource-bad-escape',
    'escapes are well formed',
    { ...API_CALL, resource: 'https://api.shop.example/v1/%zz' },
  ],
  ['api-resource-no-host', 'resource has a host', { ...API_CALL, resource: 'https:///v1/orders' }],
];

const malformed = MALFORMED.map(([id, description, action]) =>
  deny('ACTION_MALFORMED', `p15-${id}`, description, { P15: false, P14: 'skipped', P16: 'skipped' }, (s) => {
    s.presentedAction = JSON.parse(JSON.stringify(action));
  }),
);

const WELL_FORMED: readonly VectorCase[] = [
  allow('p15-resource-2048', 'a resource of 2,048 characters', { P15: true }, (s) => {
    s.action.resource = `order/${LONG.slice(1)}`;
  }),
  allow('p15-resource-any-text', 'a resource is any text', { P15: true, P14: true }, (s) => {
    s.action.resource = 'order/\u{1f980} "\\\u001f\u2028';
  }),
];

const differs = (id: string, description: string, edit: (s: Scene) => void): VectorCase =>
  deny('PROOF_ACTION_MISMATCH', `p14-${id}`, description, { P15: true, P14: false }, edit);

const presented = (members: Record<string, unknown>) => (s: Scene) => {
  s.presentedAction = { ...s.action, ...members };
};

const PURCHASES: readonly VectorCase[] = [
  differs('another-amount', 'one minor unit more than signed', presented({ amount: 42701 })),
  differs('another-currency', 'another currency than signed', presented({ currency: 'EUR' })),
  differs('another-resource', 'another resource than signed', presented({ resource: 'order/1002' })),
  differs('unicode-form', 'NFC and NFD of one text are two texts', (s) => {
    s.action.resource = 'order/caf\u00e9';
    s.presentedAction = { ...s.action, resource: 'order/cafe\u0301' };
  }),
  differs('another-type', 'a purchase signed, an API call described', (s) => {
    s.presentedAction = { ...API_CALL };
  }),
  allow('p14-member-order', 'the order of members says nothing', { P14: true }, (s) => {
    s.presentedAction = Object.fromEntries(Object.entries(s.action).reverse());
  }),
  allow(
    'p14-purchase-any-request',
    'a purchase binds the request through request_hash only',
    { P14: true },
    (s) => {
      Object.assign(s.proof.payload, { htm: 'PUT', htu: 'https://elsewhere.example/%7Ebasket' });
    },
  ),
];

/** The Agent calls `resource` and signs `htu`. */
const call = (resource: string, htu: string) => (s: Scene) => {
  s.action = { ...API_CALL, resource };
  s.proof.payload.htu = htu;
  s.grant.subject.capabilities = [apiCapability({}, { resources: ['*'] })];
};
const same = (id: string, description: string, resource: string, htu: string): VectorCase =>
  allow(`p14-htu-${id}`, description, { P14: true }, call(resource, htu));
const other = (id: string, description: string, resource: string, htu: string): VectorCase =>
  differs(`htu-${id}`, description, call(resource, htu));

const BASE = 'https://api.shop.example';
const CALLS: readonly VectorCase[] = [
  same('unreserved-escape', '%7E is ~', `${BASE}/~me`, `${BASE}/%7Eme`),
  same('escape-case', '%2f is %2F', `${BASE}/a%2Fb`, `${BASE}/a%2fb`),
  same('host-case', 'hosts have no case', `${BASE}/a`, 'https://API.Shop.Example/a'),
  same('scheme-case', 'schemes have no case', `${BASE}/a`, 'HTTPS://api.shop.example/a'),
  same('default-port', ':443 is the port of https', `${BASE}/a`, `${BASE}:443/a`),
  same('empty-path', 'an empty path is /', `${BASE}/`, BASE),
  same('dot-segments', 'dot segments are resolved', `${BASE}/a/c`, `${BASE}/a/./b/../c`),
  same('escaped-dot-segments', 'escaped dots are dots', `${BASE}/c`, `${BASE}/a/%2e%2E/c`),
  same('query-and-fragment', 'query and fragment are left out', `${BASE}/a?x=1`, `${BASE}/a?y=2#z`),
  other('trailing-slash', 'a trailing slash is part of the path', `${BASE}/a`, `${BASE}/a/`),
  other('double-slash', 'an empty segment is a segment', `${BASE}/a/b`, `${BASE}/a//b`),
  other('path-case', 'paths have case', `${BASE}/a`, `${BASE}/A`),
  other('escaped-slash', '%2F is not /', `${BASE}/a/b`, `${BASE}/a%2Fb`),
  other('scheme', 'http is not https', `${BASE}/a`, 'http://api.shop.example/a'),
  other('port', ':8443 is another port', `${BASE}/a`, `${BASE}:8443/a`),
  other('host', 'another host', `${BASE}/a`, 'https://api.shop.example.mallory.example/a'),
  differs('htm', 'another method than signed', (s) => {
    call(`${BASE}/a`, `${BASE}/a`)(s);
    s.proof.payload.htm = 'GET';
  }),
  differs('signed-action-not-normalised', 'the Actions themselves are compared as text', (s) => {
    call(`${BASE}/~me`, `${BASE}/~me`)(s);
    s.presentedAction = { ...s.action, resource: `${BASE}/%7Eme` };
  }),
];

const WITHOUT_GRANT: readonly VectorCase[] = [
  deny(
    'ACTION_NOT_AUTHORIZED',
    'p14-holds-without-authority',
    'the Agent may sign for what it may not do',
    { P14: true, P16: false },
    (s) => {
      s.action = { ...API_CALL };
      s.grant.subject.capabilities = [purchaseCapability()];
    },
  ),
];

export const actionCases: readonly VectorCase[] = [
  ...malformed,
  ...WELL_FORMED,
  ...PURCHASES,
  ...CALLS,
  ...WITHOUT_GRANT,
];
