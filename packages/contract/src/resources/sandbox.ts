/** Sandbox records (interface §Self-serve and sandbox records). */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import {
  compactJws,
  currency,
  didKey,
  didWeb,
  grantId,
  integer,
  receiptId,
  timestamp,
  uri,
} from '../formats.ts';
import { accessRequest, accessRequestExample } from './access-request.ts';
import { capability } from './receipt.ts';

/** The purchase to which the sandbox's Proofs are bound. */
export const purchaseAction = z
  .strictObject({
    type: z.literal('commerce:purchase'),
    resource: z.string().min(1),
    amount: integer(0, 1_000_000_000).meta({ description: 'In minor units.' }),
    currency,
  })
  .meta({ id: 'PurchaseAction' });

const request = z
  .strictObject({ method: z.string().optional(), url: uri.optional() })
  .meta({ description: 'The HTTP request that the Proof is bound to.' });

const sandbox = {
  principal: didWeb,
  agent: didKey,
  rp: didWeb,
  authority: capability,
  grant_lifetime_seconds: z.int(),
  request,
};

const example = {
  principal: 'did:web:svc.example:org:sandbox',
  agent: EXAMPLE.agent,
  rp: 'did:web:svc.example:rp:sandbox',
  authority: {
    action: 'commerce:purchase',
    constraints: { maxAmount: 50_000, currency: 'USD' },
    resources: ['sandbox/**'],
  },
  grant_lifetime_seconds: 3_600,
  request: { method: 'POST', url: 'https://shop.example/checkout' },
} as const;

export const demoInfo = z
  .strictObject({
    ...sandbox,
    amount_cap: z.int().meta({ description: 'The largest amount that `/demo/mint` accepts.' }),
    rate_limit_per_minute: z.int().meta({ description: 'The limit for all `/demo` calls from one address.' }),
  })
  .meta({
    id: 'DemoInfo',
    example: { ...example, amount_cap: 1_000_000_000, rate_limit_per_minute: 60 },
  });

export const demoMintRequest = z
  .strictObject({
    amount: integer(0, 1_000_000_000)
      .default(42_700)
      .meta({ description: 'In minor units of USD. Send more than the Grant allows to see a DENY.' }),
  })
  .meta({ id: 'DemoMintRequest', example: { amount: 42_700 } });

export const demoMint = z
  .strictObject({
    grant: compactJws,
    proof: compactJws,
    action: purchaseAction,
    grant_id: grantId,
    ...sandbox,
    valid_until: timestamp.meta({ description: 'The end of the Grant.' }),
  })
  .meta({
    id: 'DemoMint',
    example: {
      grant: EXAMPLE.jws,
      proof: EXAMPLE.jws,
      action: { type: 'commerce:purchase', resource: 'sandbox/order-1', amount: 42_700, currency: 'USD' },
      grant_id: EXAMPLE.grantId,
      ...example,
      valid_until: '2026-11-20T09:00:00Z',
    },
  });

export const demoApprovalRequest = z
  .strictObject({
    receipt_id: receiptId.meta({ description: 'The Receipt of a denial by `/demo/verify`.' }),
    proof: compactJws
      .max(8_192, { error: 'must be a Proof of at most 8,192 characters' })
      .meta({ description: 'The Proof that was denied.' }),
    approve: z.boolean().default(false).meta({
      description: 'True: the sandbox’s Principal approves at once. Otherwise it is only asked.',
    }),
  })
  .meta({
    id: 'DemoApprovalRequest',
    example: { receipt_id: EXAMPLE.receiptId, proof: EXAMPLE.jws, approve: false },
  });

export const demoApproval = z
  .strictObject({
    request: accessRequest,
    purchase: z
      .strictObject({ grant: compactJws, proof: compactJws, action: purchaseAction })
      .nullable()
      .meta({
        description:
          'For `/demo/verify`: the approving Grant, and a fresh Proof under it with each call. Null: the Principal was only asked.',
      }),
  })
  .meta({ id: 'DemoApproval', example: { request: accessRequestExample, purchase: null } });
