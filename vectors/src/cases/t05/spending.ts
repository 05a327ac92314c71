/** T5: a Proof is spent once (protocol §7). */
import { allow, deny, type VectorCase } from '../../vector-case.ts';

export const cases: readonly VectorCase[] = [
  allow('t05-unspent', 'a Proof that has not been spent', { T5: true }),
  deny('PROOF_REPLAYED', 't05-spent', 'a Proof is spent once', { P20: true, T5: false }, (s) => {
    s.spent = true;
  }),
  deny(
    'GRANT_EXPIRED',
    't05-not-asked',
    'whether a Proof was spent is asked only when everything else holds',
    { P5: false, T5: 'skipped' },
    (s) => {
      s.grant.payload.validUntil = '2026-11-20T09:00:00Z';
      s.spent = true;
    },
  ),
];
