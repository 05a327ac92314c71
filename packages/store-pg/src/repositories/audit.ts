/** The audit trail: who did what to what. Append-only; the database stamps the time. */
import type { AuditFilter, AuditRecord, AuditRepository, AuditScope, StoredAuditRecord } from '@svc/service';
import { Conditions } from '../conditions.ts';
import type { Database } from '../database.ts';

const insertSql = `
  insert into audit_events (event_id, actor_kind, actor_did, actor_key_id, action, target, request_id, details, org_id)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[],
    $9::text[])`;

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
        events.map(({ orgId }) => orgId ?? null),
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

/**
 * Since when each Principal and relying party among these DIDs has been its present holder's: since it was registered, or
 * transferred, which is audited in its transaction. An object by kind and DID, made once for the whole list.
 */
const heldSinceSql = (dids: string) => `(
  select jsonb_object_agg(held.actor, held.since) from (
    select 'principal ' || p.did, svc_held_since(p) from principals p where p.did = any (${dids}::text[])
    union all
    select 'rp ' || r.did, greatest(r.created_at, (
        select max(occurred_at) from audit_events
        where target = r.did and action = 'relying_party.update' and details ->> 'claim' = 'transferred'
      ))
    from relying_parties r where r.did = any (${dids}::text[])
  ) as held (actor, since))`;

/** What another did under the DID before is not its own. */
const sinceHeldSql = (dids: string) => `case when actor_kind in ('principal', 'rp')
    then occurred_at >= (${heldSinceSql(dids)} ->> (actor_kind || ' ' || actor_did))::timestamptz else true end`;

function listStatement(filter: AuditFilter) {
  const where = new Conditions();
  if (filter.scope !== null) where.require(scopeText(where, filter.scope));
  where
    .add('actor_did = ?', filter.actor)
    .add('action = ?', filter.action)
    .add('target = ?', filter.target)
    .add('occurred_at >= to_timestamp(? / 1000.0)', filter.sinceMs)
    .add('occurred_at < to_timestamp(? / 1000.0)', filter.untilMs)
    .add('event_id < ?', filter.beforeId);
  const limit = where.parameter(filter.limit);
  const text = `select ${columns} from audit_events where ${where.text} order by event_id desc limit ${limit}`;
  return { text, values: where.values };
}

/** The actor's two conditions: the first narrows by the index, the second tells apart subjects that share a DID. */
function scopeText(where: Conditions, { actors, orgId }: AuditScope): string {
  const dids = where.parameter(actors.map(({ did }) => did));
  const kinds = where.parameter(actors.map(({ kind, did }) => `${kind} ${did}`));
  const byActor = `actor_did = any (${dids}::text[]) and actor_kind || ' ' || actor_did = any (${kinds}::text[])
    and ${sinceHeldSql(dids)}`;
  return orgId === null ? byActor : `(${byActor} or org_id = ${where.parameter(orgId)})`;
}
