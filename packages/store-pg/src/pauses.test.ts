/** What a pause does in the database, and how pauses are listed. For races with decisions see pause-races.test.ts. */
import type { DidWeb } from '@svc/protocol';
import { completePauses, type PauseTarget } from '@svc/service';
import { tamper } from '@svc/testkit';
import { sampleOf } from '@svc/testkit/sampled';
import { withStores } from '@svc/testkit/store/open-store';
import { changePause, pauseDeps } from '@svc/testkit/store/pause-races';
import { runSql, untilWaiting, withSession } from '@svc/testkit/store/session';
import { createWorld, insertGrant, insertOrg, type World } from '@svc/testkit/store/world';
import type { Client } from 'pg';
import { expect, it } from 'vitest';
import type { Database } from './database.ts';
import { listMigrations } from './migrations.ts';
import { pauseRepository } from './repositories/pauses.ts';
import type { Statement } from './statement.ts';

const stores = withStores();

const change = (target: PauseTarget, isPaused: boolean) => changePause(stores.first, target, isPaused);
/** Number of transactions rolled back, such as those that do not get a lock in time. */
const FAILED_LOCKS = `
  select xact_rollback::text as fails from pg_stat_database where datname = current_database()`;
const SERVICE: PauseTarget = { scope: 'service', owner: 'service', subject: 'service' };

it('the whole service can be paused while its tables are vacuumed', async () => {
  await withSession(stores.url, async (session) => {
    await session.query('begin');
    // The locks that a vacuum takes.
    await session.query('lock table relying_parties, ledger_seal, pauses in share update exclusive mode');
    expect((await change(SERVICE, true)).record).toMatchObject({ isPaused: true });
    expect((await change(SERVICE, false)).record).toMatchObject({ isPaused: false });
    await session.query('rollback');
  });
});

it('isAskerPaused follows the pauses of the relying party, its org and the service, and is false for an unknown DID', async () => {
  const orgId = await insertOrg(stores.first);
  const { did } = (await createWorld(stores.first, orgId)).relyingParty;
  const isPaused = () => stores.second.pauses.isAskerPaused(did);
  const targets: readonly PauseTarget[] = [
    { scope: 'relying_party', owner: did, subject: did },
    { scope: 'org', owner: orgId, subject: orgId },
    SERVICE,
  ];
  for (const target of targets) {
    await change(target, true);
    expect(await isPaused()).toBe(true);
    await change(target, false);
    expect(await isPaused()).toBe(false);
  }
  expect(await stores.second.pauses.isAskerPaused('did:web:nobody.example' as DidWeb)).toBe(false);
});

it('a relying party that registers while the service is being paused gets a new version like all others', async () => {
  const { relyingParty } = await createWorld(stores.first);
  let pausing: ReturnType<typeof change> | undefined;
  const registered = await stores.second.transaction(async (tx) => {
    const record = await tx.relyingParties.insert({ ...relyingParty, did: 'did:web:late.example' as DidWeb });
    pausing = change(SERVICE, true);
    await withSession(stores.url, (session) => untilWaiting(session));
    return record;
  });
  await pausing;
  for (const { did, version } of [relyingParty, registered])
    expect((await stores.first.relyingParties.find(did))?.version).toBeGreaterThan(version);
  await change(SERVICE, false);
});

/** Whether each flag that decisions read matches the pauses. */
const FLAGS = `
  select p.has_pauses = svc_principal_has_pauses(p.did, p.org_id) as principal,
    r.is_paused = svc_relying_party_is_paused(r.did, r.org_id) as "relyingParty"
  from principals as p, relying_parties as r where p.did = $1 and r.did = $2`;

const both = [true, false];
const besideTheirOrg = (['grant', 'agent', 'principal', 'relying_party'] as const).flatMap((scope) =>
  both.flatMap((pauses) =>
    both.flatMap((orgPauses) => both.map((isFirst) => ({ scope, pauses, orgPauses, isFirst }))),
  ),
);

it.each(sampleOf(besideTheirOrg, 6))(
  'concurrent pauses of a member and its org both take effect: $scope paused: $pauses, org paused: $orgPauses, the member first: $isFirst',
  async ({ scope, pauses, orgPauses, isFirst }) => {
    const orgId = await insertOrg(stores.first);
    const world = await createWorld(stores.first, orgId);
    const { id, agent } = await insertGrant(world);
    const [principal, relyingParty] = [world.principal.did, world.relyingParty.did];
    await runSql(stores.url, 'update principals set org_id = $1 where did = $2', [orgId, principal]);
    const owner = scope === 'relying_party' ? relyingParty : principal;
    const subject = scope === 'grant' ? id : scope === 'agent' ? agent : owner;
    const ofMember = { target: { scope, owner, subject }, isPaused: pauses };
    const ofOrg = { target: { scope: 'org' as const, owner: orgId, subject: orgId }, isPaused: orgPauses };
    for (const { target, isPaused } of [ofMember, ofOrg]) await change(target, !isPaused);
    const [one, other] = isFirst ? [ofMember, ofOrg] : [ofOrg, ofMember];
    const set = `select svc_set_pause($1, $2, $3, $4, null, '{"kind": "system"}')`;
    const valuesOf = ({ target, isPaused }: typeof one) => [
      ...[target.scope, target.owner, target.subject],
      isPaused,
    ];
    await withSession(stores.url, async (first) => {
      await first.query('begin');
      await first.query(set, valuesOf(one));
      const second = runSql(stores.url, set, valuesOf(other));
      await withSession(stores.url, (session) => untilWaiting(session));
      await first.query('commit');
      await second;
    });
    await runSql(stores.url, 'update pauses set visible_at = changed_at where visible_at is null');
    expect(await runSql(stores.url, FLAGS, [principal, relyingParty])).toEqual([
      { principal: true, relyingParty: true },
    ]);
  },
);

it("pausing the whole service locks relying parties in the order of an org's members: no deadlock", async () => {
  const orgId = await insertOrg(stores.first);
  const worlds = [await createWorld(stores.first, orgId), await createWorld(stores.first, orgId)];
  const [first, second] = worlds.map(({ relyingParty }) => relyingParty.did).sort();
  // The update moves the first row in order behind the other one in the table.
  await tamper(stores.url, `update relying_parties set name = 'moved' where did = $1`, [first]);
  await withSession(stores.url, async (org) => {
    const take = 'select from relying_parties where did = $1 for no key update';
    await org.query('begin');
    await org.query(take, [first]);
    const paused = change(SERVICE, true);
    await withSession(stores.url, (session) => untilWaiting(session));
    // The pause holds no lock on a later row.
    await org.query(`${take} nowait`, [second]);
    await org.query('commit');
    expect((await paused).record).toMatchObject({ isPaused: true });
  });
  await change(SERVICE, false);
});

it('the whole service can be paused although a row is held for longer than a lock is awaited', async () => {
  const { relyingParty } = await createWorld(stores.first);
  await withSession(stores.url, async (holder) => {
    await holder.query('begin');
    await holder.query('select from relying_parties where did = $1 for no key update', [relyingParty.did]);
    const [asked] = await runSql<{ fails: string }>(stores.url, FAILED_LOCKS);
    const paused = change(SERVICE, true);
    await expect
      .poll(async () => (await runSql<{ fails: string }>(stores.url, FAILED_LOCKS))[0]?.fails, {
        timeout: 20_000,
      })
      .not.toBe(asked?.fails);
    await holder.query('commit');
    expect((await paused).record).toMatchObject({ isPaused: true });
  });
  await change(SERVICE, false);
});

it('migration 0044 sets lost pause flags again under new versions, and keeps all other versions', async () => {
  const orgId = await insertOrg(stores.first);
  const [member, other] = [await createWorld(stores.first, orgId), await createWorld(stores.first)];
  await runSql(stores.url, 'update principals set org_id = $1 where did = $2', [orgId, member.principal.did]);
  await change({ scope: 'org', owner: orgId, subject: orgId }, true);
  const versionsOf = async ({ principal, relyingParty }: World) => [
    (await stores.first.principals.find(principal.did))?.version ?? 0,
    (await stores.first.relyingParties.find(relyingParty.did))?.version ?? 0,
  ];
  await tamper(stores.url, 'update principals set has_pauses = false where org_id = $1', [orgId]);
  await tamper(stores.url, 'update relying_parties set is_paused = false where org_id = $1', [orgId]);
  const [before, beforeOther] = [await versionsOf(member), await versionsOf(other)];
  await runSql(stores.url, listMigrations().find((one) => one.name === '0044-pauses-of-members')?.sql ?? '');
  const dids = [member.principal.did, member.relyingParty.did];
  expect(await runSql(stores.url, FLAGS, dids)).toEqual([{ principal: true, relyingParty: true }]);
  expect(await versionsOf(member)).toEqual(before.map((version) => version + 1));
  expect(await versionsOf(other)).toEqual(beforeOther);
});

it('a subject that is paused again is listed as the newest', async () => {
  const world = await createWorld(stores.first, await insertOrg(stores.first));
  const ofGrant = async (): Promise<PauseTarget> => {
    const { id, principal } = await insertGrant(world);
    return { scope: 'grant', owner: principal, subject: id };
  };
  const [first, second] = [await ofGrant(), await ofGrant()];
  for (const target of [first, second]) await change(target, true);
  await change(first, false);
  await change(first, true);
  const owners = { principals: [world.principal.did], relyingParties: [], orgs: [] };
  const listed = await stores.first.pauses.list({ owners, limit: 10 });
  expect(listed.map(({ subject }) => subject)).toEqual([first.subject, second.subject]);
});

it('pauses and ends that their caller never completed are completed 10 s later, and newer ones are not', async () => {
  const world = await createWorld(stores.first, await insertOrg(stores.first));
  const unheard = { id: (await insertGrant(world)).id, ms: -11_000 };
  const ended = { id: (await insertGrant(world)).id, ms: -12_000 };
  const underWay = { id: (await insertGrant(world)).id, ms: 0 };
  const targetOf = (subject: string): PauseTarget => ({
    scope: 'grant',
    owner: world.principal.did,
    subject,
  });
  for (const { id, ms } of [unheard, ended, underWay]) {
    await change(targetOf(id), true);
    if (id === ended.id) await change(targetOf(id), false);
    await runSql(
      stores.url,
      `update pauses set visible_at = null, changed_at = changed_at + $2 * interval '1 millisecond' where subject = $1`,
      [id, ms],
    );
  }
  const completed = await completePauses(pauseDeps(stores.first), new AbortController().signal);
  const visible = async ({ id }: { readonly id: string }) =>
    (await stores.first.pauses.find(targetOf(id)))?.visibleAtMs;
  expect([completed, await visible(unheard), await visible(ended), await visible(underWay)]).toEqual([
    2,
    expect.any(Number),
    expect.any(Number),
    null,
  ]);
});

/** The text of each query in the code, and its parameters. */
const asked = {
  pauses_unstamped: async () => {
    let statement: Statement | undefined;
    const read: Database['read'] = async (one) => {
      statement = one;
      return [];
    };
    await pauseRepository({ read, write: read }).listUnstamped(10, 100);
    return { text: statement?.text ?? '', values: [...(statement?.values ?? [])] };
  },
  pauses_in_force: async (session: Client) => {
    const { rows } = await session.query<{ source: string }>(
      `select prosrc as source from pg_proc where proname = 'svc_principal_has_pauses'`,
    );
    const source = rows[0]?.source ?? '';
    const text = source.replaceAll('p_principal', '$1::text').replaceAll('p_org_id', '$2::text');
    return { text, values: ['did:web:a.example', 'org_a'] };
  },
} as const;

const planOf = (insert: string, ask: (typeof asked)[keyof typeof asked]) =>
  withSession(stores.url, async (session) => {
    const { text, values } = await ask(session);
    await session.query('begin');
    await session.query(
      `insert into pauses (scope, owner, subject, is_paused, actor_kind, changed_at, visible_at) ${insert}`,
    );
    await session.query('analyze pauses');
    const { rows } = await session.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
    await session.query('rollback');
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });

it.each([
  ['pauses_unstamped', asked.pauses_unstamped, 'pauses_unstamped'],
  ['pauses in force', asked.pauses_in_force, /pauses_(in_force|in_order|of_owner_in_order)/],
] as const)(
  'queries for %s use an index of these alone, so they do not read pauses that have ended',
  async (_, ask, index) => {
    const plan = await planOf(
      `select 'grant', 'did:web:a.example', n::text, n % 1000 = 0, 'system', svc_now(), case when n % 1000 != 0 then svc_now() end
     from generate_series(1, 5000) as n`,
      ask,
    );
    expect(plan).toMatch(index);
    expect(plan).not.toContain('Seq Scan on pauses');
  },
);

it('a query for the pauses in force of a Principal does not read those of others', async () => {
  const plan = await planOf(
    `select 'grant', 'did:web:' || n % 1000 || '.example', n::text, true, 'system', svc_now(), svc_now()
     from generate_series(1, 5000) as n`,
    asked.pauses_in_force,
  );
  expect(plan).toMatch(/pauses_(in_force|of_owner_in_order)/);
  expect(plan).not.toMatch(/Seq Scan on pauses|pauses_in_order/);
});
