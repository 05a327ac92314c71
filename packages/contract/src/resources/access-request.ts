/** Access requests (protocol §16), with the `task` and `result` of the AuthZEN access request profile. */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import {
  accessRequestId,
  compactJws,
  currency,
  didKey,
  didWeb,
  grantId,
  integer,
  prose,
  receiptId,
  timestamp,
  uri,
} from '../formats.ts';
import { capability } from './receipt.ts';

const REQUEST_ID = 'arq_01M7VZGC008Q2R7V9X1C4E6H8S';

/**
 * The mode of an approval whose result is a Grant, in the form that the profile gives to modes which it does not define
 * itself.
 */
export const GRANT_MODE = 'urn:svc:access-request:mode:grant';

export const accessRequestBody = z
  .strictObject({
    receipt_id: receiptId.meta({ description: 'The Receipt of your own denial.' }),
    proof: compactJws.max(8_192, { error: 'must be a Proof of at most 8,192 characters' }).meta({
      description: 'The Proof that you verified. With it the Principal checks what its Agent requested.',
    }),
    expires_in_seconds: integer(60, 86_400)
      .default(900)
      .meta({ description: 'How much time the Principal has to answer.' }),
  })
  .meta({
    id: 'AccessRequestBody',
    example: { receipt_id: EXAMPLE.receiptId, proof: EXAMPLE.jws, expires_in_seconds: 900 },
  });

export const approveBody = z
  .strictObject({
    grant: compactJws.max(16_384, { error: 'must be a Grant of at most 16,384 characters' }),
  })
  .meta({ id: 'ApproveBody', example: { grant: EXAMPLE.jws } });

export const rejectBody = z
  .strictObject({ reason: prose(500).optional() })
  .meta({ id: 'RejectBody', example: { reason: 'Not this month.' } });

export const accessRequestStatus = z.enum(['pending', 'approved', 'denied', 'expired', 'cancelled']).meta({
  id: 'AccessRequestStatus',
  description:
    '`denied`: the Principal rejected it. `cancelled`: the relying party cancelled it. Only `pending` can change.',
});

const purchase = z.strictObject({
  type: z.literal('commerce:purchase'),
  resource: z.string(),
  amount: z.int().min(0),
  currency,
});
const apiCall = z.strictObject({ type: z.literal('api:call'), method: z.string(), resource: z.string() });

export const accessRequestExample = {
  task: {
    id: REQUEST_ID,
    status: 'pending',
    status_endpoint: `https://svc.example/access/v1/requests/${REQUEST_ID}`,
    expires_at: '2026-11-20T08:15:00.000Z',
    links: { cancel: `https://svc.example/access/v1/requests/${REQUEST_ID}/cancel` },
  },
  relying_party: EXAMPLE.relyingParty,
  principal: EXAMPLE.principal,
  grant_id: EXAMPLE.grantId,
  agent: EXAMPLE.agent,
  action: { type: 'commerce:purchase', resource: 'order/7', amount: 90_000, currency: 'USD' },
  capability: {
    action: 'commerce:purchase',
    constraints: { maxAmount: 90_000, currency: 'USD', maxUses: 1 },
    resources: ['order/7'],
  },
  receipt_id: EXAMPLE.receiptId,
  proof: EXAMPLE.jws,
  requested_at: EXAMPLE.at,
  decided_at: null,
  reason: null,
  result: null,
};

export const accessRequest = z
  .strictObject({
    task: z.strictObject({
      id: accessRequestId,
      status: accessRequestStatus,
      status_endpoint: uri.meta({ description: 'Where the relying party reads the request.' }),
      expires_at: timestamp.meta({ description: 'The time until which the Principal can answer.' }),
      links: z.strictObject({ cancel: uri }),
    }),
    relying_party: didWeb,
    principal: didWeb,
    grant_id: grantId.meta({ description: 'The Grant under which the Action was denied.' }),
    agent: didKey,
    action: z.union([purchase, apiCall]).meta({ description: 'The Action that was denied.' }),
    capability: capability.meta({ description: 'What the Principal would sign: only this Action, once.' }),
    receipt_id: receiptId.nullable().meta({
      description:
        'The denial that the request is about. `receipt_id` and `proof` are null in a request that was recorded by a version that did not keep them; do not approve such a request.',
    }),
    proof: compactJws.nullable().meta({
      description: 'What the Agent signed for that Action. Its SHA-256 is the `proof_hash` of the Receipt.',
    }),
    requested_at: timestamp,
    decided_at: timestamp.nullable(),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'The reason of the Principal, if it rejected the request.' }),
    result: z
      .strictObject({
        mode: z.literal(GRANT_MODE),
        grant_id: grantId,
        grant: compactJws.nullable().meta({
          description: 'Pass it to the Agent, which signs a new Proof under it. Null: the Grant has expired.',
        }),
        approved_until: timestamp,
      })
      .nullable()
      .meta({ description: 'The result of an approved request; null otherwise.' }),
  })
  .meta({
    id: 'AccessRequest',
    description: 'A request to allow one denied Action once, and its state.',
    example: accessRequestExample,
  });

export const accessRequestList = z
  .strictObject({ requests: z.array(accessRequest), next_cursor: z.string().nullable() })
  .meta({
    id: 'AccessRequestList',
    description:
      'One page of requests, newest first. `next_cursor` is the `cursor` of the next page; null on the last page.',
    example: { requests: [accessRequestExample], next_cursor: null },
  });
