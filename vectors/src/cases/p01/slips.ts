/**
 * P1: faults that the cases about single rules do not detect: an array of one text instead of the text, limits off by
 * one, days that do not exist.
 */
import { underV2 } from '../../balances.ts';
import {
  capabilities,
  header,
  payload,
  type Row,
  refusal,
  resources,
  status,
} from '../../edits/grant-edits.ts';
import { apiCapability, GRANT_ID, purchaseCapability, type Scene, statusEntry } from '../../scene.ts';
import { allow, deny, type VectorCase } from '../../vector-case.ts';

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

const LIST = 'https://status.svc.example/acme.example/1';

const atIndex = (index: string) => (s: Scene) => {
  s.grant.status = statusEntry(LIST, index);
  s.allocation.status_list_index = index;
};

/** A well-formed status entry that was never allocated. */
const inForm = (id: string, description: string, url: string, index: string): VectorCase =>
  deny('AUTHORITY_REVOKED', `p01-status-${id}`, description, { P1: true, P6: false }, (s) => {
    s.grant.status = statusEntry(url, index);
  });

const GRANTS_ACCEPTED: readonly VectorCase[] = [
  allow(
    'p01-cty-vc',
    'the content type that a credential may name says nothing more',
    { P1: true },
    header({ cty: 'vc' }),
  ),
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

export const cases: readonly VectorCase[] = [
  ...[...GRANTS_REFUSED, ...noTimes].map((row) => refusal('GRANT_MALFORMED', 'p01-malformed', row)),
  ...GRANTS_ACCEPTED,
];
