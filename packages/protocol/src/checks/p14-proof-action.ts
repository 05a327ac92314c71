/** P14: the Agent signed exactly this Action and, for an API call, exactly this request (protocol §7). */
import { normalizeHtu } from '@svc/codec';
import { type Action, isSameAction } from '../model/action.ts';
import type { Proof } from '../model/proof.ts';
import { defineCheck, demand } from './check.ts';
import { p09ProofSignature } from './p09-proof-signature.ts';
import { p15ActionWellFormed } from './p15-action-well-formed.ts';

export const p14ProofAction = /* @__PURE__ */ defineCheck({
  id: 'P14',
  title:
    "the Proof's action is the Action; for an api:call its htm and htu are the Action's method and resource",
  cites: ['interface §Proof', 'protocol §4', 'protocol §7', 'RFC 8785 §3.2'],
  requires: [p09ProofSignature, p15ActionWellFormed],
  reasons: ['PROOF_ACTION_MISMATCH'],
  run: ({ P9: { proof }, P15: { action } }) =>
    demand(isSameAction(proof.action, action) && bindsRequest(proof, action), 'PROOF_ACTION_MISMATCH'),
});

const bindsRequest = (proof: Proof, action: Action): boolean =>
  action.type !== 'api:call' ||
  (proof.htm === action.method && proof.normalizedHtu === normalizeHtu(action.resource));
