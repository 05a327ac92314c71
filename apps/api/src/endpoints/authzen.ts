/** `GET /.well-known/authzen-configuration`. */
import { type Routes, routes } from '@svc/contract';
import { PROFILES, PROOF_TYP } from '@svc/protocol';
import type { ServiceIdentity } from '@svc/service';
import type { Handler } from '../http/index.ts';

const headers = { 'Cache-Control': 'public, max-age=3600' };

export const getAuthZenConfiguration =
  ({ did, baseUrl }: ServiceIdentity): Handler<Routes['getAuthZenConfiguration']> =>
  async () => ({
    status: 200,
    headers,
    body: {
      policy_decision_point: baseUrl,
      access_evaluation_endpoint: baseUrl + routes.evaluateAccess.path,
      access_evaluations_endpoint: baseUrl + routes.evaluateAccesses.path,
      svc: {
        issuer: did,
        profiles: Object.keys(PROFILES),
        proof_types: [PROOF_TYP],
        receipt_version: 'svc-receipt-v1',
      },
    },
  });
