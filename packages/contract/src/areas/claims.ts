/** DIDs whose domain is not proven yet, and whose one is where the operator has to say it (protocol §13, Claims). */
import { didParams } from '../parameters.ts';
import {
  claimReleased,
  claimReleaseRequest,
  claimTransferRequest,
  claimTransferred,
  didClaims,
} from '../resources/claim.ts';
import { defineRoute, json } from '../route.ts';

export const claimRoutes = {
  getClaims: defineRoute({
    method: 'get',
    path: '/claims/{did}',
    tag: 'Onboarding',
    summary: 'What a DID has still to prove',
    description: [
      'A `hosted` DID that an org has registered is a claim until its domain is proven. Says until when that has to be, and',
      'what to publish. For the DID itself, its org and the operator.',
    ].join('\n'),
    auth: ['rp', 'principal', 'org', 'admin'],
    limiter: 'authenticated',
    params: didParams,
    responses: { 200: json(didClaims, 'The claims under this DID that the key may see.') },
    errors: { NOT_FOUND: 'Nothing is registered under this DID for this key.' },
  }),

  releaseClaim: defineRoute({
    method: 'post',
    path: '/claims/{did}/release',
    tag: 'Onboarding',
    summary: 'Release a DID',
    description: [
      'Frees a DID whose domain was never proven, with everything that was made under it: keys, Agents, Grants. What was',
      'proven once, or is hosted by the service, has a history: it can only be transferred, and a managed Principal not even that.',
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
      'new org issues its own. A hosted Principal is `unverified` until its domain says a new token. A managed Principal',
      'stays: it can be given no other signing keys, so who holds those that it has would go on signing for it. Register',
      'another slug in the other org, and compromise the keys of this one where it has to end.',
    ].join('\n'),
    auth: ['admin'],
    limiter: 'authenticated',
    params: didParams,
    body: claimTransferRequest,
    responses: { 200: json(claimTransferred, 'It belongs to this org.') },
    errors: {
      CONFLICT: 'A managed Principal, or a relying party with decisions.',
      SERVICE_UNAVAILABLE:
        'Nothing is transferred: a decision under way was not over in time, or storage did not answer. Repeat the call.',
    },
  }),
} as const;
