/** P1: edge cases of the form that no other case would detect if an engine gets them wrong (protocol §1, §2). */

import { payload, payloadText, type Row, refusal, status, subject } from '../../edits/grant-edits.ts';
import { KEYS, RP_DID, SECOND_SPELLING } from '../../test-keys.ts';
import { allow, type VectorCase } from '../../vector-case.ts';

const unknownConstraint = (value: string) =>
  payloadText((json) => json.replace('"maxAmount":', `"x":${value},"maxAmount":`));

const NUMBERS: readonly Row[] = [
  [
    'number-too-large-anywhere',
    '2^53 + 1 where nothing reads it: in a constraint that would otherwise only be unknown',
    unknownConstraint('9007199254740993'),
  ],
  ['number-too-small-anywhere', '-2^53 where nothing reads it', unknownConstraint('-9007199254740992')],
  ['fraction-anywhere', 'a fraction where nothing reads it', unknownConstraint('[0.5]')],
  ['exponent-anywhere', 'an exponent where nothing reads it', unknownConstraint('1e2')],
];

const TIMES: readonly Row[] = [
  ['valid-from-hour-24', 'the day has no hour 24', payload({ validFrom: '2026-11-20T24:00:00Z' })],
  [
    'valid-from-second-60',
    'leap seconds are no instants here',
    payload({ validFrom: '2026-11-20T08:00:60Z' }),
  ],
  ['valid-until-hour-24', 'no end at hour 24 either', payload({ validUntil: '2026-12-19T24:00:00Z' })],
];

const LIST = 'https://status.svc.example/acme.example/1';

const STATUS_URIS: readonly Row[] = [
  [
    'status-id-2049',
    'a status id of 2,049 characters',
    status({ id: `${LIST}#${'1'.repeat(2048 - LIST.length)}` }),
  ],
  ['status-id-space', 'a status id with a space', status({ id: `${LIST}#1 ` })],
  ['status-list-nothing', 'a list whose URL ends behind //', status({ statusListCredential: 'https://' })],
  ['status-list-space', 'a list whose URL holds a space', status({ statusListCredential: `${LIST} x` })],
];

const withAudience = (did: string) => subject({ audience: [RP_DID, did] });

const DIDS: readonly (readonly [id: string, description: string, did: string])[] = [
  ['513', '513 characters', `did:web:shop.example:${'a'.repeat(513 - 'did:web:shop.example:'.length)}`],
  ['host-254', 'a host of 254 characters', `did:web:${'abcdefghi.'.repeat(25)}abcd`],
  ['label-64', 'a label of 64 characters', `did:web:${'a'.repeat(64)}.example`],
  ['ipv4', 'an IPv4 address', 'did:web:127.0.0.1'],
  ['last-label-number', 'a last label that is a number is an address to URL parsers', 'did:web:shop.127'],
  ['last-label-hex', 'a hexadecimal number too', 'did:web:shop.0x7f'],
  ['port-0', 'port 0', 'did:web:shop.example%3A0'],
  ['port-leading-zero', 'a port with a leading zero has two spellings', 'did:web:shop.example%3A0443'],
  ['port-65536', 'no such port', 'did:web:shop.example%3A65536'],
  ['port-lower-case', 'the escaped colon has one spelling', 'did:web:shop.example%3a8443'],
  ['segment-dot', 'a path segment that is a dot', 'did:web:shop.example:.'],
  ['segment-dots', 'a path segment that is two dots', 'did:web:shop.example:..:x'],
  ['segment-empty', 'an empty path segment', 'did:web:shop.example::x'],
];

const DIDS_REFUSED: readonly Row[] = DIDS.map(([id, description, did]) => [
  `audience-did-${id}`,
  `no did:web DID: ${description}`,
  withAudience(did),
]);

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

const base58 = (hex: string): string => {
  let text = '';
  for (let rest = BigInt(`0x${hex}`); rest > 0n; rest /= 58n) text = BASE58.charAt(Number(rest % 58n)) + text;
  return text;
};

const KEY_NAMES: readonly Row[] = [
  [
    'agent-another-codec',
    'z6Mk is how keys of Ed25519 begin, and a few of another codec (0xed 0x02) too',
    subject({ id: `did:key:z${base58(`ed02${'11'.repeat(32)}`)}` }),
  ],
  [
    'agent-second-spelling',
    'a character that is not base58, which some decoders read as a zero digit: the rest would be allowed',
    (s) => {
      s.grant.subject.id = `did:key:${SECOND_SPELLING}`;
      s.proof.key = KEYS.twoSpellings;
      s.allocation.agent = KEYS.twoSpellings.didKey;
    },
  ],
];

const MALFORMED = [...NUMBERS, ...TIMES, ...STATUS_URIS, ...DIDS_REFUSED, ...KEY_NAMES];

const DIDS_ACCEPTED: readonly VectorCase[] = (
  [
    ['512', '512 characters', `did:web:shop.example:${'a'.repeat(512 - 'did:web:shop.example:'.length)}`],
    ['host-253', 'a host of 253 characters', `did:web:${'abcdefghi.'.repeat(25)}abc`],
    ['label-63', 'a label of 63 characters', `did:web:${'a'.repeat(63)}.example`],
    ['label-number', 'a label that is a number, but not the last', 'did:web:127.example'],
    ['port-65535', 'the greatest port', 'did:web:shop.example%3A65535'],
    ['segment-three-dots', 'three dots are a name', 'did:web:shop.example:...'],
  ] as const
).map(([id, description, did]) =>
  allow(`p01-audience-did-${id}`, `a did:web DID: ${description}`, { P1: true }, withAudience(did)),
);

export const cases: readonly VectorCase[] = [
  ...MALFORMED.map((row) => refusal('GRANT_MALFORMED', 'p01-malformed', row)),
  ...DIDS_ACCEPTED,
];
