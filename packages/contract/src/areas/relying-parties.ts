/** Relying parties (interface §Endpoints, Onboarding and organizations). */
import { didParams } from '../parameters.ts';
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
      'Registers a party that will call `POST /verify`, with its settings, and issues its first API key, shown only',
      'here. An org:admin key registers into its own org.',
    ].join('\n'),
    auth: ['org:admin', 'admin'],
    limiter: 'authenticated',
    body: relyingPartyCreateRequest,
    responses: { 201: json(relyingPartyCreated, 'Registered. Keep the API key: it is not shown again.') },
    errors: { CONFLICT: 'Already registered.' },
  }),

  getRelyingParty: defineRoute({
    method: 'get',
    path: '/relying-parties/{did}',
    tag: 'Onboarding',
    summary: 'Get a relying party',
    description: 'Its settings. An RP key reads itself, an org key the members of its org.',
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
      'Changes the members that are given and leaves the others. Verifications see the change at once.',
    auth: ['org:admin', 'admin'],
    limiter: 'authenticated',
    params: didParams,
    body: relyingPartyUpdateRequest,
    responses: { 200: json(relyingParty, 'The relying party after the change.') },
    errors: {},
  }),
} as const;
