/** P8: texts that two readers of JSON would see different values in (protocol §1). */

import type { Row } from '../../edits/grant-edits.ts';
import type { Scene, TokenDraft } from '../../scene.ts';
import { deny, type VectorCase } from '../../vector-case.ts';

/** Bytes that are not UTF-8, each of which some decoder turns into text. */
const NOT_UTF8 = [
  ['byte-ff', 'a byte that UTF-8 never has', 'ff'],
  ['surrogate', 'half a surrogate pair in three bytes', 'eda080'],
  ['overlong', 'a slash in two bytes', 'c0af'],
  ['cut-short', 'the first two bytes of three', 'e282'],
] as const;

/** Puts bytes at the place of a text that stands once in the payload, so that the rest of it is right. */
const bytesInstead =
  (text: string, hex: string) =>
  (json: string): Uint8Array => {
    const [before = '', after, ...more] = json.split(text);
    if (after === undefined || more.length > 0) throw new Error(`${text} does not stand once`);
    return Buffer.concat([Buffer.from(before), Buffer.from(hex, 'hex'), Buffer.from(after)]);
  };

const edited = (draft: 'grant' | 'proof', edits: Partial<TokenDraft>) => (s: Scene) => {
  Object.assign(s[draft], edits);
};

const PROOFS: readonly Row[] = [
  ['header-null', 'null is not an object', edited('proof', { editHeader: () => 'null' })],
  ['payload-null', 'null is not an object', edited('proof', { editPayload: () => 'null' })],
  [
    'payload-bom',
    'a byte order mark is not JSON',
    edited('proof', { editPayload: (json) => `\ufeff${json}` }),
  ],
  ...NOT_UTF8.map(
    ([id, what, hex]): Row => [
      `text-${id}`,
      `${what}, in the Action`,
      edited('proof', { editPayload: bytesInstead('1001', hex) }),
    ],
  ),
];

export const cases: readonly VectorCase[] = PROOFS.map(([id, description, edit]) =>
  deny('PROOF_MALFORMED', `p08-${id}`, description, { P8: false, P9: 'skipped' }, edit),
);
