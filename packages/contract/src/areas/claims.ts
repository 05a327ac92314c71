/** Whose a DID is, where the operator has to say it (protocol §13, Claims). */
import { didParams } from '../parameters.ts';
import {
  claimReleased,
  claimReleaseRequest,
  claimTransferRequest,
  claimTransferred,
} from '../resources/claim.ts';
import { defineRoute, json } from '../route.ts';

export const claimRoutes = {
  releaseClaim: defineRoute({
    method: 'post',
    path: '/claims/{did}/release',
    tag: 'Onboarding',
    summary: 'Release a DID',
    description: [
      'Frees a DID whose domain was never proven, with everything that was made under it: keys, Agents, Grants. What was',
      'proven once, or is hosted by the service, has a history and can only be transferred.',
    ].join('\n'),
    auth: ['admin'],
    limiter: 'authenticated',
    params: didParams,
    body: claimReleaseRequest,
    responses: { 200: json(claimReleased, 'The DID can be registered again.') },
    errors: { CONFLICT: 'It is proven, hosted by the service, or decides.' },
  }),

  transferClaim: defineRoute({
    method: 'post',
    path: '/claims/{did}/transfer',
    tag: 'Onboarding',
    summary: 'Give a DID to another org',
    description: [
      'Moves a Principal or relying party with its history to another org, or to none. All its API keys are revoked: the',
      'new org issues its own. A hosted Principal is `unverified` until its domain says a new token.',
    ].join('\n'),
    auth: ['admin'],
    limiter: 'authenticated',
    params: didParams,
    body: claimTransferRequest,
    responses: { 200: json(claimTransferred, 'It belongs to this org.') },
    errors: {
      CONFLICT: 'A relying party with decisions that count for its org.',
      SERVICE_UNAVAILABLE: 'Recorded, and not yet visible everywhere. Repeat the call.',
    },
  }),
} as const;
