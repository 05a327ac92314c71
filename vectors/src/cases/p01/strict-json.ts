/** P1: texts in which two readers of JSON would see different values (protocol §1). */

import { payloadText, type Row, refusal, resources } from '../../edits/grant-edits.ts';
import { bytesInstead, edited, NOT_UTF8 } from '../../edits/text-edits.ts';
import { allow, type VectorCase } from '../../vector-case.ts';

/** Placed in a constraint, which would otherwise only be unknown. */
const NOT_JSON = [
  ['comma-at-end-of-array', 'nothing stands behind the last comma', '[1,]'],
  ['comma-at-end-of-object', 'nothing stands behind the last comma', '{"a":1,}'],
  ['no-comma', 'items are parted by commas', '[1 2]'],
  ['colon-for-comma', 'a colon parts no items', '[1:2]'],
  ['no-comma-in-object', 'members are parted by commas', '{"a":1 "b":2}'],
  ['colon-between-members', 'a colon parts no members', '{"a":1:"b":2}'],
  ['name-is-a-number', 'member names are strings', '{1:2}'],
  ['name-without-quotes', 'member names stand in quotes', '{a:1}'],
  ['single-quotes', 'quotes are double', "'a'"],
  ['comment', 'comments are not JSON', '1/**/'],
  ['leading-zero', 'numbers have no leading zero', '01'],
  ['plus-sign', 'numbers have no plus sign', '+1'],
  ['not-a-number', 'NaN is not JSON', 'NaN'],
  ['undefined', 'undefined is not JSON', 'undefined'],
  ['literal-case', 'literals have case', 'True'],
  ['unknown-escape', 'there is no escape \\x', String.raw`"\x41"`],
  ['line-end-in-string', 'a line end in a string is escaped', '"a\nb"'],
  ['no-break-space', 'white space is space, tab, line feed and carriage return', '\u00a01'],
  ['form-feed', 'a form feed is no white space', '\f1'],
] as const;

const notJson = NOT_JSON.map(
  ([id, description, value]): Row => [
    `json-${id}`,
    description,
    payloadText((json) => json.replace('"maxAmount":', () => `"x":${value},"maxAmount":`)),
  ],
);

const GRANTS: readonly Row[] = [
  ['header-null', 'null is not an object', edited('grant', { editHeader: () => 'null' })],
  ['payload-null', 'null is not an object', payloadText(() => 'null')],
  ...NOT_UTF8.map(
    ([id, what, hex]): Row => [
      `text-${id}`,
      `${what}, in a text that nothing reads`,
      (s) => {
        resources(['order/**', 'here'])(s);
        s.grant.editPayload = bytesInstead('here', hex);
      },
    ],
  ),
  ...notJson,
];

export const cases: readonly VectorCase[] = [
  ...GRANTS.map((row) => refusal('GRANT_MALFORMED', 'p01-malformed', row)),
  allow(
    'p01-white-space-inside',
    'what is signed is the text as it is: white space between its parts says nothing',
    { P1: true, P3: true },
    payloadText((json) => ` ${json.replace('"maxAmount":', ' \t\n\r"maxAmount"\t:\n')}\r\n`),
  ),
];
