/** P8: the Proof is well formed (protocol §1, §3). */
import { defineCheck, deny, pass } from './check.ts';

export const p08ProofWellFormed = /* @__PURE__ */ defineCheck({
  id: 'P8',
  title: 'the Proof is well formed',
  requires: [],
  reasons: ['PROOF_MALFORMED'],
  run: (_, { presented: { proof } }) => (proof.ok ? pass({ proof: proof.value }) : deny(proof.reason)),
});
