/** P8: the Proof is well formed (protocol §1, §3). The Proof in its evidence is unauthenticated. */
import { defineCheck, deny, pass } from './check.ts';
import { type ExplanationOf, form, problemOf } from './explained.ts';

export const p08ProofWellFormed = /* @__PURE__ */ defineCheck({
  id: 'P8',
  title: 'the Proof is well formed',
  cites: ['interface §Proof', 'protocol §1', 'protocol §3', 'RFC 7515 §7.1'],
  requires: [],
  reasons: ['PROOF_MALFORMED'],
  run: (_, { presented: { proof } }) => (proof.ok ? pass({ proof: proof.value }) : deny(proof.reason)),
});

export const p08Explained: ExplanationOf<typeof p08ProofWellFormed> = {
  compare: (_, { presented: { proof } }) => form('Proof', problemOf(proof)),
};
