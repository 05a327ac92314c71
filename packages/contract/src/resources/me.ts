/** Me (interface §API keys and caller identity). */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { apiKeyId, didWeb, keyId, orgId, timestamp } from '../formats.ts';
import { apiKeyRole } from './api-key.ts';
import { org, orgMember } from './org.ts';
import { verification } from './principal.ts';
import { keyState } from './signing-key.ts';

const signingKey = z.strictObject({ kid: keyId, state: keyState });

export const me = z
  .strictObject({
    subject: z.union([didWeb, orgId]),
    role: apiKeyRole,
    key_id: apiKeyId,
    service_did: didWeb,
    env: z.enum(['development', 'production']),
    key_label: z.string().nullable().optional(),
    key_created_at: timestamp.optional(),
    name: z.string().optional().meta({ description: 'Only for relying parties.' }),
    proof_window_seconds: z.int().optional().meta({ description: 'Only for relying parties.' }),
    kind: z.enum(['managed', 'hosted']).optional().meta({ description: 'Only for Principals.' }),
    verification: verification.optional(),
    keys: z.array(signingKey).optional().meta({ description: 'Only for Principals: the signing keys.' }),
    org_id: orgId.nullable().optional().meta({ description: 'Only for Principals and relying parties.' }),
    org: org.optional().meta({ description: 'Only for org keys.' }),
    members: z.array(orgMember).optional().meta({ description: 'Only for org keys.' }),
    scope: z
      .array(z.string())
      .optional()
      .meta({ description: 'Only for observer keys: the endpoints that the key may call.' }),
  })
  .meta({
    id: 'Me',
    description: 'The subject of the API key of this call, and the service’s record of it.',
    example: {
      subject: EXAMPLE.relyingParty,
      role: 'rp',
      key_id: EXAMPLE.keyId,
      service_did: 'did:web:svc.example',
      env: 'production',
      key_label: null,
      key_created_at: EXAMPLE.at,
      name: 'Shop',
      proof_window_seconds: 60,
    },
  });
