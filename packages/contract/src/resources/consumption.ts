/** What a Grant has used up of its budgets (interface §Consumable Grants). */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { didKey, didWeb, grantId, integer, receiptId, sha256, timestamp } from '../formats.ts';

const MAX = Number.MAX_SAFE_INTEGER;
const count = integer(0, MAX);
const delta = integer(-MAX, MAX);
const limits = z.strictObject({
  total: count.nullable(),
  per_period: count.nullable(),
  uses: count.nullable(),
});

const key = sha256.meta({
  description: 'SHA-256 over the JCS form of the Capability: two equal Capabilities share one budget.',
});

const window = timestamp.nullable().meta({
  description: 'The first instant of the UTC calendar window; null if the budget has no period.',
});

const balance = z
  .strictObject({
    key,
    spent_total: count,
    spent_in_period: count.meta({ description: 'In the window that began at `period_start`.' }),
    period_start: window,
    uses_spent: count,
    limits: limits.meta({ description: 'The limits at the last consumption; null: not limited.' }),
    remaining: limits.meta({
      description: 'What is left in the window of `period_start`, even if that window has passed.',
    }),
    updated_at: timestamp,
  })
  .meta({
    id: 'ConsumptionBalance',
    description: 'What has been used of one budget. Amounts are in minor units.',
  });

const event = z
  .strictObject({
    version: integer(1, MAX).meta({
      description: 'The number of this event of the Grant, from 1 without a gap.',
    }),
    key,
    delta_total: delta.meta({ description: 'In minor units; negative for a restore.' }),
    delta_period: delta,
    delta_uses: delta,
    period_start: window,
    cause: z.enum(['consume', 'restore', 'restore_reversal']),
    cause_id: z
      .string()
      .regex(/^(drc|oat)_/)
      .meta({
        description: 'The Receipt of a consumption; the attestation of a restore and of its reversal.',
      }),
    receipt_id: receiptId.meta({ description: 'The Receipt of the consumption.' }),
    recorded_at: timestamp,
  })
  .meta({
    id: 'ConsumptionEvent',
    description: 'One movement of a budget. Entries of the log never change.',
  });

export const logVersion = z
  .string({ error: 'must be the next_cursor of the previous page' })
  .regex(/^[1-9][0-9]{0,15}$/, { error: 'must be the next_cursor of the previous page' })
  .transform(Number)
  .refine(Number.isSafeInteger, { error: 'must be the next_cursor of the previous page' })
  .meta({
    type: 'integer',
    minimum: 1,
    description: 'The `next_cursor` of the previous page: a log version.',
  });

export const grantConsumption = z
  .strictObject({
    grant_id: grantId,
    principal: didWeb,
    agent: didKey,
    version: count.meta({ description: 'The version of the log; 0 if nothing was ever consumed.' }),
    as_of: timestamp,
    snapshot_hash: sha256.meta({
      description: 'SHA-256 over the JCS form of `{grant_id, version, capabilities}`, as Receipts pin it.',
    }),
    capabilities: z.array(balance).meta({ description: 'In ascending order of `key`.' }),
    events: z.array(event).meta({ description: 'Newest first.' }),
    next_cursor: integer(1, MAX).nullable(),
  })
  .meta({
    id: 'GrantConsumption',
    description: 'Every balance of a Grant, and one page of the movements that led to it.',
    example: {
      grant_id: EXAMPLE.grantId,
      principal: EXAMPLE.principal,
      agent: EXAMPLE.agent,
      version: 1,
      as_of: EXAMPLE.at,
      snapshot_hash: `sha256:${'7'.repeat(64)}`,
      capabilities: [
        {
          key: `sha256:${'8'.repeat(64)}`,
          spent_total: 42_700,
          spent_in_period: 42_700,
          period_start: '2026-11-20T00:00:00.000Z',
          uses_spent: 1,
          limits: { total: 500_000, per_period: 100_000, uses: null },
          remaining: { total: 457_300, per_period: 57_300, uses: null },
          updated_at: EXAMPLE.at,
        },
      ],
      events: [
        {
          version: 1,
          key: `sha256:${'8'.repeat(64)}`,
          delta_total: 42_700,
          delta_period: 42_700,
          delta_uses: 1,
          period_start: '2026-11-20T00:00:00.000Z',
          cause: 'consume',
          cause_id: EXAMPLE.receiptId,
          receipt_id: EXAMPLE.receiptId,
          recorded_at: EXAMPLE.at,
        },
      ],
      next_cursor: null,
    },
  });
