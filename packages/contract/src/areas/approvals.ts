/** Approvals (protocol §16): a relying party asks, the Principal answers with an ordinary Grant. */
import { z } from 'zod';
import { accessRequestId, cursor, didWeb, pageLimit, queryInteger } from '../formats.ts';
import {
  accessRequest,
  accessRequestBody,
  accessRequestList,
  accessRequestStatus,
  approveBody,
  rejectBody,
} from '../resources/access-request.ts';
import { defineRoute, json } from '../route.ts';

const NOT_ITS_PRINCIPAL =
  'This key is not the Principal’s or its org’s, or the Principal has no such request.';
const NOT_PROVEN = 'The Principal is hosted, and its domain is not proven now.';
const ofPrincipal = z.strictObject({
  did: didWeb.meta({
    description: 'The Principal’s DID, percent-encoded: a `%3A` inside it is sent as `%253A`.',
    example: 'did:web:acme.example',
  }),
});
const oneOfPrincipal = ofPrincipal.extend({ request_id: accessRequestId });
const one = z.strictObject({ request_id: accessRequestId });

export const approvalRoutes = {
  requestAccess: defineRoute({
    method: 'post',
    path: '/access/v1/requests',
    tag: 'Approvals',
    summary: 'Ask for an approval',
    description: [
      'Asks the Principal about a denial that you received: may this Agent do this once? The denial must be at most an',
      'hour old, and its checks T1 to T3 and P1 to P15 must have passed. You ask for the Action of that decision; you',
      'cannot add anything. The event `approval.requested` tells the Principal. The Principal approves by signing a',
      'Grant for you alone, for that resource, that amount, and one use. Your profile must be `svc-base-v2`, which',
      'supports `maxUses`.',
      '',
      'You may repeat the call: a Receipt has one request. While a request is open for the same Grant, Agent and',
      'Action, the service returns that one. A request that nobody answers in time expires, and stays expired.',
    ].join('\n'),
    auth: ['rp'],
    limiter: 'authenticated',
    body: accessRequestBody,
    responses: { 202: json(accessRequest, 'The request for this denial, as it is now.') },
    errors: {
      INVALID_REQUEST: 'The body is malformed, or no Grant can name this resource alone.',
      FORBIDDEN: 'The org of the relying party has made as many changes as it may make without a plan.',
      NOT_FOUND: 'This relying party has no such decision.',
      CONFLICT: 'The denial cannot be approved, or the Principal has denied the same in the last 24 hours.',
      RATE_LIMITED:
        'Too many calls; or too many requests are open for this Agent, from you, or to this Principal: wait until some are decided.',
    },
  }),

  getAccessRequest: defineRoute({
    method: 'get',
    path: '/access/v1/requests/{request_id}',
    tag: 'Approvals',
    summary: 'Get a request and its result',
    description: [
      'With `wait`, the answer comes when the request is decided, at the latest after that many seconds; ask again',
      'while it is `pending`. When it is `approved`, `result.grant` is the Grant that the Principal signed. Pass it to',
      'the Agent, which signs a new Proof under it, and verify that Proof. The approval allows nothing by itself.',
    ].join('\n'),
    auth: ['rp'],
    limiter: 'authenticated',
    params: one,
    query: z.strictObject({ wait: queryInteger(0, 20, 0) }),
    responses: { 200: json(accessRequest, 'The request as it is now.') },
    errors: {
      NOT_FOUND: 'This relying party has no such request.',
      RATE_LIMITED: 'Too many calls, or too many calls are waiting on this node.',
    },
  }),

  cancelAccessRequest: defineRoute({
    method: 'post',
    path: '/access/v1/requests/{request_id}/cancel',
    tag: 'Approvals',
    summary: 'Cancel a request',
    description: 'Cancels a request that you no longer need. You may repeat the call.',
    auth: ['rp'],
    limiter: 'authenticated',
    withdraws: true,
    params: one,
    responses: { 200: json(accessRequest, 'Cancelled.') },
    errors: {
      NOT_FOUND: 'This relying party has no such request.',
      CONFLICT: 'The request is already decided.',
    },
  }),

  listApprovals: defineRoute({
    method: 'get',
    path: '/principals/{did}/access-requests',
    tag: 'Approvals',
    summary: 'List the requests to a Principal',
    description: 'Newest first. Only for the Principal and its org.',
    auth: ['principal', 'org'],
    limiter: 'authenticated',
    params: ofPrincipal,
    query: z.strictObject({
      status: accessRequestStatus.optional(),
      limit: pageLimit,
      cursor: cursor.optional(),
    }),
    responses: { 200: json(accessRequestList, 'One page of requests.') },
    errors: { FORBIDDEN: NOT_PROVEN, NOT_FOUND: NOT_ITS_PRINCIPAL },
  }),

  getApproval: defineRoute({
    method: 'get',
    path: '/principals/{did}/access-requests/{request_id}',
    tag: 'Approvals',
    summary: 'Get a request to a Principal',
    description: 'One request: who asks for what, and the Capability that the Principal would sign.',
    auth: ['principal', 'org'],
    limiter: 'authenticated',
    params: oneOfPrincipal,
    responses: { 200: json(accessRequest, 'The request as it is now.') },
    errors: { FORBIDDEN: NOT_PROVEN, NOT_FOUND: NOT_ITS_PRINCIPAL },
  }),

  approveRequest: defineRoute({
    method: 'post',
    path: '/principals/{did}/access-requests/{request_id}/approve',
    tag: 'Approvals',
    summary: 'Approve',
    description: [
      'Accepts a Grant that the Principal has signed. It must be allocated by `POST /grants` for the Agent of the',
      'request, have the relying party as its only audience, have exactly one Capability, the `capability` of the',
      'request, and be valid for at most 15 minutes. The service checks it as a verification would, keeps it until it',
      'expires, and passes it to the relying party. The service cannot sign such a Grant itself. You may repeat the',
      'call.',
    ].join('\n'),
    auth: ['principal', 'org:admin'],
    limiter: 'authenticated',
    params: oneOfPrincipal,
    body: approveBody,
    responses: { 200: json(accessRequest, 'Approved.') },
    errors: {
      INVALID_REQUEST: 'The Grant is not exactly the one that was asked for; the message says what differs.',
      FORBIDDEN: `An org:read key; or: ${NOT_PROVEN}`,
      NOT_FOUND: NOT_ITS_PRINCIPAL,
      CONFLICT: 'The request is already decided or expired, or the Grant would be denied now.',
    },
  }),

  rejectRequest: defineRoute({
    method: 'post',
    path: '/principals/{did}/access-requests/{request_id}/reject',
    tag: 'Approvals',
    summary: 'Reject',
    description:
      'The relying party sees the reason, and cannot ask for the same again for 24 hours. You may repeat the call; the first reason stays. This also works while the domain of a hosted Principal is not proven.',
    auth: ['principal', 'org:admin'],
    limiter: 'authenticated',
    withdraws: true,
    params: oneOfPrincipal,
    body: rejectBody,
    responses: { 200: json(accessRequest, 'Rejected.') },
    errors: { NOT_FOUND: NOT_ITS_PRINCIPAL, CONFLICT: 'The request is already decided or expired.' },
  }),
} as const;
