/** AuthZEN on top of the same decisions as `POST /verify` (interface §AuthZEN records). */
import { routes } from '@svc/contract';
import { PROFILES, PROOF_TYP } from '@svc/protocol';
import type { ServiceDeps } from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { evaluateAccess, evaluateBy } from './authzen/evaluate.ts';
import { evaluateAccesses } from './authzen/evaluate-batch.ts';
import type { Decide } from './decide.ts';

const CACHE_AN_HOUR = { 'Cache-Control': 'public, max-age=3600' };

export const authZenEndpoints = ({ identity, log }: ServiceDeps, decide: Decide): HandlersOf<'authzen'> => {
  const evaluate = evaluateBy(decide, identity);
  return {
    evaluateAccess: evaluateAccess(evaluate),
    evaluateAccesses: evaluateAccesses(evaluate, log),
    getAuthZenConfiguration: async () => ({
      status: 200,
      headers: CACHE_AN_HOUR,
      body: {
        policy_decision_point: identity.baseUrl,
        access_evaluation_endpoint: identity.baseUrl + routes.evaluateAccess.path,
        access_evaluations_endpoint: identity.baseUrl + routes.evaluateAccesses.path,
        svc: {
          issuer: identity.did,
          profiles: Object.keys(PROFILES),
          proof_types: [PROOF_TYP],
          receipt_version: 'svc-receipt-v1',
        },
      },
    }),
  };
};
