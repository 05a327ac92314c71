/** Org, its members and its requests (interface §Org). */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { didWeb, displayName, orgId, slug, timestamp } from '../formats.ts';
import { verification } from './principal.ts';

const fields = { org_id: orgId, slug: z.string(), name: z.string(), created_at: timestamp };
const example = { org_id: EXAMPLE.orgId, slug: 'acme', name: 'Acme', created_at: EXAMPLE.at };

export const org = z.strictObject(fields).meta({ id: 'Org', example });

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

export const orgWithMembers = z.strictObject({ ...fields, members: z.array(orgMember) }).meta({
  id: 'OrgWithMembers',
  example: {
    ...example,
    members: [
      {
        did: EXAMPLE.relyingParty,
        kind: 'relying_party',
        created_at: EXAMPLE.at,
        name: 'Shop',
        proof_window_seconds: 60,
        verify_rate_limit_per_minute: 600,
      },
    ],
  },
});

export const orgCreateRequest = z
  .strictObject({ slug, name: displayName })
  .meta({ id: 'OrgCreateRequest', example: { slug: 'acme', name: 'Acme' } });

const memberKind = z.enum(['principal', 'relying_party']);

export const orgMemberRequest = z
  .strictObject({
    did: didWeb,
    kind: memberKind.optional().meta({
      description:
        'Which of the two to add, if the DID is both a Principal and a relying party and neither is in this org.',
    }),
  })
  .meta({ id: 'OrgMemberRequest', example: { did: EXAMPLE.relyingParty } });

export const orgMemberAdded = z.strictObject({ org_id: orgId, did: didWeb, kind: memberKind }).meta({
  id: 'OrgMemberAdded',
  example: { org_id: EXAMPLE.orgId, did: EXAMPLE.relyingParty, kind: 'relying_party' },
});
