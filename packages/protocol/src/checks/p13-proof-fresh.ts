/** P13: the Proof is fresh. Both ends of its window are included; times are compared in milliseconds (protocol §7). */
import { defineCheck, demand } from './check.ts';
import { p09ProofSignature } from './p09-proof-signature.ts';

export const p13ProofFresh = /* @__PURE__ */ defineCheck({
  id: 'P13',
  title: "the Proof's iat lies within the relying party's proof window, with the clock skew allowed ahead",
  cites: ['interface §Proof', 'protocol §7'],
  requires: [p09ProofSignature],
  reasons: ['PROOF_EXPIRED'],
  run: ({ P9: { proof } }, { nowMs, relyingParty, trust }) => {
    const iatMs = proof.iatSeconds * 1000;
    const earliestMs = nowMs - relyingParty.proofWindowSeconds * 1000;
    const latestMs = nowMs + trust.clockSkewSeconds * 1000;
    return demand(earliestMs <= iatMs && iatMs <= latestMs, 'PROOF_EXPIRED');
  },
});
