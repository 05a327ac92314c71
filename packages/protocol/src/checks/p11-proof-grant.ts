/** P11: the Proof was made for this Grant. */
import { defineCheck, demand } from './check.ts';

export const p11ProofGrant = /* @__PURE__ */ defineCheck({
  id: 'P11',
  title: "the Proof's grant_id is the Grant's id",
  requires: ['P3', 'P9'],
  reasons: ['PROOF_GRANT_MISMATCH'],
  run: ({ P3: { grant }, P9: { proof } }) => demand(proof.grantId === grant.id, 'PROOF_GRANT_MISMATCH'),
});
