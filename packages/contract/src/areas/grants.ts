/** Grants (interface §Endpoints, Principal lifecycle). */
import { z } from 'zod';
import { cursor, didKey, didWeb, grantId, pageLimit } from '../formats.ts';
import { actingFor } from '../parameters.ts';
import { grantConsumption, logVersion } from '../resources/consumption.ts';
import {
  grantAllocation,
  grantAllocationRequest,
  grantList,
  grantState,
  revokeRequest,
  revokeResponse,
} from '../resources/grant.ts';
import { defineRoute, json } from '../route.ts';

export const grantRoutes = {
  allocateGrant: defineRoute({
    method: 'post',
    path: '/grants',
    tag: 'Grants',
    summary: 'Reserve a Grant',
    description: [
      'The first step of issuing a Grant: reserves its id and its place in a revocation list that the service signs.',
      'Put `id` and `credentialStatus` into the Grant unchanged, sign it with one of your active keys, and give it to',
      'the Agent. A reserved Grant that is never signed allows nothing.',
    ].join('\n'),
    auth: ['principal'],
    limiter: 'authenticated',
    body: grantAllocationRequest,
    responses: { 201: json(grantAllocation, 'The reserved Grant id and status entry.') },
    errors: {
      FORBIDDEN:
        'The Principal has as many Grants as it may have before its domain is proven, or its org has made as many changes as it may make without a plan.',
    },
  }),

  listGrants: defineRoute({
    method: 'get',
    path: '/grants',
    tag: 'Grants',
    summary: 'List Grants',
    description: [
      'Newest first. A Principal key sees its own Grants, an org key those of its Principals, and the operator all.',
      'What a Grant allows, and until when, is signed by the Principal and is not listed here.',
    ].join('\n'),
    auth: ['principal', 'org', 'admin'],
    limiter: 'authenticated',
    query: z.strictObject({
      principal: didWeb.optional().meta({ description: 'Org keys: one member Principal. Admin: any.' }),
      agent: didKey.optional().meta({ description: 'Only Grants to this Agent.' }),
      state: grantState.optional(),
      limit: pageLimit,
      cursor: cursor.optional(),
    }),
    responses: { 200: json(grantList, 'One page of Grants.') },
    errors: { NOT_FOUND: 'This key may not read this Principal.' },
  }),

  getGrantConsumption: defineRoute({
    method: 'get',
    path: '/grants/{id}/consumption',
    tag: 'Grants',
    summary: 'Get the budgets of a Grant',
    description: [
      'The balances of the budgets of a Grant, and the log of the movements, newest first: verifications that were',
      'allowed under `svc-base-v2`, outcomes that gave an amount back, and corrections of these. Balances and `version`',
      'are of one instant. Replaying the log gives these balances, and the balances that a Receipt pins in',
      '`evidence.consumption`.',
      '',
      'Only for the Principal, its org, the operator, and relying parties that have verified the Grant, with their',
      'orgs.',
    ].join('\n'),
    auth: ['rp', 'principal', 'org', 'admin'],
    limiter: 'authenticated',
    params: z.strictObject({ id: grantId }),
    query: z.strictObject({ limit: pageLimit, cursor: logVersion.optional() }),
    responses: { 200: json(grantConsumption, 'The balances, and one page of the log.') },
    errors: { NOT_FOUND: 'This key may not see this Grant.' },
  }),

  revokeGrant: defineRoute({
    method: 'post',
    path: '/revoke',
    tag: 'Grants',
    summary: 'Revoke a Grant',
    description: [
      'Revokes a Grant for good. A 200 means that the revocation is visible everywhere: no verification that starts',
      'after it, and none still in progress, is allowed. You may repeat the call; it returns the time of the first',
      'revocation. A 503 means that the revocation may be recorded but is not yet visible: repeat the call.',
    ].join('\n'),
    auth: ['principal', 'org:admin'],
    limiter: 'authenticated',
    withdraws: true,
    query: actingFor,
    body: revokeRequest,
    responses: { 200: json(revokeResponse, 'Revoked, and visible everywhere.') },
    errors: {
      NOT_FOUND: 'Not a Grant of this Principal.',
      SERVICE_UNAVAILABLE:
        'Recorded but not yet visible to every verification, or storage is unreachable. Repeat the call.',
    },
  }),
} as const;
