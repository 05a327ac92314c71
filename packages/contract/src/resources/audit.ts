/** The audit log (interface §Usage, audit, metrics). Verify decisions are Receipts, not audit events. */
import { ULID_PATTERN } from '@svc/codec';
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { apiKeyId, didWeb, orgId, timestamp } from '../formats.ts';

const AUDIT_ACTIONS = [
  'principal.create',
  'principal.verify',
  'relying_party.create',
  'api_key.create',
  'api_key.revoke',
  'agent.register',
  'agent.disable',
  'grant.allocate',
  'grant.revoke',
  'key.compromise',
  'sandbox.create',
  'key.retire',
  'relying_party.update',
  'outcome.report',
  'pause.set',
  'pause.lift',
  'approval.request',
  'approval.approve',
  'approval.reject',
  'approval.cancel',
  'clock.repair',
  'restore.release',
  'service_did.change',
  'subscription.create',
  'subscription.rotate',
  'subscription.disable',
  'subscription.enable',
  'subscription.delete',
  'stream.create',
  'stream.update',
  'stream.status',
  'stream.delete',
] as const;

export const auditAction = z
  .enum(AUDIT_ACTIONS, { error: 'must be an audit action such as grant.revoke' })
  .meta({ id: 'AuditAction' });

const event = {
  event_id: 'aud_01M7VZGC008Q2R7V9X1C4E6H8N',
  occurred_at: EXAMPLE.at,
  actor: { kind: 'principal', did: EXAMPLE.principal, key_id: EXAMPLE.keyId },
  action: 'grant.revoke',
  target: EXAMPLE.grantId,
  request_id: '0d3c0f1e-5a8e-4a2b-9a57-6f1f1f0f7c11',
  details: {},
};

const auditEvent = z
  .strictObject({
    event_id: z.string().regex(new RegExp(`^aud_${ULID_PATTERN}$`)),
    occurred_at: timestamp,
    actor: z.strictObject({
      kind: z.enum(['admin', 'principal', 'rp', 'org', 'system']),
      did: z.union([didWeb, orgId]).nullable().meta({ description: 'DID of the subject, or org id.' }),
      key_id: apiKeyId.nullable(),
    }),
    action: auditAction,
    target: z
      .string()
      .nullable()
      .meta({ description: 'The target of the event: a DID, or the id of a Grant or key.' }),
    request_id: z.string().nullable().meta({ description: '`Svc-Request-Id` of the call.' }),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({
    id: 'AuditEvent',
    description:
      'What a caller did with an API key, or what the service did by itself. Audit events never change.',
    example: event,
  });

export const auditList = z
  .strictObject({ events: z.array(auditEvent), next_cursor: z.string().nullable() })
  .meta({
    id: 'AuditList',
    description:
      'One page of the audit log, newest first. `next_cursor` is the `cursor` of the next page; null on the last page.',
    example: { events: [event], next_cursor: null },
  });
