/** P15: the form of an Action (protocol §5). */
import { API_CALL, PURCHASE } from '../../scene.ts';
import { allow, deny, type VectorCase } from '../../vector-case.ts';

const LONG = 'x'.repeat(2049 - 'order/'.length);

/** The relying party presents these Actions; the Proof is for a well-formed Action. */
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

export const cases: readonly VectorCase[] = [...malformed, ...WELL_FORMED];
