/** P11: the Proof was made for this Grant. */
import { defineCheck, demand } from './check.ts';
import { type ExplanationOf, one } from './explained.ts';
import { p03GrantSignature } from './p03-grant-signature.ts';
import { p09ProofSignature } from './p09-proof-signature.ts';

export const p11ProofGrant = /* @__PURE__ */ defineCheck({
  id: 'P11',
  title: "the Proof's grant_id is the Grant's id",
  cites: ['interface §Proof', 'protocol §3'],
  requires: [p03GrantSignature, p09ProofSignature],
  reasons: ['PROOF_GRANT_MISMATCH'],
  run: ({ P3: { grant }, P9: { proof } }) => demand(proof.grantId === grant.id, 'PROOF_GRANT_MISMATCH'),
});

export const p11Explained: ExplanationOf<typeof p11ProofGrant> = {
  compare: ({ P3: { grant }, P9: { proof } }) => one('grant_id of the Proof', proof.grantId, grant.id),
};
