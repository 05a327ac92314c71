/** P10: the Agent that signed the Proof is the one the Grant names. */
import { defineCheck, demand } from './check.ts';
import { type ExplanationOf, one } from './explained.ts';
import { p03GrantSignature } from './p03-grant-signature.ts';
import { p09ProofSignature } from './p09-proof-signature.ts';

export const p10ProofAgent = /* @__PURE__ */ defineCheck({
  id: 'P10',
  title: "the Proof's iss is the Grant's subject",
  cites: ['interface §Proof', 'protocol §3', 'protocol §7'],
  requires: [p03GrantSignature, p09ProofSignature],
  reasons: ['PROOF_AGENT_MISMATCH'],
  run: ({ P3: { grant }, P9: { proof } }) => demand(proof.agent === grant.agent, 'PROOF_AGENT_MISMATCH'),
});

export const p10Explained: ExplanationOf<typeof p10ProofAgent> = {
  compare: ({ P3: { grant }, P9: { proof } }) => one('iss of the Proof', proof.agent, grant.agent),
};
