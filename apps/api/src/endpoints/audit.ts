/** The audit log (interface §AuditEvent). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import { type AuditAction, listAudit, type ServiceDeps, type StoredAuditRecord } from '@svc/service';
import type { HandlersOf } from '../http/index.ts';

export const auditEndpoints = (deps: ServiceDeps): HandlersOf<'audit'> => ({
  listAudit: async ({ caller, query }) => {
    const { items, nextCursor } = await listAudit(deps, caller, query);
    return { status: 200, body: { events: items.map(presentAuditEvent), next_cursor: nextCursor } };
  },
});

type AuditEvent = Body<Routes['listAudit'], 200>['events'][number];

/**
 * The service wrote what storage holds, so ids already have the form of the interface. An action is one that this
 * version writes, of which the compiler refuses any that the contract does not have; or one of a later version, which
 * is shown as stored.
 */
const presentAuditEvent = ({
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
  action: action as AuditAction,
  target,
  request_id: requestId,
  details: { ...details },
});
