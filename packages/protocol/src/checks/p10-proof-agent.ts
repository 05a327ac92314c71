/** P10: the Agent that signed the Proof is the one the Grant names. */
import { defineCheck, demand } from './check.ts';

export const p10ProofAgent = /* @__PURE__ */ defineCheck({
  id: 'P10',
  title: "the Proof's iss is the Grant's subject",
  requires: ['P3', 'P9'],
  reasons: ['PROOF_AGENT_MISMATCH'],
  run: ({ P3: { grant }, P9: { proof } }) => demand(proof.agent === grant.agent, 'PROOF_AGENT_MISMATCH'),
});
