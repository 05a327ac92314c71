/**
 * AuthZEN records (interface §AuthZEN records; OpenID AuthZEN Authorization API 1.0). Members that are not listed here
 * are ignored at every level, as AuthZEN demands.
 */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { compactJws, didKey, didWeb, jsonObject, receiptId, timestamp, uri } from '../formats.ts';
import { reasonCode, receiptPrincipal } from './receipt.ts';

const text = z.string({ error: 'must be a string' });
const named = text.min(1, { error: 'must not be empty' });

const subject = z
  .object({
    type: z.literal('agent', { error: 'must be "agent"' }),
    id: didKey.meta({ description: 'The Agent that signed the Proof.' }),
    properties: jsonObject.optional().meta({
      description:
        '`grant` and `proof`: the compact JWS that the Agent presented. Each may be in `context` instead; if it is in both, this one is used.',
    }),
  })
  .meta({ id: 'AuthZenSubject' });

const action = z
  .object({
    name: z.enum(['commerce:purchase', 'api:call'], { error: 'must be commerce:purchase or api:call' }),
    properties: jsonObject.optional().meta({
      description:
        'The other members of the Action: `amount` and `currency` of a purchase, `method` of a call. Never `type` or `resource`.',
    }),
  })
  .meta({ id: 'AuthZenAction' });

const resource = z
  .object({
    type: named,
    id: text.meta({ description: 'The resource of the Action: an order id, or the absolute URL called.' }),
    properties: jsonObject.optional(),
  })
  .meta({ id: 'AuthZenResource' });

const context = jsonObject.meta({
  description: '`grant` and `proof` may be here; all other members are ignored.',
});

const request = {
  subject: {
    type: 'agent',
    id: EXAMPLE.agent,
    properties: { grant: EXAMPLE.jws, proof: EXAMPLE.jws },
  },
  action: { name: 'commerce:purchase', properties: { amount: 4200, currency: 'USD' } },
  resource: { type: 'order', id: 'order/1001' },
};

export const authZenRequest = z
  .object({ subject, action, resource, context: context.optional() })
  .meta({ id: 'AuthZenRequest', example: request });

const MAX_EVALUATIONS = 50;
const SEMANTICS = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const;

/** Each item is checked separately, after the defaults are filled in; its faults are errors of this item only. */
export const authZenBatchRequest = z
  .object({
    subject: jsonObject.optional(),
    action: jsonObject.optional(),
    resource: jsonObject.optional(),
    context: jsonObject.optional(),
    evaluations: z
      .array(z.unknown(), { error: 'must be an array' })
      .max(MAX_EVALUATIONS, { error: `must have at most ${MAX_EVALUATIONS} items` })
      .optional()
      .meta({
        description:
          'Requests as for the endpoint of one evaluation. `subject`, `action`, `resource` and `context` beside this member are their defaults. Absent or empty: the body is one such request.',
      }),
    options: z
      .object({
        evaluations_semantic: z
          .enum(SEMANTICS, { error: `must be ${SEMANTICS.join(', ')}` })
          .optional()
          .meta({
            description:
              'Default `execute_all`. The other values stop early, and the answer has the items until then.',
          }),
      })
      .optional(),
  })
  .superRefine((body, check) => {
    if (body.evaluations !== undefined && body.evaluations.length > 0) return;
    const { error } = authZenRequest.safeParse(body, { reportInput: true });
    for (const issue of error?.issues ?? []) check.addIssue({ ...issue });
  })
  .meta({
    id: 'AuthZenBatchRequest',
    // The two forms of the body have different required members. The API reference cannot derive them from the check
    // above.
    anyOf: [
      { required: ['evaluations'], properties: { evaluations: { type: 'array', minItems: 1 } } },
      { required: ['subject', 'action', 'resource'] },
    ],
    example: {
      subject: { type: 'agent', id: EXAMPLE.agent },
      action: request.action,
      evaluations: [
        { resource: request.resource, context: request.subject.properties },
        { resource: { type: 'order', id: 'order/1002' }, context: request.subject.properties },
      ],
      options: { evaluations_semantic: 'deny_on_first_deny' },
    },
  });

const decided = {
  decision: true,
  context: {
    reason: null,
    receipt_id: EXAMPLE.receiptId,
    evaluated_at: EXAMPLE.at,
    relying_party: EXAMPLE.relyingParty,
    principal: { id: EXAMPLE.principal, verification: 'domain' },
    agent: EXAMPLE.agent,
    receipt: EXAMPLE.jws,
    receipt_url: `https://svc.example/decisions/${EXAMPLE.receiptId}`,
    issuer: 'did:web:svc.example',
  },
};

export const authZenResponse = z
  .strictObject({
    decision: z.boolean().meta({ description: 'True exactly if the Receipt says ALLOW.' }),
    context: z.strictObject({
      reason: reasonCode.nullable(),
      receipt_id: receiptId,
      evaluated_at: timestamp,
      relying_party: didWeb,
      principal: receiptPrincipal.optional(),
      agent: didKey.optional(),
      receipt: compactJws.meta({
        description: 'The signed Receipt; its payload contains all its other members.',
      }),
      receipt_url: uri.meta({ description: 'Where the decision can be read, with the key of this call.' }),
      issuer: didWeb.meta({ description: 'The service, whose DID document has the key of the Receipt.' }),
    }),
  })
  .meta({ id: 'AuthZenResponse', example: decided });

const failed = {
  decision: false,
  context: { error: { status: 400, message: 'body.evaluations[1].resource is missing.' } },
} as const;

const authZenFailure = z
  .strictObject({
    decision: z.literal(false),
    context: z.strictObject({
      error: z.strictObject({
        status: z
          .int()
          .meta({ description: 'The status that the endpoint of one evaluation would have answered.' }),
        message: z.string(),
      }),
    }),
  })
  .meta({
    id: 'AuthZenFailure',
    description: 'The error of an item that has no Receipt: nothing was allowed.',
    example: failed,
  });

const batchExample = { evaluations: [decided, failed] };

const authZenBatchResponse = z
  .strictObject({ evaluations: z.array(z.union([authZenResponse, authZenFailure])) })
  .meta({ id: 'AuthZenBatchResponse', example: batchExample });

/** A request without items is answered as by the single endpoint. */
export const authZenAnswer = z
  .union([authZenBatchResponse, authZenResponse])
  .meta({ id: 'AuthZenAnswer', example: batchExample });

export const authZenConfiguration = z
  .strictObject({
    policy_decision_point: uri,
    access_evaluation_endpoint: uri,
    access_evaluations_endpoint: uri,
    svc: z.strictObject({
      issuer: didWeb,
      profiles: z.array(z.string()),
      proof_types: z.array(z.string()),
      receipt_version: z.string(),
    }),
  })
  .meta({
    id: 'AuthZenConfiguration',
    example: {
      policy_decision_point: 'https://svc.example',
      access_evaluation_endpoint: 'https://svc.example/access/v1/evaluation',
      access_evaluations_endpoint: 'https://svc.example/access/v1/evaluations',
      svc: {
        issuer: 'did:web:svc.example',
        profiles: ['svc-base-v1'],
        proof_types: ['svc-proof+jwt'],
        receipt_version: 'svc-receipt-v1',
      },
    },
  });
