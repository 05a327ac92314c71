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
 * The actors, and since when each Principal and relying party among them has its present holder: since it was
 * registered or transferred. A transfer is audited in the transaction that makes it. Events of a former holder of
 * the DID are not shown.
 */
const actorsSql = (dids: string, kinds: string) => `
  select did, kind, case kind
    when 'principal' then (select svc_held_since(p) from principals p where p.did = named.did)
    when 'rp' then (
      select greatest(r.created_at, (
        select max(occurred_at) from audit_events
        where target = r.did and action = 'relying_party.update' and details ->> 'claim' = 'transferred'
      ))
      from relying_parties r where r.did = named.did
    )
    else '-infinity' end as held_since
  from unnest(${dids}::text[], ${kinds}::text[]) as named (did, kind)`;

function listStatement(filter: AuditFilter) {
  const where = new Conditions()
    .add('actor_did = ?', filter.actor)
    .add('action = ?', filter.action)
    .add('target = ?', filter.target)
    .add('occurred_at >= to_timestamp(? / 1000.0)', filter.sinceMs)
    .add('occurred_at < to_timestamp(? / 1000.0)', filter.untilMs)
    .add('event_id < ?', filter.beforeId);
  const rows = where.parameter(filter.limit);
  const newest = `order by event_id desc limit ${rows}`;
  const { scope } = filter;
  const found =
    scope === null
      ? `select * from audit_events where ${where.text} ${newest}`
      : eventsOf(where, scope, where.text, rows);
  // An event of one member that concerns another member is found twice.
  const text = `select distinct on (event_id) ${columns} from (${found}) as found ${newest}`;
  return { text, values: where.values };
}

/** The newest events of each actor and of the org. Only these are sorted together. */
function eventsOf(where: Conditions, { actors, orgId }: AuditScope, filter: string, rows: string): string {
  // Ordering by the owner as well excludes the indexes over all events, through which the planner would walk other
  // actors' events.
  const newestOf = (column: string, value: string, condition = 'true') => `select * from audit_events
    where ${column} = any (array[${value}]) and ${condition} and ${filter} order by ${column}, event_id desc limit ${rows}`;
  const dids = where.parameter(actors.map(({ did }) => did));
  const kinds = where.parameter(actors.map(({ kind }) => kind));
  // Written so that the planner does not search by time, which would read all actors' events.
  const isHolders = 'actor_kind = a.kind and (occurred_at >= a.held_since) is true';
  const byActors = `with actors as materialized (${actorsSql(dids, kinds)})
    select e.* from actors as a cross join lateral (${newestOf('actor_did', 'a.did', isHolders)}) as e`;
  return orgId === null
    ? byActors
    : `(${byActors}) union all (${newestOf('org_id', `${where.parameter(orgId)}::text`)})`;
}
