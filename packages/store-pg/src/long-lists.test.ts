/** Old data of a tenant makes neither its lists nor other queries that read them expensive. */
import type { DidWeb, OrgId } from '@svc/protocol';
import type { AuditFilter, GrantFilter } from '@svc/service';
import { PATIENT, withStores } from '@svc/testkit/store/open-store';
import { untilWaiting, withSession } from '@svc/testkit/store/session';
import { createWorld, insertGrant, insertOrg, type World } from '@svc/testkit/store/world';
import type { Client } from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { createStore } from './create-store.ts';
import type { Database } from './database.ts';
import { auditRepository } from './repositories/audit.ts';
import { grantRepository } from './repositories/grants.ts';
import type { Statement } from './statement.ts';

const stores = withStores();

const MANY = 3_000;
/** Blocks of 8 KB. The rows of the owner asked for fill some hundred blocks of the table. */
const FEW_BLOCKS = 80;

let orgId: OrgId;
let world: World;
let did: DidWeb;

/** Events of a member and of its org, the first of each with a rare action, and later events of others. */
const eventsSql = `
  insert into audit_events (event_id, occurred_at, actor_kind, actor_did, action, target, org_id, details)
  select 'aud_0' || lpad(n::text, 25, '0'), now() + interval '1 hour', 'principal', $2,
    case when n = 1 then 'key.compromise' else 'principal.verify' end, $2, $3, '{}'::jsonb
  from generate_series(1, $1::integer) as n
  union all
  select 'aud_1' || lpad(n::text, 25, '0'), now(), 'admin', null,
    case when n = 1 then 'key.compromise' else 'api_key.create' end, 'a key', $3, '{}'::jsonb
  from generate_series(1, $1::integer) as n
  union all
  select 'aud_2' || lpad(n::text, 25, '0'), now(), 'principal', 'did:web:' || n % 100, 'grant.allocate', 'a Grant', null,
    '{}'::jsonb
  from generate_series(1, 5 * $1::integer) as n`;

/** One Grant is in force; another Principal has one that is revoked. */
const grantsSql = `
  insert into grants (id, principal, agent, status_list_url, status_index, revocation_recorded_at)
  select p.did || lpad(n::text, 8, '0'), p.did, 'did:key:a', 'list ' || p.did || n, 1,
    case when (n = 1) = p.is_active then now() end
  from generate_series(1, $1::integer) as n, (values ($2, false), ('did:web:active.example', true)) as p (did, is_active)`;

beforeAll(async () => {
  orgId = await insertOrg(stores.first);
  world = await createWorld(stores.first, orgId);
  did = world.principal.did;
  await withSession(stores.url, async (session) => {
    await session.query(`set session_replication_role = 'replica'`);
    await session.query(eventsSql, [MANY, did, orgId]);
    await session.query(grantsSql, [MANY, did]);
    await session.query('analyze audit_events, grants');
  });
});

interface Explained {
  readonly 'QUERY PLAN': readonly [{ readonly Plan: Record<string, number> }];
}

/** Planned with the settings of the pool for long reads. */
const blocksOf = async (session: Client, { text, values }: Statement): Promise<number> => {
  await session.query('set random_page_cost = 1.1');
  // A first run excludes the reads of the catalog that a session makes once.
  await session.query(text, [...values]);
  const { rows } = await session.query<Explained>(`explain (analyze, buffers, format json) ${text}`, [
    ...values,
  ]);
  const plan = rows[0]?.['QUERY PLAN'][0].Plan;
  return (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
};

/** The rows of one list, and the number of blocks that its statement reads. */
const listed = <Row>(list: (database: Database) => Promise<readonly Row[]>) =>
  withSession(stores.url, async (session) => {
    const statements: Statement[] = [];
    const read: Database['read'] = async (statement) => {
      statements.push(statement);
      return (await session.query({ ...statement, values: [...statement.values] })).rows;
    };
    const rows = await list({ read, write: read });
    const [statement] = statements;
    if (statement === undefined) throw new Error('a list is one statement');
    return { count: rows.length, blocks: await blocksOf(session, statement) };
  });

describe('a list of audit events', () => {
  const ofPrincipal = () => ({ actors: [{ kind: 'principal', did } as const], orgId: null });
  const ofOrg = () => ({
    actors: [
      { kind: 'org', did: orgId } as const,
      { kind: 'principal', did } as const,
      { kind: 'rp', did: world.relyingParty.did } as const,
    ],
    orgId,
  });
  const cases: [
    name: string,
    scope: () => AuditFilter['scope'],
    filter: Omit<AuditFilter, 'scope' | 'limit'>,
    count: number,
  ][] = [
    ['the newest of a Principal', ofPrincipal, {}, 10],
    ['the newest of an org', ofOrg, {}, 10],
    ['rare events of a Principal', ofPrincipal, { action: 'key.compromise' }, 1],
    ['rare events of an org', ofOrg, { action: 'key.compromise' }, 2],
    ['events that an org does not have', ofOrg, { action: 'pause.set' }, 0],
    ['rare events of all actors', () => null, { action: 'key.compromise' }, 2],
  ];
  it.each(cases)('of %s reads only a few blocks', async (_, scope, filter, count) => {
    const found = await listed((database) =>
      auditRepository(database).list({ scope: scope(), ...filter, limit: 10 }),
    );
    expect(found).toEqual({ count, blocks: expect.any(Number) });
    expect(found.blocks).toBeLessThan(FEW_BLOCKS);
  });
});

describe('a list of Grants', () => {
  const active = 'did:web:active.example' as DidWeb;
  const cases: [name: string, filter: () => Omit<GrantFilter, 'limit'>, count: number][] = [
    ['the newest of several Principals', () => ({ principals: [did, active] }), 10],
    [
      'those of several Principals that are in force',
      () => ({ principals: [did, active], state: 'active' }),
      10,
    ],
    ['the only one in force', () => ({ principals: [did], state: 'active' }), 1],
    ['the only one that is revoked', () => ({ principals: [active], state: 'revoked' }), 1],
  ];
  it.each(cases)('of %s reads only a few blocks', async (_, filter, count) => {
    const found = await listed((database) => grantRepository(database).list({ ...filter(), limit: 10 }));
    expect(found).toEqual({ count, blocks: expect.any(Number) });
    expect(found.blocks).toBeLessThan(FEW_BLOCKS);
  });
});

it('svc_held_since reads the transfers of a DID, and few blocks however often its domain was verified', () =>
  withSession(stores.url, async (session) => {
    const text = 'select svc_held_since(p) from principals p where did = $1';
    expect(await blocksOf(session, { text, values: [did] })).toBeLessThan(FEW_BLOCKS);
    await session.query('begin');
    await session.query(
      `insert into audit_events (event_id, occurred_at, actor_kind, action, target, details)
       values ('aud_Z', '2999-01-01Z', 'admin', 'principal.verify', $1, '{"claim":"transferred"}')`,
      [did],
    );
    const { rows } = await session.query(text, [did]);
    expect(rows).toEqual([{ svc_held_since: new Date('2999-01-01Z') }]);
    await session.query('rollback');
  }));

it('lists use no connection of the pool that looks up keys, revocations and decisions', async () => {
  const grant = await insertGrant(await createWorld(stores.first));
  const own = createStore({ databaseUrl: stores.url, poolSizes: { reads: 1 }, deadlines: PATIENT });
  try {
    await withSession(stores.url, async (session) => {
      await session.query('begin');
      await session.query('lock table principals');
      const held = own.principals.find(did);
      await untilWaiting(session);
      const owners = { principals: [did], relyingParties: [], orgs: [] };
      expect(await own.audit.list({ scope: null, limit: 1 })).toHaveLength(1);
      expect(await own.grants.list({ principals: [grant.principal], limit: 1 })).toEqual([grant]);
      expect(await own.pauses.list({ owners, limit: 1 })).toEqual([]);
      await session.query('rollback');
      expect(await held).toMatchObject({ did });
    });
  } finally {
    await own.close();
  }
});
