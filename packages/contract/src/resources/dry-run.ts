/** The predicted result of a verification, with every check that fails and why (protocol §7). */
import { CHECK_IDS } from '@svc/protocol';
import { EXPLAINED, REMEDIES } from '@svc/protocol/explain';
import { z } from 'zod';
import { isInEveryProfile, PROTOCOL_CHECKS, TRUST_CHECKS } from '../check-ids.ts';
import { EXAMPLE } from '../examples.ts';
import { didKey, didWeb, grantId, timestamp } from '../formats.ts';
import { capability, outcomes, reasonCode } from './receipt.ts';

const checkId = z.enum(CHECK_IDS);

const exampleComparison = {
  what: 'action.amount',
  found: '7000',
  expected: 'at most 5000 (maxAmount)',
};

const comparison = z
  .strictObject({
    what: z
      .string()
      .meta({ description: 'The compared value: a member of Grant, Proof or Action, or another fact.' }),
    found: z.string().meta({ description: 'The value that was found.' }),
    expected: z
      .string()
      .meta({ description: 'The value that it was compared with, or a description of it.' }),
  })
  .meta({
    id: 'Comparison',
    example: exampleComparison,
  });

const failedCheck = z
  .strictObject({
    check: checkId,
    title: z.string().meta({ description: 'The condition that the check requires.' }),
    reason: reasonCode,
    compared: z.array(comparison),
    remedy: z.string().meta({ description: 'What to do, in one sentence.' }),
  })
  .meta({ id: 'FailedCheck' });

const condition = z
  .strictObject({
    check: z.enum(CHECK_IDS.filter((id) => EXPLAINED[id].judge !== undefined)),
    holds: z.boolean(),
    compared: z.array(comparison),
  })
  .meta({ id: 'CapabilityCondition', description: 'The condition that one check sets for a Capability.' });

const closest = z
  .strictObject({
    index: z.int().min(0).meta({ description: 'Its index in the Grant, from 0.' }),
    capability,
    conditions: z.array(condition).meta({ description: 'All five, in the order of the checks.' }),
  })
  .nullable()
  .meta({
    description:
      'The Capability that came closest to allowing the Action; null unless the Grant’s signature verifies and the Action is well formed.',
  });

export const dryRun = z
  .strictObject({
    dry_run: z.literal('nothing was decided').meta({
      description: 'This is not a Receipt and not a decision: nothing was signed, spent or stored.',
    }),
    would: z.enum(['allow', 'deny']).meta({
      description:
        'What a verification would have answered at `evaluated_at`; a moment later it may be different.',
    }),
    reason: reasonCode.nullable(),
    remedy: z.string().nullable().meta({
      description:
        'What to do about `reason`, in one sentence; `reason` is that of the first check that fails.',
    }),
    evaluated_at: timestamp,
    relying_party: didWeb,
    principal: didWeb.nullable().meta({ description: 'Null unless the Grant’s signature verifies.' }),
    grant_id: grantId.nullable().meta({ description: 'Null unless the Grant’s signature verifies.' }),
    agent: didKey.nullable().meta({ description: 'Null unless the Proof’s signature verifies.' }),
    checks: outcomes([...PROTOCOL_CHECKS, ...TRUST_CHECKS]),
    failed: z.array(failedCheck).meta({
      description:
        'Every check that fails, in order. Checks that a failed check keeps from running are `skipped` in `checks`.',
    }),
    closest_capability: closest,
  })
  .meta({
    id: 'DryRun',
    description: 'What a verification would answer. Unsigned, and never an ALLOW.',
    example: {
      dry_run: 'nothing was decided',
      would: 'deny',
      reason: 'AMOUNT_EXCEEDS_AUTHORITY',
      remedy: REMEDIES.AMOUNT_EXCEEDS_AUTHORITY,
      evaluated_at: EXAMPLE.at,
      relying_party: EXAMPLE.relyingParty,
      principal: EXAMPLE.principal,
      grant_id: EXAMPLE.grantId,
      agent: EXAMPLE.agent,
      checks: {
        ...Object.fromEntries(
          [...PROTOCOL_CHECKS, ...TRUST_CHECKS].filter(isInEveryProfile).map((id) => [id, true]),
        ),
        P19: false,
        P20: 'skipped',
        T5: 'skipped',
      },
      failed: [
        {
          check: 'P19',
          title: 'some survivor allows the amount (api:call: always)',
          reason: 'AMOUNT_EXCEEDS_AUTHORITY',
          compared: [exampleComparison],
          remedy: REMEDIES.AMOUNT_EXCEEDS_AUTHORITY,
        },
      ],
      closest_capability: {
        index: 0,
        capability: {
          action: 'commerce:purchase',
          constraints: { currency: 'USD', maxAmount: 5000 },
          resources: ['order/*'],
        },
        conditions: [
          {
            check: 'P16',
            holds: true,
            compared: [{ what: 'action.type', found: 'commerce:purchase', expected: 'commerce:purchase' }],
          },
          {
            check: 'P17',
            holds: true,
            compared: [
              { what: 'constraints', found: 'currency, maxAmount', expected: 'none but currency, maxAmount' },
            ],
          },
          {
            check: 'P18',
            holds: true,
            compared: [{ what: 'action.currency', found: 'USD', expected: 'USD' }],
          },
          { check: 'P19', holds: false, compared: [exampleComparison] },
          {
            check: 'P20',
            holds: true,
            compared: [{ what: 'action.resource', found: 'order/1001', expected: 'order/*' }],
          },
        ],
      },
    },
  });
