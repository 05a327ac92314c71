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

const NOT_ITS_PRINCIPAL = 'Not a Principal of this key, or no request to it.';
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
      'Turns a denial of yours into a question to its Principal: may this Agent do this once? Only a denial whose P1 to P15 and trust',
      'checks hold, and that is at most an hour old. What is asked for is the Action of that decision; nothing else can be added.',
      'The Principal hears of it by the event `approval.requested`, and approves by signing a Grant for you alone, that resource, that',
      'amount, and one use. Your profile must be `svc-base-v2`, which knows `maxUses`.',
      '',
      'Repeating the call is harmless: a Receipt has one request, and while one is open for the same Grant, Agent and Action, that one is',
      'answered. What nobody answers in time is expired, and stays so.',
    ].join('\n'),
    auth: ['rp'],
    limiter: 'authenticated',
    body: accessRequestBody,
    responses: { 202: json(accessRequest, 'The request that stands for this denial, as it is now.') },
    errors: {
      INVALID_REQUEST: 'Not the body of a request, or a resource that no Grant can name alone.',
      FORBIDDEN: 'The org of the relying party has made as many changes as it may without a plan.',
      NOT_FOUND: 'No decision of this relying party.',
      CONFLICT:
        'Not a denial that can be approved, or the Principal has denied the same in the last 24 hours.',
      RATE_LIMITED:
        'Too many calls, or too many requests are open of this Agent, of you, or to this Principal: wait until some are decided.',
    },
  }),

  getAccessRequest: defineRoute({
    method: 'get',
    path: '/access/v1/requests/{request_id}',
    tag: 'Approvals',
    summary: 'Get what has become of a request',
    description: [
      'With `wait` the answer comes when the request is decided, at the latest after so many seconds; ask again while it is `pending`.',
      'When it is `approved`, `result.grant` is what the Principal has signed: hand it to the Agent, which signs a new Proof under it, and',
      'verify that. The approval allows nothing by itself.',
    ].join('\n'),
    auth: ['rp'],
    limiter: 'authenticated',
    params: one,
    query: z.strictObject({ wait: queryInteger(0, 20, 0) }),
    responses: { 200: json(accessRequest, 'The request as it is now.') },
    errors: {
      NOT_FOUND: 'No request of this relying party.',
      RATE_LIMITED: 'Too many calls, or too many that wait on this node.',
    },
  }),

  cancelAccessRequest: defineRoute({
    method: 'post',
    path: '/access/v1/requests/{request_id}/cancel',
    tag: 'Approvals',
    summary: 'Cancel a request',
    description: 'For what is not needed any more. Repeating the call is harmless.',
    auth: ['rp'],
    limiter: 'authenticated',
    params: one,
    responses: { 200: json(accessRequest, 'Cancelled.') },
    errors: { NOT_FOUND: 'No request of this relying party.', CONFLICT: 'It is decided already.' },
  }),

  listApprovals: defineRoute({
    method: 'get',
    path: '/principals/{did}/access-requests',
    tag: 'Approvals',
    summary: 'List what a Principal is asked',
    description: 'Newest first. For the Principal and its org.',
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
    summary: 'Get what a Principal is asked',
    description: 'One request: who asks for what, and the Capability that would be signed.',
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
      'Takes a Grant that the Principal has signed: allocated by `POST /grants` for the Agent of the request, its audience the relying party',
      'alone, one Capability, which is the `capability` of the request, and valid for at most 15 minutes. It is checked as a verification',
      'would check it, kept until it expires, and handed to the relying party. The service can sign none. Repeating the call is harmless.',
    ].join('\n'),
    auth: ['principal', 'org:admin'],
    limiter: 'authenticated',
    params: oneOfPrincipal,
    body: approveBody,
    responses: { 200: json(accessRequest, 'Approved.') },
    errors: {
      INVALID_REQUEST: 'Not exactly the Grant that was asked for; the message says what differs.',
      FORBIDDEN: `An org:read key; or: ${NOT_PROVEN}`,
      NOT_FOUND: NOT_ITS_PRINCIPAL,
      CONFLICT: 'It is decided or expired already, or the Grant would be denied now.',
    },
  }),

  rejectRequest: defineRoute({
    method: 'post',
    path: '/principals/{did}/access-requests/{request_id}/reject',
    tag: 'Approvals',
    summary: 'Reject',
    description:
      'The same cannot be asked for again for 24 hours. The relying party sees the reason. Repeating the call is harmless; the first reason stands. It goes on while the domain of a hosted Principal is not proven.',
    auth: ['principal', 'org:admin'],
    limiter: 'authenticated',
    params: oneOfPrincipal,
    body: rejectBody,
    responses: { 200: json(accessRequest, 'Rejected.') },
    errors: { NOT_FOUND: NOT_ITS_PRINCIPAL, CONFLICT: 'It is decided or expired already.' },
  }),
} as const;
