/** Audit events on the wire (interface §AuditEvent). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import type { StoredAuditRecord } from '@svc/service';

type AuditEvent = Body<Routes['listAudit'], 200>['events'][number];

/** Storage holds what the service wrote, so ids and actions are of the wire's forms already. */
export const presentAuditEvent = ({
  eventId,
  occurredAtMs,
  actor,
  action,
  target,
  requestId,
  details,
}: StoredAuditRecord): AuditEvent => ({
  event_id: eventId,
  occurred_at: formatTimestamp(occurredAtMs),
  actor: { kind: actor.kind, did: actor.did, key_id: actor.keyId },
  action: action as AuditEvent['action'],
  target,
  request_id: requestId,
  details: { ...details },
});
