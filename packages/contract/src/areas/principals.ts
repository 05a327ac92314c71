/** Principals: registration, directory, proof of the domain (interface §Endpoints, Onboarding and Principal lifecycle). */
import { z } from 'zod';
import { didWeb, orgId, pageLimit } from '../formats.ts';
import { didParams } from '../parameters.ts';
import {
  principal,
  principalCreated,
  principalCreateRequest,
  principalKind,
  principalNamingRequest,
  verificationState,
} from '../resources/principal.ts';
import { principalDirectory, principalView } from '../resources/principal-directory.ts';
import { defineRoute, json } from '../route.ts';

export const principalRoutes = {
  createPrincipal: defineRoute({
    method: 'post',
    path: '/principals',
    tag: 'Onboarding',
    summary: 'Register a Principal',
    description: [
      'A `managed` Principal is verified at once: the service publishes its DID document, and you keep the private',
      'keys. A `hosted` Principal brings its own `did:web` DID and proves control of the domain. In both cases the',
      'answer contains an API key, which is shown only here. An org:admin key registers into its own org. If the org',
      'does not prove a `hosted` DID, the DID is free again after 7 days.',
    ].join('\n'),
    auth: ['org:admin', 'admin'],
    limiter: 'authenticated',
    body: principalCreateRequest,
    responses: { 201: json(principalCreated, 'Registered. Keep the API key: it is not shown again.') },
    errors: {
      INVALID_REQUEST:
        'A malformed request; or the org has as many Principals and relying parties as it may have (200 unless set otherwise).',
      CONFLICT:
        'The DID is already registered, or the domain belongs to the service. Or another org claims the DID: the message says what to publish to take it over. Or the org has too many DIDs that it has not proven.',
    },
  }),

  listPrincipals: defineRoute({
    method: 'get',
    path: '/principals',
    tag: 'Principals',
    summary: 'List Principals',
    description: [
      'The directory, in ascending order of DIDs: who is registered, how each is verified, and every key it has had.',
      'Any live key of a relying party, a Principal or an org may read it. A page of large DID documents may have fewer',
      'entries than `limit`: the list ends only when `next_cursor` is null.',
    ].join('\n'),
    auth: ['rp', 'principal', 'org', 'admin'],
    limiter: 'authenticated',
    query: z.strictObject({
      kind: principalKind.optional(),
      state: verificationState.optional(),
      org_id: orgId.optional().meta({ description: 'Only for keys of that org, and for the operator.' }),
      limit: pageLimit,
      cursor: didWeb.optional().meta({
        description: 'The `next_cursor` of the previous page: the last DID on it.',
      }),
    }),
    responses: { 200: json(principalDirectory, 'One page of the directory.') },
    errors: {
      FORBIDDEN: '`org_id` was sent with a key that is not an org key.',
      NOT_FOUND: '`org_id` is not the org of this key.',
    },
  }),

  getPrincipal: defineRoute({
    method: 'get',
    path: '/principals/{did}',
    tag: 'Principals',
    summary: 'Get a Principal',
    description: [
      'The Principal itself, its org’s keys and the operator get the full record, with how to prove the domain. Any',
      'other live key gets the directory entry.',
    ].join('\n'),
    auth: ['principal', 'admin', 'org', 'rp'],
    limiter: 'authenticated',
    params: didParams,
    responses: { 200: json(principalView, 'The Principal, as this key may see it.') },
    errors: {},
  }),

  updatePrincipal: defineRoute({
    method: 'patch',
    path: '/principals/{did}',
    tag: 'Principals',
    summary: 'Set whether a Principal may be named',
    description: 'Records or removes the Principal’s consent to be named on the public metrics page.',
    auth: ['admin'],
    limiter: 'authenticated',
    params: didParams,
    body: principalNamingRequest,
    responses: { 200: json(principal, 'The Principal after the change.') },
    errors: {},
  }),

  verifyPrincipal: defineRoute({
    method: 'post',
    path: '/principals/{did}/verify',
    tag: 'Principals',
    summary: 'Verify a Principal’s domain now',
    description: [
      'Looks for the proof in DNS and at the well-known address, and fetches the DID document again. The answer',
      'contains the resulting state:',
      '',
      '- The proof is found: `verified`.',
      '- Both places answer, and neither has a proof: `unverified`, and every verification of its Grants is denied.',
      '- No proof is found, and one of the places cannot be reached: the state stays for up to 72 hours since the last',
      '  proof.',
      '',
      'A managed Principal is always verified. The service checks the domain again every 24 hours.',
    ].join('\n'),
    auth: ['principal', 'org:admin', 'admin'],
    limiter: 'authenticated',
    params: didParams,
    responses: { 200: json(principal, 'The Principal after the check.') },
    errors: {
      SERVICE_UNAVAILABLE: 'The result may be recorded but is not yet visible everywhere. Repeat the call.',
    },
  }),
} as const;
