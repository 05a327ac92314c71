/** P8: texts in which two readers of JSON would see different values (protocol §1). */

import type { Row } from '../../edits/grant-edits.ts';
import { bytesInstead, edited, NOT_UTF8 } from '../../edits/text-edits.ts';
import { deny, type VectorCase } from '../../vector-case.ts';

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
