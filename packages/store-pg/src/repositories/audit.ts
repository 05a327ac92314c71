/** The audit trail: who did what to what. Append-only; the database stamps the time. */
import { encodeUlid } from '@svc/protocol';
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

/** How far the time in an id may be from when the event occurred, as in `svc_is_dated_by_id`. */
const DATED_WITHIN_MS = 3_600_000;

const lowestId = (ms: number): string =>
  `aud_${encodeUlid(Math.min(Math.max(ms, 0), 2 ** 48 - 1), new Uint8Array(10))}`;

/**
 * The ids to which a list between two times is limited. A list walks ids, so without this it would pass over every newer
 * event and, where few are found, over every older one.
 */
const idsBetween = (where: Conditions, { sinceMs, untilMs }: AuditFilter): string =>
  new Conditions(where.values)
    .add('event_id >= ?', sinceMs === undefined ? undefined : lowestId(sinceMs - DATED_WITHIN_MS))
    .add('event_id < ?', untilMs === undefined ? undefined : lowestId(untilMs + DATED_WITHIN_MS)).text;

/**
 * The few events of the whole log whose ids have another time than they occurred at: of a database whose clock was
 * wrong. All of them are read, by their own index, which any further condition would keep the planner from.
 */
const datedOtherwiseSql = `dated_otherwise as materialized (
    select * from audit_events where not svc_is_dated_by_id(event_id, occurred_at)
  )`;

function listStatement(filter: AuditFilter) {
  const where = new Conditions()
    .add('actor_did = ?', filter.actor)
    .add('action = ?', filter.action)
    .add('target = ?', filter.target)
    .add('occurred_at >= to_timestamp(? / 1000.0)', filter.sinceMs)
    .add('occurred_at < to_timestamp(? / 1000.0)', filter.untilMs)
    .add('event_id < ?', filter.beforeId);
  const rows = where.parameter(filter.limit);
  const isBetween = filter.sinceMs !== undefined || filter.untilMs !== undefined;
  const walked = `${where.text} and ${idsBetween(where, filter)}`;
  const scope = filter.scope === null ? null : scopeOf(where, filter.scope);
  const found = [
    scope === null
      ? `(select * from audit_events where ${walked} order by event_id desc limit ${rows})`
      : scope.newest(walked, rows),
    ...(isBetween
      ? [scope?.otherwise(where.text) ?? `select * from dated_otherwise where ${where.text}`]
      : []),
  ];
  const named = [...(scope === null ? [] : [scope.actors]), ...(isBetween ? [datedOtherwiseSql] : [])];
  // An event of one member that concerns another member is found twice.
  const text = `${named.length === 0 ? '' : `with ${named.join(', ')}`}
    select distinct on (event_id) ${columns} from (${found.join(' union all ')}) as found
    order by event_id desc limit ${rows}`;
  return { text, values: where.values };
}

// Written so that the planner does not search by time, which would read all actors' events.
const isHolders = 'actor_kind = a.kind and (occurred_at >= a.held_since) is true';

/** What belongs to a scope, as SQL. */
interface ScopeSql {
  /** The actors of the scope as a table that the others name. */
  readonly actors: string;
  /** The newest events of each actor and of the org. Only these are sorted together. */
  readonly newest: (filter: string, rows: string) => string;
  /** Those of `datedOtherwiseSql`. */
  readonly otherwise: (filter: string) => string;
}

function scopeOf(where: Conditions, { actors, orgId }: AuditScope): ScopeSql {
  const dids = where.parameter(actors.map(({ did }) => did));
  const kinds = where.parameter(actors.map(({ kind }) => kind));
  const org = orgId === null ? null : `${where.parameter(orgId)}::text`;
  // Ordering by the owner as well excludes the indexes over all events, through which the planner would walk other
  // actors' events.
  const newestOf = (
    column: string,
    value: string,
    filter: string,
    rows: string,
  ) => `(select * from audit_events
    where ${column} = any (array[${value}]) and ${filter} order by ${column}, event_id desc limit ${rows})`;
  return {
    actors: `actors as materialized (${actorsSql(dids, kinds)})`,
    newest: (filter, rows) =>
      [
        `select e.* from actors as a
         cross join lateral ${newestOf('actor_did', 'a.did', `${isHolders} and ${filter}`, rows)} as e`,
        ...(org === null ? [] : [newestOf('org_id', org, filter, rows)]),
      ].join(' union all '),
    // Joined, not asked for each event: an org may have many actors.
    otherwise: (filter) =>
      [
        `select e.* from actors as a join dated_otherwise as e on actor_did = a.did and ${isHolders} where ${filter}`,
        ...(org === null ? [] : [`select * from dated_otherwise where org_id = ${org} and ${filter}`]),
      ].join(' union all '),
  };
}
