/** What a verification would come to, with every check that fails and why (protocol §7). */
import { CHECKS } from '@svc/protocol';
import { z } from 'zod';
import { PROTOCOL_CHECKS, TRUST_CHECKS } from '../check-ids.ts';
import { didKey, didWeb, grantId, timestamp } from '../formats.ts';
import { capability, checkOutcome, reasonCode } from './receipt.ts';

const checkId = z.enum(CHECKS.map(({ id }) => id));

const comparison = z
  .strictObject({
    what: z.string().meta({ description: 'A member of Grant, Proof or Action, or what else was looked at.' }),
    found: z.string().meta({ description: 'What is there.' }),
    expected: z.string().meta({ description: 'What it was held against: a value, or in words.' }),
  })
  .meta({
    id: 'Comparison',
    example: { what: 'action.amount', found: '7000', expected: 'at most 5000 (maxAmount)' },
  });

const failedCheck = z
  .strictObject({
    check: checkId,
    title: z.string().meta({ description: 'What would have been true.' }),
    reason: reasonCode,
    compared: z.array(comparison),
    remedy: z.string().meta({ description: 'What to do, in a sentence.' }),
  })
  .meta({ id: 'FailedCheck' });

const condition = z
  .strictObject({
    check: z.enum(['P16', 'P17', 'P18', 'P19', 'P20']),
    holds: z.boolean(),
    compared: z.array(comparison),
  })
  .meta({ id: 'CapabilityCondition', description: 'What one check demands of a Capability.' });

const closest = z
  .strictObject({
    index: z.int().min(0).meta({ description: 'Its place in the Grant, from 0.' }),
    capability,
    conditions: z.array(condition).meta({ description: 'All five, in the order of the checks.' }),
  })
  .nullable()
  .meta({
    description:
      'The Capability that went furthest towards allowing it; null unless the Grant’s signature verifies and the Action is well formed.',
  });

const outcomes = z.strictObject(
  Object.fromEntries([...PROTOCOL_CHECKS, ...TRUST_CHECKS].map((id) => [id, checkOutcome])) as Record<
    (typeof PROTOCOL_CHECKS | typeof TRUST_CHECKS)[number],
    typeof checkOutcome
  >,
);

export const dryRun = z
  .strictObject({
    dry_run: z.literal('nothing was decided').meta({
      description: 'This is no Receipt and no decision: nothing was signed, spent or stored.',
    }),
    would: z.enum(['allow', 'deny']).meta({
      description:
        'What a verification would have come to at `evaluated_at`; the next moment it may be another.',
    }),
    reason: reasonCode.nullable(),
    remedy: z.string().nullable().meta({
      description:
        'What to do about `reason`, in a sentence; `reason` is that of the first check that fails.',
    }),
    evaluated_at: timestamp,
    relying_party: didWeb,
    principal: didWeb.nullable().meta({ description: 'Null unless the Grant’s signature verifies.' }),
    grant_id: grantId.nullable().meta({ description: 'Null unless the Grant’s signature verifies.' }),
    agent: didKey.nullable().meta({ description: 'Null unless the Proof’s signature verifies.' }),
    checks: outcomes,
    failed: z.array(failedCheck).meta({
      description:
        'Every check that fails, in their order. What one of them keeps others from judging is `skipped` in `checks`.',
    }),
    closest_capability: closest,
  })
  .meta({ id: 'DryRun', description: 'What a verification would come to. Unsigned, and never an ALLOW.' });
