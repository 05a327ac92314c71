/** Self-serve sign-up through the console (interface §Endpoints, Onboarding and organizations). */
import { z } from 'zod';
import { receipt } from '../resources/receipt.ts';
import {
  selfServeBundle,
  selfServeRequest,
  selfServeRpRequest,
  selfServeStarter,
} from '../resources/self-serve.ts';
import { defineRoute, json } from '../route.ts';

const common = {
  method: 'post',
  tag: 'Self-serve',
  auth: ['provision'],
  limiter: 'self-serve',
  feature: 'self-serve',
} as const;
const absent = 'Self-serve is not enabled on this deployment.';
const noSuchRp = `There is no such relying party made by self-serve. Or: ${absent}`;
const ofRp = {
  INVALID_REQUEST: 'The body is malformed, or `rp_did` is not a managed relying party of this service.',
  NOT_FOUND: noSuchRp,
  FORBIDDEN: 'The tenant has made as many changes as it may make without a plan.',
} as const;

export const selfServeRoutes = {
  signUp: defineRoute({
    ...common,
    path: '/orgs/self-serve',
    summary: 'Create a tenant',
    description: [
      'Creates an org with an org:admin key, a managed relying party with its first verify key, and a starter: a Grant',
      'of the sandbox Principal and a Proof, with which the tenant’s first `POST /verify` is an ALLOW. Either all of it',
      'is created or nothing. The keys are shown only in this answer.',
    ].join('\n'),
    headers: z.strictObject({
      'x-svc-client-ip': z
        .string()
        .optional()
        .meta({ description: 'The address of the end customer; sign-ups are limited by it.' }),
    }),
    body: selfServeRequest,
    responses: { 201: json(selfServeBundle, 'Created. Keep the keys: they are not shown again.') },
    errors: {
      NOT_FOUND: absent,
      CONFLICT: 'The slug is taken or reserved.',
      RATE_LIMITED:
        'Too many calls with this key, sign-ups from this customer’s address, or new orgs today. Wait `Retry-After` seconds.',
    },
  }),

  getStarter: defineRoute({
    ...common,
    path: '/orgs/self-serve/starter',
    summary: 'Get a fresh starter',
    description:
      'Returns another Grant and Proof for a tenant’s relying party. A Proof can be used for one ALLOW and expires soon.',
    body: selfServeRpRequest,
    responses: { 200: json(selfServeStarter, 'The starter.') },
    errors: ofRp,
  }),

  getFirstReceipt: defineRoute({
    ...common,
    path: '/orgs/self-serve/first-receipt',
    summary: 'Verify a fresh starter',
    description:
      'Verifies a fresh starter with the real engine, as the tenant’s relying party: ALLOW for a tenant that is set up correctly. The decision is in the tenant’s ledger, under its newest live key.',
    body: selfServeRpRequest,
    responses: { 200: json(receipt, 'The decision, as a signed Receipt.') },
    errors: {
      ...ofRp,
      INVALID_REQUEST: `${ofRp.INVALID_REQUEST} Or that relying party has no live key.`,
    },
  }),
} as const;
