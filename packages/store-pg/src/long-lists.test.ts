/** Old data of a tenant makes neither its lists nor other queries that read them expensive. */
import { type DidWeb, encodeUlid, type OrgId } from '@svc/protocol';
import type { AuditFilter, GrantFilter, PauseFilter } from '@svc/service';
import { PATIENT, withStores } from '@svc/testkit/store/open-store';
import { untilWaiting, withSession } from '@svc/testkit/store/session';
import { createWorld, insertGrant, insertOrg, type World } from '@svc/testkit/store/world';
import type { Client } from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { createStore } from './create-store.ts';
import type { Database } from './database.ts';
import { auditRepository } from './repositories/audit.ts';
import { grantRepository } from './repositories/grants.ts';
import { pauseRepository } from './repositories/pauses.ts';
import type { Statement } from './statement.ts';

const stores = withStores();

const MANY = 3_000;
/** Blocks of 8 KB. The rows of the owner asked for fill some hundred blocks of the table. */
const FEW_BLOCKS = 80;

let orgId: OrgId;
let world: World;
let did: DidWeb;
let dated: DidWeb;

/** From when on `insertDated` writes an event each minute. */
const DATED_MS = Date.UTC(2020, 0, 1);
const HOUR_MS = 3_600_000;

/**
 * Events of a Principal whose ids have the time at which they occurred, and one that occurred an hour and a half after
 * the first and concerns an org, under an id of a day before: of a database whose clock was wrong.
 */
const insertDated = async (session: Client, dated: DidWeb, org: OrgId): Promise<void> => {
  const at = Array.from({ length: MANY }, (_, n) => DATED_MS + n * 60_000);
  const ids = at.map((ms) => `aud_${encodeUlid(ms, new Uint8Array(10))}`);
  await session.query(
    `insert into audit_events (event_id, occurred_at, actor_kind, actor_did, action, target, org_id, details)
     select id, to_timestamp(ms / 1000.0), 'principal', $3, 'grant.allocate', $3, case when id < $1[1] then $4 end, '{}'::jsonb
     from unnest($1::text[], $2::float8[]) as dated (id, ms)`,
    [
      [...ids, `aud_${encodeUlid(DATED_MS - 24 * HOUR_MS, new Uint8Array(10))}`],
      [...at, DATED_MS + 1.5 * HOUR_MS],
      dated,
      org,
    ],
  );
};

/** Events of a member and, an hour later, of its org, the first of each with a rare action; then events of others. */
const eventsSql = `
  with
    hours as (
      select hour, now() + hour * interval '1 hour' as at,
        'aud_' || substr(svc_lowest_receipt_id(now() + hour * interval '1 hour'), 5, 10) as id
      from generate_series(1, 3) as hour
    )
  insert into audit_events (event_id, occurred_at, actor_kind, actor_did, action, target, org_id, details)
  select id || lpad(n::text, 16, '0'), at, 'principal', $2,
    case when n = 1 then 'key.compromise' else 'principal.verify' end, $2, $3, '{}'::jsonb
  from hours, generate_series(1, $1::integer) as n where hour = 1
  union all
  select id || lpad(n::text, 16, '0'), at, 'admin', null,
    case when n = 1 then 'key.compromise' else 'api_key.create' end, 'a key', $3, '{}'::jsonb
  from hours, generate_series(1, $1::integer) as n where hour = 2
  union all
  select id || lpad(n::text, 16, '0'), at, 'principal', 'did:web:' || n % 100, 'grant.allocate', 'a Grant', null,
    '{}'::jsonb
  from hours, generate_series(1, 5 * $1::integer) as n where hour = 3`;

/** One Grant is in force; another Principal has one that is revoked. */
const grantsSql = `
  insert into grants (id, principal, agent, status_list_url, status_index, revocation_recorded_at)
  select p.did || lpad(n::text, 8, '0'), p.did, 'did:key:a', 'list ' || p.did || n, 1,
    case when (n = 1) = p.is_active then now() end
  from generate_series(1, $1::integer) as n, (values ($2, false), ('did:web:active.example', true)) as p (did, is_active)`;

/** Pauses of a Principal's Grants, each the second ended, then one of the Principal; and of others. */
const pausesSql = `
  insert into pauses (scope, owner, subject, is_paused, actor_kind, changed_at, seq)
  overriding system value
  select 'grant', $2, 'Grant ' || n, n % 2 = 0, 'principal', now(), 10 * n from generate_series(1, $1::integer) as n
  union all
  select 'grant', 'did:web:' || n % 100, 'Grant ' || n, false, 'principal', now(), 1e6 + n
  from generate_series(1, $1::integer) as n
  union all
  select 'principal', $2, $2, true, 'principal', now(), 15
  union all
  select 'org', $3, $3, true, 'org', now(), 25`;

beforeAll(async () => {
  orgId = await insertOrg(stores.first);
  world = await createWorld(stores.first, orgId);
  did = world.principal.did;
  dated = (await createWorld(stores.first)).principal.did;
  await withSession(stores.url, async (session) => {
    await session.query(`set session_replication_role = 'replica'`);
    await session.query(eventsSql, [MANY, did, orgId]);
    await session.query(grantsSql, [MANY, did]);
    await insertDated(session, dated, orgId);
    await session.query(`update principals set created_at = '2019-01-01Z' where did = $1`, [dated]);
    await session.query(pausesSql, [MANY, did, orgId]);
    await session.query('analyze audit_events, grants, pauses');
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

type AuditCase = [
  name: string,
  scope: () => AuditFilter['scope'],
  filter: Omit<AuditFilter, 'scope' | 'limit'>,
  count: number,
];

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
  const cases: AuditCase[] = [
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

describe('a list of audit events between two times', () => {
  const ofDated = () => ({ actors: [{ kind: 'principal', did: dated } as const], orgId: null });
  const all = () => null;
  const middle = DATED_MS + (MANY / 2) * 60_000;
  const cases: AuditCase[] = [
    ['five minutes long ago, of a Principal', ofDated, { sinceMs: middle, untilMs: middle + 5 * 60_000 }, 5],
    ['five minutes long ago, of all actors', all, { sinceMs: middle, untilMs: middle + 5 * 60_000 }, 5],
    ['all until then, of a Principal', ofDated, { untilMs: middle }, 10],
    ['all until then, of all actors', all, { untilMs: middle }, 10],
    ['an hour in which nothing occurred', ofDated, { sinceMs: DATED_MS - HOUR_MS, untilMs: DATED_MS }, 0],
  ];
  it.each(cases)('(%s) reads only a few blocks', async (_, scope, filter, count) => {
    const found = await listed((database) =>
      auditRepository(database).list({ scope: scope(), ...filter, limit: 10 }),
    );
    expect(found).toEqual({ count, blocks: expect.any(Number) });
    expect(found.blocks).toBeLessThan(FEW_BLOCKS);
  });

  it('has an event whose id has another time than it occurred at, once', async () => {
    const [sinceMs, untilMs] = [DATED_MS + 1.5 * HOUR_MS, DATED_MS + 1.5 * HOUR_MS + 1];
    for (const scope of [ofDated(), null]) {
      const events = await stores.first.audit.list({ scope, sinceMs, untilMs, limit: 10 });
      expect(events.map(({ occurredAtMs }) => occurredAtMs)).toEqual([sinceMs, sinceMs]);
    }
    const ofIts = { actors: ofDated().actors, orgId };
    expect(await stores.first.audit.list({ scope: ofIts, sinceMs, untilMs, limit: 10 })).toHaveLength(2);
    const ofItsOrg = { actors: [{ kind: 'principal', did } as const], orgId };
    expect(await stores.first.audit.list({ scope: ofItsOrg, sinceMs, untilMs, limit: 10 })).toHaveLength(1);
    const ofAnother = { ...ofItsOrg, orgId: await insertOrg(stores.first) };
    expect(await stores.first.audit.list({ scope: ofAnother, sinceMs, untilMs, limit: 10 })).toEqual([]);
  });
});

describe('a list of pauses', () => {
  const ofMember = (): PauseFilter['owners'] => ({ principals: [did], relyingParties: [], orgs: [orgId] });
  const cases: [
    name: string,
    owners: () => PauseFilter['owners'],
    filter: Omit<PauseFilter, 'owners' | 'limit'>,
    seqs: number[],
  ][] = [
    ['the newest of an owner', ofMember, {}, [30_000, 29_980, 29_960]],
    ['the last of an owner', ofMember, { beforeSeq: 26 }, [25, 20, 15]],
    ['those of one scope', ofMember, { scope: 'principal' }, [15]],
    ['the newest of all', () => null, {}, [30_000, 29_980, 29_960]],
    ['those of all of one scope', () => null, { scope: 'org' }, [25]],
    ['those of a scope that the owner has none of', ofMember, { scope: 'service' }, []],
  ];
  it.each(cases)('(%s) reads only a few blocks', async (_, owners, filter, seqs) => {
    let found: readonly number[] = [];
    const { blocks } = await listed(async (database) => {
      const pauses = await pauseRepository(database).list({ owners: owners(), ...filter, limit: 3 });
      found = pauses.map(({ seq }) => Number(seq));
      return pauses;
    });
    expect(found).toEqual(seqs);
    expect(blocks).toBeLessThan(20);
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
      expect(await own.pauses.list({ owners, limit: 1 })).toHaveLength(1);
      await session.query('rollback');
      expect(await held).toMatchObject({ did });
    });
  } finally {
    await own.close();
  }
});
