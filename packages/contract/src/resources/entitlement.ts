/** What an org may verify in production, as the console sends it and as it is stored (interface §Entitlement). */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { instant, integer, orgId, timestamp } from '../formats.ts';

const production = z.enum(['allowed', 'blocked']);
const reason = z.enum(['trial', 'paid', 'past_due_grace', 'canceled', 'comp', 'none']);

/** The API reference needs the type here, because the schema's output is a number. */
const instantOrNull = (description: string) =>
  instant.nullable().meta({ type: ['string', 'null'], description });

const pushed = {
  production: 'allowed',
  production_until: '2026-12-20T08:00:00.000Z',
  check_cap: 1_000,
  cap_since: EXAMPLE.at,
  reason: 'trial',
  as_of: EXAMPLE.at,
};

export const entitlementRequest = z
  .strictObject({
    production,
    production_until: instantOrNull('Production checks stop at this instant; null: no end.'),
    check_cap: integer(0, 1_000_000_000).nullable().meta({
      description: 'The number of production checks since `cap_since` that the plan covers; null: no cap.',
    }),
    cap_since: instantOrNull('Required with `check_cap`. A new value starts a fresh count.'),
    reason,
    as_of: instant.meta({
      description:
        'The time at which the console had this state: at most five minutes ahead of the service’s clock.',
    }),
  })
  .refine(({ check_cap, cap_since }) => check_cap === null || cap_since !== null, {
    path: ['cap_since'],
    error: 'must be a time where check_cap is a number: checks are counted from then on',
  })
  .meta({ id: 'EntitlementRequest', example: pushed });

export const entitlement = z
  .strictObject({
    org_id: orgId,
    stored: z.boolean().meta({
      description:
        'Whether an entitlement was ever pushed. If plans are enforced, an org without a row has no plan.',
    }),
    production: production.nullable(),
    production_until: timestamp.nullable(),
    check_cap: z.int().nullable(),
    cap_since: timestamp.nullable(),
    reason: reason.nullable(),
    as_of: timestamp.nullable(),
    updated_at: timestamp.nullable(),
    production_checks_since_cap: z.int().nullable().meta({ description: 'Null without a cap.' }),
    comp: z.boolean().meta({ description: 'This org never needs a plan.' }),
    effective: production.meta({ description: 'What the next production check will be answered.' }),
    effective_detail: z.string().nullable().meta({ description: 'The reason, for people.' }),
    enforced: z.boolean().meta({
      description: 'True: blocked checks are refused with 402. False: they are only logged.',
    }),
    applied: z.boolean().optional().meta({
      description: 'Only for PUT: false if a newer push is stored, which this push does not change.',
    }),
  })
  .meta({
    id: 'Entitlement',
    example: {
      org_id: EXAMPLE.orgId,
      stored: true,
      ...pushed,
      updated_at: EXAMPLE.at,
      production_checks_since_cap: 17,
      comp: false,
      effective: 'allowed',
      effective_detail: null,
      enforced: true,
    },
  });
