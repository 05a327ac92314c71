/** Relying parties (interface §Endpoints, Onboarding and organizations). */
import { didParams } from '../parameters.ts';
import { didClaims } from '../resources/claim.ts';
import {
  relyingParty,
  relyingPartyCreated,
  relyingPartyCreateRequest,
  relyingPartyUpdateRequest,
} from '../resources/relying-party.ts';
import { defineRoute, json } from '../route.ts';

export const relyingPartyRoutes = {
  createRelyingParty: defineRoute({
    method: 'post',
    path: '/relying-parties',
    tag: 'Onboarding',
    summary: 'Register a relying party',
    description: [
      'Registers a party that will call `POST /verify`, with its settings, and issues its first API key, which is shown',
      'only here. An org:admin key registers into its own org. A `hosted` DID that the org brings cannot verify until',
      'its domain is proven (`GET /claims/{did}` says how). Without a proof, the DID is free again after 7 days.',
    ].join('\n'),
    auth: ['org:admin', 'admin'],
    limiter: 'authenticated',
    body: relyingPartyCreateRequest,
    responses: { 201: json(relyingPartyCreated, 'Registered. Keep the API key: it is not shown again.') },
    errors: {
      INVALID_REQUEST:
        'A malformed request; or the org has as many Principals and relying parties as it may have (200 unless set otherwise).',
      CONFLICT:
        'The DID is already registered, or another org claims it: the message says what to publish to take it over. Or the org has too many DIDs that it has not proven.',
    },
  }),

  getRelyingParty: defineRoute({
    method: 'get',
    path: '/relying-parties/{did}',
    tag: 'Onboarding',
    summary: 'Get a relying party',
    description: 'The settings of a relying party. An RP key reads its own, an org key those of its members.',
    auth: ['rp', 'org', 'admin'],
    limiter: 'authenticated',
    params: didParams,
    responses: { 200: json(relyingParty, 'The relying party.') },
    errors: {},
  }),

  updateRelyingParty: defineRoute({
    method: 'patch',
    path: '/relying-parties/{did}',
    tag: 'Onboarding',
    summary: 'Change a relying party',
    description:
      'Changes the members that you send and leaves the others. Verifications use the change at once.',
    auth: ['org:admin', 'admin'],
    limiter: 'authenticated',
    params: didParams,
    body: relyingPartyUpdateRequest,
    responses: { 200: json(relyingParty, 'The relying party after the change.') },
    errors: {},
  }),

  verifyRelyingParty: defineRoute({
    method: 'post',
    path: '/relying-parties/{did}/verify',
    tag: 'Onboarding',
    summary: 'Verify a relying party’s domain now',
    description: [
      'Looks for the proof in DNS and at the well-known address. After it is found, `claims` is empty for good and the',
      'relying party may verify. A relying party that the operator registered, or that the service hosts, needs no',
      'proof.',
    ].join('\n'),
    auth: ['rp', 'org:admin', 'admin'],
    limiter: 'authenticated',
    params: didParams,
    responses: { 200: json(didClaims, 'What must still be proven after the check.') },
    errors: { SERVICE_UNAVAILABLE: 'The domain could not be reached. Repeat the call.' },
  }),
} as const;
