/** Values that parsers, canonical forms, hashes and databases often handle wrongly. */
import type { JsonValue } from '@svc/protocol';
import type { Random } from './random.ts';

export const ODD_STRINGS: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udc00\ud800',
  'a\udfff',
  '\ufeff',
  '\uffff',
  '\u202e',
  '\u2028',
  'cafe\u0301',
  '\u{1f980}',
  '__proto__',
  'constructor',
  'toString',
  'null',
  '0',
  '-1',
  '1e999',
  '*',
  '**',
  '../..',
  '%00',
  'https://shop.example/',
  'https://shop.example\\@x/',
  'did:web:shop.example',
  'did:web:',
  'did:key:z6Mk',
  `did:key:z6Mk${'1'.repeat(44)}`,
  'urn:svc:grant:01KAKB8WG0B5D5MQRNEMTXAXTT',
  'x'.repeat(600),
  '\u4e00'.repeat(2100),
];

const ODD_NUMBERS: readonly number[] = [
  0,
  -0,
  -1,
  1,
  0.5,
  42700,
  50001,
  1795168800,
  2 ** 31,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
  1e21,
  1e308,
  5e-324,
];

/** Number texts that JSON.stringify cannot write. */
export const ODD_NUMBER_TEXTS: readonly string[] = [
  '-0',
  '1.0',
  '1e2',
  '1E+2',
  '01',
  '+1',
  '.5',
  '1.',
  '0x10',
  'NaN',
  'Infinity',
  '1e999',
  '-1e999',
  '9007199254740993',
  '9'.repeat(400),
  `0.${'0'.repeat(400)}1`,
];

export const nested = (depth: number, random: Random): JsonValue => {
  let value: JsonValue = 1;
  const asArray = random.below(2) === 0;
  for (let i = 0; i < depth; i++) value = asArray ? [value] : { a: value };
  return value;
};

/** A JSON value of bounded size. Objects may have a member `__proto__` of their own. */
export const anyJson = (random: Random, depth = 0): JsonValue => {
  switch (random.below(depth > 4 ? 5 : 8)) {
    case 0:
      return null;
    case 1:
      return random.below(2) === 0;
    case 2:
      return random.pick(ODD_NUMBERS);
    case 3:
    case 4:
      return random.pick(ODD_STRINGS);
    case 5:
      return Array.from({ length: random.below(4) }, () => anyJson(random, depth + 1));
    case 6:
      return nested(random.pick([31, 32, 33, 64, 65, 500]), random);
    default:
      return anyObject(random, depth);
  }
};

const NAMES = [
  'type',
  'resource',
  'amount',
  'currency',
  'method',
  'action',
  'id',
  '__proto__',
  'constructor',
  '',
];

const anyObject = (random: Random, depth: number): JsonValue => {
  const members = Array.from(
    { length: random.below(5) },
    () => [random.pick([...NAMES, ...ODD_STRINGS]), anyJson(random, depth + 1)] as const,
  );
  return Object.fromEntries(members);
};
