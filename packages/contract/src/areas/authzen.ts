/** OpenID AuthZEN Authorization API 1.0 over `/verify` (interface §Endpoints, Verify). */
import { z } from 'zod';
import { idempotencyKey, repeatHeader } from '../formats.ts';
import {
  authZenAnswer,
  authZenBatchRequest,
  authZenConfiguration,
  authZenRequest,
  authZenResponse,
} from '../resources/authzen.ts';
import { defineRoute, json } from '../route.ts';

/** Room for fifty items of 5 KB. An item seldom needs that much, even with a Grant and a Proof of its own. */
const MAX_BATCH_BYTES = 262_144;

export const authZenRoutes = {
  evaluateAccess: defineRoute({
    method: 'post',
    path: '/access/v1/evaluation',
    tag: 'AuthZEN',
    summary: 'Evaluate one access',
    description: [
      '`POST /verify` for clients that use AuthZEN: the same checks, Receipts and limits. Put the Grant and the Proof',
      'that the Agent presented into `subject.properties` or into `context`; `subject.id` is the Agent that signed the',
      'Proof. The Action is `action.name`, `action.properties` and `resource.id`. Anything wrong inside the Grant, the',
      'Proof or the Action is evaluated: `decision` is false, and `context.reason` says why. Other members are ignored.',
    ].join('\n'),
    auth: ['rp'],
    limiter: 'verify',
    headers: z.strictObject({
      'idempotency-key': idempotencyKey
        .optional()
        .meta({ description: 'As for `POST /verify`: repeating the request returns the same Receipt.' }),
    }),
    body: authZenRequest,
    bodyReading: 'authzen',
    responses: { 200: json(authZenResponse, 'The decision, with its Receipt.', repeatHeader) },
    errors: {
      INVALID_REQUEST:
        'The request does not map to a verification, or is not `application/json`. Nothing was evaluated.',
      UNAUTHORIZED:
        'Not a live key of a relying party. A key is not live while its DID is claimed by its org and not proven yet.',
      PLAN_REQUIRED:
        'No plan of the org covers this check. Nothing was evaluated, and the Proof is not spent.',
      CONFLICT: 'This `Idempotency-Key` was used with another body in the last ten minutes.',
    },
  }),

  evaluateAccesses: defineRoute({
    method: 'post',
    path: '/access/v1/evaluations',
    tag: 'AuthZEN',
    summary: 'Evaluate several accesses',
    description: [
      'Evaluates up to 50 items in one call and answers them in order, each with its own Receipt. Members beside',
      '`evaluations` are defaults: an item’s own member replaces the whole default, and nothing inside it is merged. An',
      'item that does not map to a verification, or could not be evaluated, has `decision` false and `context.error`;',
      'the other items are not affected. Each item counts against the rate limit: a batch that does not fit is refused',
      'as a whole. The body may have 256 KB.',
      '',
      '`deny_on_first_deny` and `permit_on_first_permit` evaluate one item after the other and stop at the first such',
      'decision. The service begins no further item after the connection is closed. Each item has its own 1.7 s in',
      'which it is answered. Without `evaluations`, the call and its answer are those of `POST /access/v1/evaluation`.',
    ].join('\n'),
    auth: ['rp'],
    limiter: 'verify',
    body: authZenBatchRequest,
    bodyReading: 'authzen',
    maxBodyBytes: MAX_BATCH_BYTES,
    responses: {
      200: json(authZenAnswer, 'The decisions, as far as evaluated.'),
    },
    errors: {
      INVALID_REQUEST:
        'The batch as a whole is malformed, or is not `application/json`. Nothing was evaluated.',
      PAYLOAD_TOO_LARGE: 'The body is larger than 256 KB.',
      UNAUTHORIZED:
        'Not a live key of a relying party. A key is not live while its DID is claimed by its org and not proven yet; in a batch each item says so.',
      PLAN_REQUIRED: 'Only for a call without `evaluations`: no plan of the org covers this check.',
    },
  }),

  getAuthZenConfiguration: defineRoute({
    method: 'get',
    path: '/.well-known/authzen-configuration',
    tag: 'AuthZEN',
    summary: 'Metadata of the policy decision point',
    description: 'Lists the AuthZEN endpoints. `svc` names what is needed to check their Receipts.',
    auth: [],
    limiter: 'public',
    responses: {
      200: json(authZenConfiguration, 'The metadata.', { 'Cache-Control': 'How long it may be kept.' }),
    },
    errors: {},
  }),
} as const;
