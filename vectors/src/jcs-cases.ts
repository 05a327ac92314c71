/**
 * vectors/jcs.json: the JSON Canonicalization Scheme (RFC 8785). The input is a JSON text, so that escapes and the
 * order of members are kept; `canonical` is null if RFC 8785 has no form for it. Written by hand except for the hash.
 */
import { portableCrypto, sha256Of } from '@svc/protocol';

type Row = readonly [json: string, canonical: string | null, description: string];

const ROWS: readonly Row[] = [
  ['null', 'null', 'null'],
  [' true ', 'true', 'white space around'],
  ['""', '""', 'an empty string'],
  ['{}', '{}', 'an empty object'],
  ['[ ]', '[]', 'an empty array'],
  ['{"b":1,"a":2}', '{"a":2,"b":1}', 'members are sorted'],
  ['{"b":{"d":1,"c":2},"a":[{"f":1,"e":2}]}', '{"a":[{"e":2,"f":1}],"b":{"c":2,"d":1}}', 'at every depth'],
  ['[3,1,2]', '[3,1,2]', 'the order of an array stays'],
  ['{"10":1,"9":2,"1":3}', '{"1":3,"10":1,"9":2}', 'names that look like numbers are sorted as text'],
  ['{"a":1,"A":2,"_":3,"~":4}', '{"A":2,"_":3,"a":1,"~":4}', 'by code unit, not by alphabet'],
  ['{"aa":1,"a":2,"":3}', '{"":3,"a":2,"aa":1}', 'a prefix comes first'],
  [
    '{"\\uffff":1,"\\ud83e\\udd80":2}',
    '{"\u{1f980}":2,"\uffff":1}',
    'by UTF-16 code unit: a surrogate pair sorts below U+FFFF',
  ],
  [
    '{"__proto__":{"b":1,"a":2},"constructor":1}',
    '{"__proto__":{"a":2,"b":1},"constructor":1}',
    'no name is special',
  ],
  ['"\\u0041\\u00e9\\u20ac"', '"A\u00e9\u20ac"', 'escapes that need not be are resolved'],
  ['"\\/"', '"/"', 'a slash is not escaped'],
  ['"\\u0008\\u0009\\u000a\\u000c\\u000d"', '"\\b\\t\\n\\f\\r"', 'the short escapes'],
  ['"\\u0000\\u001f\\u000B"', '"\\u0000\\u001f\\u000b"', 'the other control characters, in lower case'],
  ['"\\u007f\\u2028\\u2029"', '"\u007f\u2028\u2029"', 'what need not be escaped is not'],
  ['"\\"\\\\"', '"\\"\\\\"', 'quote and backslash'],
  ['"e\\u0301"', '"e\u0301"', 'text is not normalised'],
  ['0', '0', 'zero'],
  ['-0', '0', 'negative zero is zero'],
  ['1.0', '1', 'a fraction of nothing'],
  ['1e2', '100', 'an exponent that need not be'],
  ['9007199254740991', '9007199254740991', 'the largest exact integer'],
  ['-9007199254740991', '-9007199254740991', 'the smallest exact integer'],
  ['1e21', '1e+21', 'from 10^21 on with an exponent'],
  ['100000000000000000000', '100000000000000000000', 'below 10^21 without'],
  ['0.000001', '0.000001', 'down to 10^-6 without an exponent'],
  ['0.0000001', '1e-7', 'below with one'],
  ['4.50', '4.5', 'the shortest form'],
  ['333333333.33333329', '333333333.3333333', 'the nearest double'],
  ['"\\ud800"', null, 'a lone surrogate has no UTF-8 form'],
  ['{"\\udc00":1}', null, 'nor has one in a name'],
];

export const jcsFile = () => ({
  description:
    'RFC 8785: the canonical form of a JSON text, or null where it has none, and the SHA-256 of its UTF-8 bytes.',
  cases: ROWS.map(([json, canonical, description]) => ({
    description,
    json,
    canonical,
    sha256: canonical === null ? null : sha256Of(portableCrypto, canonical),
  })),
});
