/**
 * T5: this Proof has not been spent (protocol §7, "Spending"). The last check: it runs only when everything else
 * holds, so that a Proof is spent by an ALLOW and by nothing else. The claim itself belongs to the commit.
 */
import { type CheckId, defineCheck, demand, need, unavailableNow } from './check.ts';

const EVERYTHING_ELSE = [
  'P1',
  'T1',
  'T2',
  'T3',
  'P2',
  'P3',
  'P4',
  'P5',
  'P6',
  'P7',
  'P8',
  'P9',
  'P10',
  'P11',
  'P12',
  'P13',
  'P15',
  'P14',
  'P16',
  'P17',
  'P18',
  'P19',
  'P20',
] as const satisfies readonly CheckId[];

export const t05ProofUnspent = /* @__PURE__ */ defineCheck({
  id: 'T5',
  title: 'this Proof has not been spent',
  requires: EVERYTHING_ELSE,
  reasons: ['PROOF_REPLAYED'],
  run: ({ P3: { grant }, P9: { proof } }, { facts: { spent } }) => {
    if (spent === undefined) return need({ fact: 'spent', grantId: grant.id, jti: proof.jti });
    if (spent.answer !== 'found') return unavailableNow();
    return demand(!spent.value, 'PROOF_REPLAYED');
  },
});
