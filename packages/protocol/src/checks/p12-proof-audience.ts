/** P12: the Proof was made for this relying party; one made for another cannot be used here. */
import { defineCheck, demand } from './check.ts';
import { type ExplanationOf, one } from './explained.ts';
import { p09ProofSignature } from './p09-proof-signature.ts';

export const p12ProofAudience = /* @__PURE__ */ defineCheck({
  id: 'P12',
  title: "the Proof's aud is the calling relying party",
  cites: ['interface §Proof', 'protocol §3'],
  requires: [p09ProofSignature],
  reasons: ['PROOF_AUDIENCE_MISMATCH'],
  run: ({ P9: { proof } }, { relyingParty }) =>
    demand(proof.audience === relyingParty.did, 'PROOF_AUDIENCE_MISMATCH'),
});

export const p12Explained: ExplanationOf<typeof p12ProofAudience> = {
  compare: ({ P9: { proof } }, { relyingParty }) => one('aud of the Proof', proof.audience, relyingParty.did),
};
