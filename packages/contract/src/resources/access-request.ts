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

/** An approval that completes as a Grant, in the profile's form for modes of others. */
export const GRANT_MODE = 'urn:svc:access-request:mode:grant';

export const accessRequestBody = z
  .strictObject({
    receipt_id: receiptId.meta({ description: 'The Receipt of your own denial.' }),
    proof: compactJws
      .max(8_192, { error: 'must be a Proof of at most 8,192 characters' })
      .meta({ description: 'The Proof that you verified: the Principal checks by it what its Agent wants.' }),
    expires_in_seconds: integer(60, 86_400).default(900).meta({ description: 'How long the Principal has.' }),
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
    '`denied`: the Principal said no. `cancelled`: the relying party took it back. All but `pending` stay.',
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
      status_endpoint: uri.meta({ description: 'Where the relying party reads it.' }),
      expires_at: timestamp.meta({ description: 'Until when the Principal can answer.' }),
      links: z.strictObject({ cancel: uri }),
    }),
    relying_party: didWeb,
    principal: didWeb,
    grant_id: grantId.meta({ description: 'The Grant under which it was denied.' }),
    agent: didKey,
    action: z.union([purchase, apiCall]).meta({ description: 'The Action that was denied.' }),
    capability: capability.meta({ description: 'What the Principal would sign: this Action alone, once.' }),
    receipt_id: receiptId.nullable().meta({
      description:
        'The denial that it began with. Null, as `proof`: recorded by a version that did not keep it; nobody should approve that.',
    }),
    proof: compactJws.nullable().meta({
      description: 'What the Agent signed for that Action. Its SHA-256 is the `proof_hash` of the Receipt.',
    }),
    requested_at: timestamp,
    decided_at: timestamp.nullable(),
    reason: z.string().nullable().meta({ description: 'The Principal’s, where it said no.' }),
    result: z
      .strictObject({
        mode: z.literal(GRANT_MODE),
        grant_id: grantId,
        grant: compactJws
          .nullable()
          .meta({ description: 'For the Agent, which signs a new Proof under it. Null: it has expired.' }),
        approved_until: timestamp,
      })
      .nullable()
      .meta({ description: 'What an approved request came to; null otherwise.' }),
  })
  .meta({
    id: 'AccessRequest',
    description:
      'The question whether one Action that was denied shall be allowed once, and what has become of it.',
    example: accessRequestExample,
  });

export const accessRequestList = z
  .strictObject({ requests: z.array(accessRequest), next_cursor: z.string().nullable() })
  .meta({
    id: 'AccessRequestList',
    description:
      'One page of requests, newest first. `next_cursor` is the `cursor` of the next, null on the last.',
    example: { requests: [accessRequestExample], next_cursor: null },
  });
