/** Usage per UTC day, decision statistics, public metrics (interface §Usage, audit, metrics; §DecisionStats). */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { apiKeyId, didWeb, sha256, timestamp } from '../formats.ts';
import { day } from './checkpoint.ts';

const count = z.int().min(0);
const counts = { verifies: count, allow: count, deny: count };
const reasons = z.record(z.string(), count).meta({ description: 'ReasonCode → number of DENYs.' });

const exampleCounts = { verifies: 2, allow: 1, deny: 1 };
const exampleReasons = { AMOUNT_EXCEEDS_AUTHORITY: 1 };

const keyUsage = z.strictObject(counts).meta({
  id: 'KeyUsage',
  description: 'The number of decisions that were requested with one API key.',
  example: exampleCounts,
});

const usageDay = z
  .strictObject({
    day: day.meta({ description: 'A UTC day. Days without a verification are listed too.' }),
    ...counts,
    reasons,
    keys: z.record(z.string(), keyUsage).optional().meta({
      description:
        'With `by=key`: API key id → its counts. `unknown` counts decisions from before keys were recorded.',
    }),
  })
  .meta({
    id: 'UsageDay',
    description: 'The decisions of one UTC day.',
    example: { day: '2026-11-20', ...exampleCounts, reasons: exampleReasons },
  });

export const usage = z
  .strictObject({
    since: timestamp,
    until: timestamp,
    rp: didWeb.optional(),
    principal: didWeb.optional(),
    rps: z.array(didWeb).optional().meta({ description: 'Org keys: the relying parties covered.' }),
    key_id: apiKeyId.optional(),
    totals: z.strictObject(counts),
    days: z.array(usageDay),
  })
  .meta({
    id: 'Usage',
    description: 'The number of decisions by UTC day of `evaluated_at`.',
    example: {
      since: '2026-11-20T00:00:00.000Z',
      until: '2026-11-21T00:00:00.000Z',
      rp: EXAMPLE.relyingParty,
      totals: exampleCounts,
      days: [{ day: '2026-11-20', ...exampleCounts, reasons: exampleReasons }],
    },
  });

const withOutcome = count.meta({ description: 'ALLOW Receipts with at least one attestation.' });

const principalStats = z
  .strictObject({
    principal: didWeb.nullable().meta({
      description: 'Null: decisions that ended before the Grant was authenticated.',
    }),
    ...counts,
    reasons,
    outcomes: z
      .record(z.string(), count)
      .meta({ description: 'Outcome type → number of attestations that are not corrected by another.' }),
    losses: z
      .record(z.string(), count)
      .meta({ description: 'Currency → sum of the reported losses that are not corrected, in minor units.' }),
    allow_with_outcome: withOutcome,
  })
  .meta({
    id: 'PrincipalStats',
    description: 'The decisions of a period against the Grants of one Principal. Losses are in minor units.',
  });

export const decisionStats = z
  .strictObject({
    since: timestamp,
    until: timestamp,
    rps: z
      .array(didWeb)
      .optional()
      .meta({ description: 'The relying parties covered; absent if all are covered.' }),
    totals: z.strictObject({ ...counts, allow_with_outcome: withOutcome }),
    principals: z.array(principalStats),
  })
  .meta({
    id: 'DecisionStats',
    description:
      'Decisions of a period by Principal, with the outcomes that were reported about them at any time.',
    example: {
      since: '2026-11-20T00:00:00.000Z',
      until: '2026-11-21T00:00:00.000Z',
      rps: [EXAMPLE.relyingParty],
      totals: { ...exampleCounts, allow_with_outcome: 1 },
      principals: [
        {
          principal: EXAMPLE.principal,
          ...exampleCounts,
          reasons: exampleReasons,
          outcomes: { loss_reported: 1 },
          losses: { USD: 42_700 },
          allow_with_outcome: 1,
        },
      ],
    },
  });

const kind = z.enum(['managed', 'hosted']);

export const metrics = z
  .strictObject({
    as_of: timestamp,
    service_did: didWeb,
    env: z.enum(['development', 'production']),
    principals: z.strictObject({
      verified: count,
      hosted_verified: count,
      hosted_unverified: count,
      managed: count,
    }),
    relying_parties: count,
    organizations: count,
    receipts_total: count,
    verifies: z.strictObject({
      window_days: count,
      since: timestamp,
      until: timestamp,
      ...counts,
      per_day: z.array(z.strictObject({ day, ...counts })),
    }),
    transparency: z.strictObject({
      latest_day: day.optional(),
      latest_root: sha256.optional(),
      latest_tree_size: count.optional(),
      checkpoints: count.optional(),
    }),
    named_principals: z
      .array(z.strictObject({ did: didWeb, domain: z.string(), kind }))
      .meta({ description: 'Verified Principals that consented to being named.' }),
    self_test: z
      .strictObject({ principals: count, relying_parties: count, organizations: count })
      .meta({ description: 'The operator’s own tenants, which no other number includes.' }),
  })
  .meta({
    id: 'Metrics',
    description: 'Aggregates over all customers; nothing about any one of them.',
    example: {
      as_of: EXAMPLE.at,
      service_did: 'did:web:svc.example',
      env: 'production',
      principals: { verified: 2, hosted_verified: 1, hosted_unverified: 0, managed: 1 },
      relying_parties: 1,
      organizations: 1,
      receipts_total: 2,
      verifies: {
        window_days: 1,
        since: '2026-11-20T00:00:00.000Z',
        until: '2026-11-21T00:00:00.000Z',
        ...exampleCounts,
        per_day: [{ day: '2026-11-20', ...exampleCounts }],
      },
      transparency: {},
      named_principals: [{ did: EXAMPLE.principal, domain: 'svc.example', kind: 'managed' }],
      self_test: { principals: 0, relying_parties: 0, organizations: 0 },
    },
  });
