/** The activity on a Principal's Grants (protocol §13). */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { didKey, timestamp } from '../formats.ts';

const count = z.int().min(0);

const group = z
  .strictObject({
    subject: z
      .string()
      .nullable()
      .meta({ description: 'An Agent’s DID, a Grant id, or a relying party’s DID, as asked for.' }),
    agent: didKey
      .nullable()
      .meta({ description: 'With `by=grant`: the Agent that the Grant names. Otherwise null.' }),
    verifies: count,
    allow: count,
    deny: count,
    reasons: z.record(z.string(), count).meta({ description: 'ReasonCode → number of DENYs.' }),
    allowed_amounts: z
      .record(z.string(), count)
      .meta({ description: 'Currency → sum of the amounts that were allowed, in minor units.' }),
    first_at: timestamp.meta({ description: 'The time of the first counted decision.' }),
    last_at: timestamp,
  })
  .meta({ id: 'ActivityGroup', description: 'The decisions of one group.' });

export const principalActivity = z
  .strictObject({
    since: timestamp,
    until: timestamp,
    by: z.enum(['agent', 'grant', 'rp']),
    counted: count.meta({ description: 'The number of counted decisions.' }),
    complete: z
      .boolean()
      .meta({ description: 'False: the period has more decisions, all older than the counted ones.' }),
    groups_total: count.meta({ description: 'The number of groups; the largest 200 are listed.' }),
    groups: z.array(group),
  })
  .meta({
    id: 'PrincipalActivity',
    description: 'The decisions of a period about a Principal’s own Grants, grouped.',
    example: {
      since: '2026-11-20T00:00:00.000Z',
      until: '2026-11-21T00:00:00.000Z',
      by: 'agent',
      counted: 2,
      complete: true,
      groups_total: 1,
      groups: [
        {
          subject: EXAMPLE.agent,
          agent: null,
          verifies: 2,
          allow: 1,
          deny: 1,
          reasons: { AMOUNT_EXCEEDS_AUTHORITY: 1 },
          allowed_amounts: { USD: 42_700 },
          first_at: EXAMPLE.at,
          last_at: EXAMPLE.at,
        },
      ],
    },
  });
