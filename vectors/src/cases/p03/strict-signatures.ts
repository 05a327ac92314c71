/** P3: signatures that satisfy the bare equation but are refused (protocol §1). */

import { NEUTRAL_R, NEUTRAL_R_NOT_CANONICAL, signWithR } from '../../edits/signature-forgery.ts';
import { deny, type VectorCase } from '../../vector-case.ts';

const signatureRefused = (id: string, description: string, r: Uint8Array): VectorCase =>
  deny('GRANT_SIGNATURE_INVALID', `p03-${id}`, description, { P2: true, P3: false }, (s) =>
    signWithR(s.grant, r),
  );

export const cases: readonly VectorCase[] = [
  signatureRefused('r-of-small-order', 'R is the neutral element: it satisfies the bare equation', NEUTRAL_R),
  signatureRefused('r-not-canonical', 'the same R encoded as y = p + 1', NEUTRAL_R_NOT_CANONICAL),
];
