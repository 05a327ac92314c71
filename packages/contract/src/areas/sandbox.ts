/** The sandbox (interface §Endpoints, Sandbox): real Receipts for anybody, only on development deployments. */

import { revokeRequest, revokeResponse } from '../resources/grant.ts';
import { receipt } from '../resources/receipt.ts';
import {
  demoApproval,
  demoApprovalRequest,
  demoInfo,
  demoMint,
  demoMintRequest,
} from '../resources/sandbox.ts';
import { verifyRequest } from '../resources/verify-request.ts';
import { defineRoute, json } from '../route.ts';

const common = { tag: 'Sandbox', auth: [], limiter: 'sandbox', feature: 'sandbox' } as const;
const absent = 'This deployment has no sandbox (`SVC_DEMO`).';

export const sandboxRoutes = {
  getDemoInfo: defineRoute({
    ...common,
    method: 'get',
    path: '/demo/info',
    summary: 'Get the parties of the sandbox',
    description: 'The sandbox’s Principal, Agent and relying party, and what the sandbox’s Grants allow.',
    responses: { 200: json(demoInfo, 'The sandbox.') },
    errors: { NOT_FOUND: absent },
  }),

  mintDemo: defineRoute({
    ...common,
    method: 'post',
    path: '/demo/mint',
    summary: 'Get a sandbox Grant and a Proof',
    description:
      'Returns a fresh Grant to the sandbox’s Agent, and the Agent’s Proof for one purchase of `amount`. Send both to `/demo/verify`.',
    body: demoMintRequest,
    responses: { 200: json(demoMint, 'The Grant, the Proof and the Action that it is bound to.') },
    errors: { NOT_FOUND: absent },
  }),

  verifyDemo: defineRoute({
    ...common,
    method: 'post',
    path: '/demo/verify',
    summary: 'Verify as the sandbox’s relying party',
    description:
      '`POST /verify` without a key: the same checks, and a real Receipt. Anything wrong inside the three members is a DENY.',
    body: verifyRequest,
    bodyReading: 'envelope',
    responses: { 200: json(receipt, 'The decision, ALLOW or DENY, as a signed Receipt.') },
    errors: { NOT_FOUND: absent },
  }),

  approveDemo: defineRoute({
    ...common,
    method: 'post',
    path: '/demo/approval',
    summary: 'Ask the sandbox’s Principal, and approve for it',
    description:
      '`POST /access/v1/requests` without a key and, with `approve`, the Principal’s answer. The service signs the Grant; it can do so only for this Principal, because it holds this Principal’s key. You may repeat the call; each answer has a fresh Proof.',
    body: demoApprovalRequest,
    responses: { 200: json(demoApproval, 'The request, and what the Agent presents after it is approved.') },
    errors: {
      NOT_FOUND: `There is no such denial of the sandbox’s Principal and Agent. Or: ${absent}`,
      CONFLICT: 'The denial cannot be approved, or the request or the Grant that approved it has expired.',
    },
  }),

  revokeDemo: defineRoute({
    ...common,
    method: 'post',
    path: '/demo/revoke',
    summary: 'Revoke a sandbox Grant',
    description: 'Like `POST /revoke`, for Grants from `/demo/mint`. You may repeat the call.',
    body: revokeRequest,
    responses: { 200: json(revokeResponse, 'Revoked, and visible everywhere.') },
    errors: {
      NOT_FOUND: `There is no such Grant of the sandbox’s Agent. Or: ${absent}`,
      SERVICE_UNAVAILABLE: 'The revocation is recorded but not yet visible everywhere. Repeat the call.',
    },
  }),
} as const;
