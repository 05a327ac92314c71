/** P9: the Proof's signature verifies under the Agent's own key. From here on the Proof is authenticated. */
import { defineCheck, deny, pass } from './check.ts';
import { type ExplanationOf, one } from './explained.ts';
import { p08ProofWellFormed } from './p08-proof-well-formed.ts';

export const p09ProofSignature = /* @__PURE__ */ defineCheck({
  id: 'P9',
  title: "the Proof's signature verifies under its kid",
  cites: ['interface §Proof', 'protocol §1', 'RFC 8032 §5.1.7'],
  requires: [p08ProofWellFormed],
  reasons: ['PROOF_SIGNATURE_INVALID'],
  run: ({ P8: { proof } }, { crypto }) =>
    crypto.verify(proof.publicKey, proof.signingInput, proof.signature)
      ? pass({ proof })
      : deny('PROOF_SIGNATURE_INVALID'),
});

export const p09Explained: ExplanationOf<typeof p09ProofSignature> = {
  compare: ({ P8: { proof } }) =>
    one('signature of the Proof', 'does not verify', `a signature by ${proof.agent}`),
};
