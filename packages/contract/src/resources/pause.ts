/** Pauses (protocol §9). */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { apiKeyId, didWeb, orgId, prose, timestamp } from '../formats.ts';

const SCOPES = ['grant', 'agent', 'principal', 'relying_party', 'org'] as const;

const subject = z
  .string({ error: 'must be a Grant id, a DID or an org id, as scope says' })
  .min(1, { error: 'must be a Grant id, a DID or an org id, as scope says' })
  .max(512, { error: 'must be a Grant id, a DID or an org id, as scope says' })
  .meta({ description: 'A Grant id, an Agent’s or a Principal’s or a relying party’s DID, or an org id.' });

const target = { scope: z.enum(SCOPES), subject };

export const pauseRequest = z.strictObject({ ...target, reason: prose(500).optional() }).meta({
  id: 'PauseRequest',
  example: { scope: 'grant', subject: EXAMPLE.grantId, reason: 'Spends more than was planned.' },
});

export const resumeRequest = z
  .strictObject({ ...target, reason: prose(500).optional() })
  .meta({ id: 'ResumeRequest', example: { scope: 'grant', subject: EXAMPLE.grantId } });

export const pauseScope = z.enum([...SCOPES, 'service']).meta({ id: 'PauseScope' });

const examplePause = {
  scope: 'grant',
  subject: EXAMPLE.grantId,
  principal: EXAMPLE.principal,
  reason: 'Spends more than was planned.',
  paused_by: { kind: 'principal', did: EXAMPLE.principal, key_id: EXAMPLE.keyId },
  paused_at: EXAMPLE.at,
};

export const pause = z
  .strictObject({
    scope: pauseScope,
    subject: z.string(),
    principal: didWeb
      .nullable()
      .meta({ description: 'The Principal to which the Grant or Agent belongs; null for all other scopes.' }),
    reason: z.string().nullable(),
    paused_by: z.strictObject({
      kind: z.enum(['admin', 'principal', 'rp', 'org', 'system']),
      did: z
        .union([didWeb, orgId])
        .nullable()
        .meta({ description: 'Null also if it is another org than the caller’s.' }),
      key_id: apiKeyId.nullable().meta({
        description:
          'Null also if it is not a key of the caller’s own subject. An org key also gets the key of its member to which the paused subject belongs; the operator gets every key.',
      }),
    }),
    paused_at: timestamp.nullable().meta({
      description:
        'No ALLOW is dated later than this. Null: the pause is recorded, but is not yet known to be visible everywhere; pause again.',
    }),
  })
  .meta({
    id: 'Pause',
    description: 'A pause: what is denied for now, although it is not revoked.',
    example: examplePause,
  });

export const resumed = z
  .strictObject({
    scope: pauseScope,
    subject: z.string(),
    paused: z.literal(false),
    resumed_at: timestamp.meta({
      description: 'No decision dated later than this is denied because of the pause.',
    }),
  })
  .meta({
    id: 'Resumed',
    example: { scope: 'grant', subject: EXAMPLE.grantId, paused: false, resumed_at: EXAMPLE.at },
  });

export const pauseList = z.strictObject({ pauses: z.array(pause), next_cursor: z.string().nullable() }).meta({
  id: 'PauseList',
  description:
    'One page of pauses, newest first. `next_cursor` is the `cursor` of the next page; null on the last page.',
  example: { pauses: [examplePause], next_cursor: null },
});
