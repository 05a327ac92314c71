/** The audit trail: who did what to what. Append-only; the database stamps the time. */
import type { AuditFilter, AuditRecord, AuditRepository, StoredAuditRecord } from '@svc/service';
import { Conditions } from '../conditions.ts';
import type { Database } from '../database.ts';

const insertSql = `
  insert into audit_events (event_id, actor_kind, actor_did, actor_key_id, action, target, request_id, details)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[])`;

export function auditRepository(database: Database): AuditRepository {
  const insertAll = async (events: readonly AuditRecord[]): Promise<void> => {
    await database.write({
      text: insertSql,
      values: [
        events.map(({ eventId }) => eventId),
        events.map(({ actor }) => actor.kind),
        events.map(({ actor }) => actor.did),
        events.map(({ actor }) => actor.keyId),
        events.map(({ action }) => action),
        events.map(({ target }) => target),
        events.map(({ requestId }) => requestId),
        events.map(({ details }) => JSON.stringify(details)),
      ],
    });
  };
  return {
    insert: (event) => insertAll([event]),
    insertAll,
    list: (filter) => database.read<StoredAuditRecord>(listStatement(filter)),
  };
}

const columns = `event_id as "eventId", svc_ms(occurred_at) as "occurredAtMs", action, target,
  request_id as "requestId", details,
  json_build_object('kind', actor_kind, 'did', actor_did, 'keyId', actor_key_id) as actor`;

function listStatement(filter: AuditFilter) {
  const where = new Conditions()
    // The first narrows by the index, the second tells apart subjects of two kinds that share a DID.
    .add(
      'actor_did = any (?::text[])',
      filter.actors?.map(({ did }) => did),
    )
    .add(
      `actor_kind || ' ' || actor_did = any (?::text[])`,
      filter.actors?.map(({ kind, did }) => `${kind} ${did}`),
    )
    .add('action = ?', filter.action)
    .add('target = ?', filter.target)
    .add('occurred_at >= to_timestamp(? / 1000.0)', filter.sinceMs)
    .add('occurred_at < to_timestamp(? / 1000.0)', filter.untilMs)
    .add('event_id < ?', filter.beforeId);
  const limit = where.parameter(filter.limit);
  const text = `select ${columns} from audit_events where ${where.text} order by event_id desc limit ${limit}`;
  return { text, values: where.values };
}
