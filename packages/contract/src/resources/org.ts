/** Org and its members, as `GET /me` shows them to an org key (interface §Org). */
import { z } from 'zod';
import { didWeb, orgId, timestamp } from '../formats.ts';
import { verification } from './principal.ts';

export const org = z
  .strictObject({ org_id: orgId, slug: z.string(), name: z.string(), created_at: timestamp })
  .meta({ id: 'Org' });

export const orgMember = z
  .discriminatedUnion('kind', [
    z.strictObject({
      did: didWeb,
      kind: z.literal('principal'),
      created_at: timestamp,
      principal_kind: z.enum(['managed', 'hosted']),
      domain: z.string(),
      verification_state: z.enum(['verified', 'unverified']),
      verification,
    }),
    z.strictObject({
      did: didWeb,
      kind: z.literal('relying_party'),
      created_at: timestamp,
      name: z.string(),
      proof_window_seconds: z.int(),
      verify_rate_limit_per_minute: z.int(),
    }),
  ])
  .meta({ id: 'OrgMember' });
