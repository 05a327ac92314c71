/** Claims of DIDs whose domain is not proven yet, and the operator's decision between claims (protocol §13, Claims). */
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
    summary: 'Get what a DID must still prove',
    description: [
      'A `hosted` DID that an org has registered is a claim until its domain is proven. The answer says by when it must',
      'be proven, and what to publish. Only for the DID itself, its org and the operator.',
    ].join('\n'),
    auth: ['rp', 'principal', 'org', 'admin'],
    limiter: 'authenticated',
    params: didParams,
    responses: { 200: json(didClaims, 'The claims under this DID that the key may see.') },
    errors: { NOT_FOUND: 'Nothing that this key may see is registered under this DID.' },
  }),

  releaseClaim: defineRoute({
    method: 'post',
    path: '/claims/{did}/release',
    tag: 'Onboarding',
    summary: 'Release a DID',
    description: [
      'Frees a DID whose domain was never proven, and deletes everything that was made under it: keys, Agents, Grants.',
      'A DID that was proven once, or that the service hosts, has a history. It can only be transferred; a managed',
      'Principal cannot be transferred either.',
    ].join('\n'),
    auth: ['admin'],
    limiter: 'authenticated',
    params: didParams,
    body: claimReleaseRequest,
    responses: { 200: json(claimReleased, 'The DID can be registered again.') },
    errors: {
      CONFLICT:
        'The DID was proven, is hosted by the service, or is that of a relying party that may already verify.',
    },
  }),

  transferClaim: defineRoute({
    method: 'post',
    path: '/claims/{did}/transfer',
    tag: 'Onboarding',
    summary: 'Give a DID to another org',
    description: [
      'Moves a Principal or relying party with its history to another org, or to none. All its API keys are revoked:',
      'the new org issues its own. A hosted Principal is `unverified` until its domain publishes a new token.',
      '',
      'A managed Principal cannot be moved: it cannot be given other signing keys, so anybody who holds its present',
      'keys would continue to sign for it. Register another slug in the other org instead, and mark the keys of this',
      'one as compromised if it must end.',
    ].join('\n'),
    auth: ['admin'],
    limiter: 'authenticated',
    params: didParams,
    body: claimTransferRequest,
    responses: { 200: json(claimTransferred, 'The DID now belongs to this org.') },
    errors: {
      CONFLICT: 'It is a managed Principal, or a relying party with decisions.',
      SERVICE_UNAVAILABLE:
        'Nothing was transferred: a decision in progress did not end in time, or storage did not answer. Repeat the call.',
    },
  }),
} as const;
