/**
 * T5: this Proof has not been spent (protocol §7, "Spending"). It is the last check and runs only when every other
 * check is true, so that only an ALLOW spends a Proof. The commit makes the claim itself.
 */
import { defineCheck, demand, need, unavailableNow } from './check.ts';
import { type ExplanationOf, one } from './explained.ts';
import { p03GrantSignature } from './p03-grant-signature.ts';
import { p09ProofSignature } from './p09-proof-signature.ts';

export const t05ProofUnspent = /* @__PURE__ */ defineCheck({
  id: 'T5',
  title: 'this Proof has not been spent',
  cites: ['interface §Proof', 'protocol §7'],
  requires: [p03GrantSignature, p09ProofSignature],
  reasons: ['PROOF_REPLAYED'],
  run: ({ P3: { grant }, P9: { proof } }, { facts: { spent } }) => {
    if (spent === undefined) return need({ fact: 'spent', grantId: grant.id, jti: proof.jti });
    if (spent.answer !== 'found') return unavailableNow();
    return demand(!spent.value, 'PROOF_REPLAYED');
  },
});

export const t05Explained: ExplanationOf<typeof t05ProofUnspent> = {
  compare: ({ P9: { proof } }) => one('jti of the Proof', proof.jti, 'one that no ALLOW has spent'),
};
