/** P14: the Agent signed exactly this Action and, for an API call, exactly this request (protocol §7). */
import { normalizeHtu } from '@svc/codec';
import { type Action, isSameAction } from '../model/action.ts';
import type { Proof } from '../model/proof.ts';
import { defineCheck, demand } from './check.ts';
import { type Comparison, type ExplanationOf, one } from './explained.ts';
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

export const p14Explained: ExplanationOf<typeof p14ProofAction> = {
  compare: ({ P9: { proof }, P15: { action } }) => [
    ...compareActions(proof.action, action),
    ...(action.type === 'api:call' ? compareRequests(proof, action) : []),
  ],
};

const bindsRequest = (proof: Proof, action: Action): boolean =>
  action.type !== 'api:call' ||
  (proof.htm === action.method && proof.normalizedHtu === normalizeHtu(action.resource));

const compareActions = (signed: Action, asked: Action): readonly Comparison[] => {
  const [ofProof, ofAction] = [new Map(Object.entries(signed)), new Map(Object.entries(asked))];
  const names = [...new Set([...ofProof.keys(), ...ofAction.keys()])].sort();
  return names
    .filter((name) => ofProof.get(name) !== ofAction.get(name))
    .flatMap((name) =>
      one(`action.${name} of the Proof`, ofProof.get(name) ?? null, ofAction.get(name) ?? null),
    );
};

const compareRequests = (
  { htm, normalizedHtu }: Proof,
  { method, resource }: Extract<Action, { type: 'api:call' }>,
): readonly Comparison[] => [
  ...(htm === method ? [] : one('htm of the Proof', htm, method)),
  ...(normalizedHtu === normalizeHtu(resource) ? [] : one('htu of the Proof', normalizedHtu, resource)),
];
