/** The audit trail: who did what to what. Append-only; the database stamps the time. */
import type { AuditRepository } from '@svc/service';
import type { Database } from '../database.ts';

const insertSql = `
  insert into audit_events (event_id, actor_kind, actor_did, actor_key_id, action, target, request_id, details)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`;

export function auditRepository(database: Database): AuditRepository {
  return {
    async insert(event) {
      await database.write({
        text: insertSql,
        values: [
          event.eventId,
          event.actor.kind,
          event.actor.did,
          event.actor.keyId,
          event.action,
          event.target,
          event.requestId,
          JSON.stringify(event.details),
        ],
      });
    },
  };
}
