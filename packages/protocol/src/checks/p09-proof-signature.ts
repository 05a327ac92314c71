/** P9: the Proof's signature verifies under the Agent's own key. From here on the Proof is authenticated. */
import { defineCheck, deny, pass } from './check.ts';

export const p09ProofSignature = /* @__PURE__ */ defineCheck({
  id: 'P9',
  title: "the Proof's signature verifies under its kid",
  requires: ['P8'],
  reasons: ['PROOF_SIGNATURE_INVALID'],
  run: ({ P8: { proof } }, { crypto }) =>
    crypto.verify(proof.publicKey, proof.signingInput, proof.signature)
      ? pass({ proof })
      : deny('PROOF_SIGNATURE_INVALID'),
});
