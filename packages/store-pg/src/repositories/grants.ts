/** Grants as allocated: who may use which status entry, and whether it is revoked (protocol §9). */
import type { DidWeb } from '@svc/protocol';
import type {
  GrantFilter,
  GrantRecord,
  GrantRepository,
  ListToRevokeIn,
  Revocable,
  RevocableGrant,
  UnstampedGrant,
} from '@svc/service';
import { Conditions } from '../conditions.ts';
import type { Database } from '../database.ts';

const columns = `id, principal, agent, status_list_url as "statusListUrl", status_index as "statusIndex",
  allocated_at as "allocatedAtMs", revocation_recorded_at as "revocationRecordedAtMs", revoked_at as "revokedAtMs"`;

const unstampedColumns = `id, principal, status_list_url as "statusListUrl", status_index as "statusIndex"`;

const PRINCIPALS_PER_PAGE = 1_000;

interface UnstampedOwner {
  readonly principal: DidWeb;
  readonly oldestMs: number;
  readonly isDue: boolean;
}

// Reads one index entry of each Principal, however many Grants it has.
const unstampedPrincipalsSql = `
  with recursive owner (principal, oldest) as (
    (
      select principal, revocation_recorded_at from grants
      where principal > $3 and revocation_recorded_at is not null and revoked_at is null
      order by principal, revocation_recorded_at limit 1
    )
    union all
    select later.principal, later.revocation_recorded_at
    from owner cross join lateral (
      select g.principal, g.revocation_recorded_at from grants as g
      where g.principal > owner.principal and g.revocation_recorded_at is not null and g.revoked_at is null
      order by g.principal, g.revocation_recorded_at limit 1
    ) as later
  ), page as (
    select principal, oldest from owner limit $2
  )
  select principal, oldest as "oldestMs",
    oldest < (select svc_now() - make_interval(secs => $1)) as "isDue"
  from page order by principal`;

type RevocableRow = RevocableGrant & {
  readonly [Member in keyof ListToRevokeIn]: ListToRevokeIn[Member] | null;
};

const readRevocations = (principal: string, ids: readonly string[]) => ({
  name: 'read_revocations',
  text: `select grant_id as id, list_url as "statusListUrl", status_index as "statusIndex",
      recorded_at as "revocationRecordedAtMs", revoked_at as "revokedAtMs", bits, version
    from svc_read_revocations($1, $2)`,
  values: [principal, ids],
});

/** Each list's columns come with one of its Grants. */
const revocableOf = (rows: readonly RevocableRow[]): Revocable => {
  const lists = new Map<string, ListToRevokeIn>();
  for (const { statusListUrl, bits, version } of rows)
    if (bits !== null && version !== null) lists.set(statusListUrl, { bits, version });
  return { grants: rows.map(({ bits: _, version: __, ...grant }) => grant), lists };
};

/** `ledger`: runs long reads that decide nothing. */
export function grantRepository(database: Database, ledger = database): GrantRepository {
  return {
    async insert(grant) {
      const [row] = await database.write<GrantRecord>({
        text: `insert into grants (id, principal, agent, status_list_url, status_index)
          values ($1, $2, $3, $4, $5) returning ${columns}`,
        values: [grant.id, grant.principal, grant.agent, grant.statusListUrl, grant.statusIndex],
      });
      if (row === undefined) throw new Error('insert answered no row');
      return row;
    },
    async find(id) {
      const rows = await database.read<GrantRecord>({
        text: `select ${columns} from grants where id = $1`,
        values: [id],
      });
      return rows[0] ?? null;
    },
    list: (filter) => ledger.read<GrantRecord>(listStatement(filter)),
    listAgents: (principal, ids) =>
      ledger.read<Pick<GrantRecord, 'id' | 'agent'>>({
        text: 'select id, agent from grants where id = any ($2::text[]) and principal = $1',
        values: [principal, ids],
      }),
    async findRevocable(principal, ids) {
      return revocableOf(await database.read<RevocableRow>(readRevocations(principal, ids)));
    },
    async findRevocableForUpdate(principal, ids) {
      await database.write({ text: 'select svc_lock_revocations($1, $2)', values: [principal, ids] });
      return revocableOf(await database.write<RevocableRow>(readRevocations(principal, ids)));
    },
    async recordRevocations({ principal, ids, lists, listContentType, events }) {
      const [row] = await database.write<{ recorded: boolean }>({
        name: 'record_revocations',
        text: 'select svc_record_revocations($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) as recorded',
        values: [
          principal,
          ids,
          lists.map(({ url }) => url),
          lists.map(({ version }) => version),
          lists.map(({ bits }) => bits),
          lists.map(({ credential }) => credential),
          lists.map(({ credentialHash }) => credentialHash),
          lists.map(({ validFromMs }) => validFromMs),
          listContentType,
          JSON.stringify(events),
        ],
      });
      return row?.recorded === true;
    },
    listNamingAgent: (principal, agent) =>
      database.read<Pick<GrantRecord, 'id' | 'revokedAtMs'>>({
        text: `select id, revoked_at as "revokedAtMs" from grants where principal = $1 and agent = $2 order by id`,
        values: [principal, agent],
      }),
    async countNamingAgent(principal, agent, { atMost, inForce = false }) {
      const rows = await database.read<{ count: number }>({
        text: `select count(*)::integer as count from (
            select from grants
            where principal = $1 and agent = $2 and not ($3 and revocation_recorded_at is not null)
            limit $4
          ) as g`,
        values: [principal, agent, inForce, atMost],
      });
      return rows[0]?.count ?? 0;
    },
    listInForceNamingAgentForUpdate: (principal, agent) =>
      database.write<GrantRecord>({
        text: `select ${columns} from grants
          where principal = $1 and agent = $2 and revocation_recorded_at is null order by id for update`,
        values: [principal, agent],
      }),
    async setRevoked(ids, revokedAtMs) {
      await database.write({
        text: `update grants set revoked_at = to_timestamp($2 / 1000.0)
          where id in (select id from grants where id = any ($1::text[]) order by id for update)
            and revoked_at is null`,
        values: [ids, revokedAtMs],
      });
    },
    listUnstamped: (principal, seconds, limit) =>
      database.read<UnstampedGrant>({
        text: `select ${unstampedColumns} from grants
          where principal = $1 and revoked_at is null
            and revocation_recorded_at < (select svc_now() - make_interval(secs => $2))
          order by revocation_recorded_at limit $3`,
        values: [principal, seconds, limit],
      }),
    async listUnstampedPrincipals(seconds, after) {
      const rows = await database.read<UnstampedOwner>({
        text: unstampedPrincipalsSql,
        values: [seconds, PRINCIPALS_PER_PAGE, after ?? ''],
      });
      const last = rows.length < PRINCIPALS_PER_PAGE ? undefined : rows.at(-1);
      const due = rows.filter(({ isDue }) => isDue).sort((a, b) => a.oldestMs - b.oldestMs);
      return { principals: due.map(({ principal }) => principal), next: last?.principal ?? null };
    },
    listUnstampedNamingAgent: (principal, agent) =>
      database.read<UnstampedGrant>({
        text: `select ${unstampedColumns} from grants
          where principal = $1 and agent = $2 and revocation_recorded_at is not null and revoked_at is null order by id`,
        values: [principal, agent],
      }),
    async recordRevocation(ids) {
      // Rows are locked in the order of their ids: two revocations of overlapping sets must not deadlock.
      await database.write({
        text: `update grants set revocation_recorded_at = svc_now()
          where id in (select id from grants where id = any ($1::text[]) order by id for update)
            and revocation_recorded_at is null`,
        values: [ids],
      });
    },
  };
}

function listStatement({ principals, agent, beforeId, state, limit }: GrantFilter) {
  const where = new Conditions().add('agent = ?', agent).add('id < ?', beforeId);
  // Each state has a partial index; the condition matches it.
  if (state !== undefined)
    where.require(`revocation_recorded_at is ${state === 'revoked' ? 'not null' : 'null'}`);
  const rows = where.parameter(limit);
  const newest = `order by id desc limit ${rows}`;
  if (principals === null)
    return { text: `select ${columns} from grants where ${where.text} ${newest}`, values: where.values };
  // The newest Grants of each Principal; only these are sorted together. Ordering by the Principal as well excludes the
  // primary key, through which the planner would walk other Principals' Grants.
  const text = `select ${columns}
    from unnest(${where.parameter(principals)}::text[]) as own (did) cross join lateral (
      select * from grants where principal = any (array[own.did]) and ${where.text} order by principal, id desc limit ${rows}
    ) as g
    ${newest}`;
  return { text, values: where.values };
}
