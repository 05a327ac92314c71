/** Calls that were admitted before their key was revoked, or before their DID was released or given to another org. */
import type { ApiKeyId, DidWeb, OrgId } from '@svc/protocol';
import {
  type ApiKeyRecord,
  allocateGrant,
  type Caller,
  compromiseKey,
  disableAgent,
  expireClaims,
  issueApiKey,
  issueOwnedKey,
  type PauseTarget,
  retireKey,
  revokeOwnedKey,
  type ServiceDeps,
  type Store,
  SYSTEM,
  setPause,
  transferDid,
  updateRelyingParty,
} from '@svc/service';
import { tamper } from '@svc/testkit';
import { withStores } from '@svc/testkit/store/open-store';
import { pauseDeps } from '@svc/testkit/store/pause-races';
import { runSql, untilWaiting, withSession } from '@svc/testkit/store/session';
import {
  allowCommit,
  createWorld,
  denyCommit,
  insertGrant,
  insertOrg,
  newAgent,
} from '@svc/testkit/store/world';
import { expect, it } from 'vitest';
import { listMigrations } from './migrations.ts';
import { commitStatement } from './verify/commit-parameters.ts';

const stores = withStores();
const depsOf = (store: Store): ServiceDeps => ({ ...pauseDeps(store), maxLiveKeys: 20 });

/** Holds the transaction, with all its work done, until `letGo`. */
const held = (store: Store) => {
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const transaction: Store['transaction'] = (work, options) =>
    store.transaction(async (tx) => {
      const done = await work(tx);
      await gate;
      return done;
    }, options);
  return { store: { ...store, transaction }, letGo };
};

const keyOf = async (role: 'principal' | 'rp' | 'org:admin', subject: string): Promise<ApiKeyRecord> => {
  const { random } = pauseDeps(stores.first);
  const issued = await stores.first.transaction((tx) =>
    issueApiKey(tx, random, { role, subject: subject as DidWeb, label: null }),
  );
  return issued.record;
};

const adminOf = async (orgId: OrgId): Promise<Caller> => {
  const key = await keyOf('org:admin', orgId);
  return { class: 'org', role: 'admin', subject: orgId, keyId: key.keyId, key, isNewcomer: false } as never;
};

/** A member of an org, claimed and not proven. */
const createMember = async (role: 'principal' | 'rp') => {
  const orgId = await insertOrg(stores.first);
  const { principal, relyingParty } = await createWorld(stores.first, orgId);
  const table = role === 'principal' ? 'principals' : 'relying_parties';
  const did = role === 'principal' ? principal.did : relyingParty.did;
  const unproven =
    role === 'principal'
      ? `verification_state = 'unverified', verified_since = null, last_proven_at = null`
      : `verification_token = 'token'`;
  await tamper(
    stores.url,
    `update ${table} set org_id = $1, claim_expires_at = now(), ${unproven} where did = $2`,
    [orgId, did],
  );
  return { orgId, did, key: await keyOf(role, did), admin: await adminOf(orgId) };
};

const liveKeys = (did: string, role: string) =>
  runSql(stores.url, 'select key_id from api_keys where subject = $1 and role = $2 and revoked_at is null', [
    did,
    role,
  ]);

const kindOf = (role: 'principal' | 'rp') => (role === 'principal' ? 'principal' : 'relying_party');
const takeAway = {
  released: (store: Store) => expireClaims(depsOf(store), new AbortController().signal),
  'given to another org': async (store: Store, role: 'principal' | 'rp', did: DidWeb) =>
    transferDid(depsOf(store), {
      ...{ caller: SYSTEM, did, kind: kindOf(role), requestId: 'r' },
      toOrgId: await insertOrg(stores.first),
    }),
} as const;
const cases = (['principal', 'rp'] as const).flatMap((role) =>
  (['released', 'given to another org'] as const).map((how) => ({ role, how })),
);

it.each(cases)(
  'a $role key that is issued while its DID is $how is not live afterwards',
  async ({ role, how }) => {
    for (const by of ['own key', 'key of its org']) {
      const { did, key, admin } = await createMember(role);
      const own = { class: role, subject: did, keyId: key.keyId, key, isNewcomer: false } as never as Caller;
      const issuing = held(stores.first);
      const caller = by === 'own key' ? own : admin;
      const owner = { subject: did, roles: [role] };
      const issued = issueOwnedKey(depsOf(issuing.store), caller, owner, { role, label: null }, 'r');
      await expect.poll(() => locksOf('api_keys')).toBeGreaterThan(0);
      const taken = takeAway[how](stores.second, role, did);
      await withSession(stores.url, (session) => untilWaiting(session));
      issuing.letGo();
      await Promise.all([issued, taken]);
      expect(await liveKeys(did, role), by).toEqual([]);
    }
  },
);

const locksOf = async (table: string) => {
  const [row] = await runSql<{ count: number }>(
    stores.url,
    `select count(*)::integer as count from pg_locks where relation = '${table}'::regclass and mode = 'RowExclusiveLock'
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return row?.count ?? 0;
};

it.each(cases)('no key is issued if its DID was $how during the call ($role)', async ({ role, how }) => {
  const { did, admin } = await createMember(role);
  const taking = held(stores.second);
  const taken = takeAway[how](taking.store, role, did);
  await expect.poll(() => locksOf('api_keys')).toBeGreaterThan(0);
  const issued = issueOwnedKey(
    depsOf(stores.first),
    admin,
    { subject: did, roles: [role] },
    { role, label: null },
    'r',
  ).then(
    () => 'issued',
    ({ code }) => code,
  );
  await withSession(stores.url, (session) => untilWaiting(session));
  taking.letGo();
  await taken;
  expect(await issued).toBe('NOT_FOUND');
  expect(await liveKeys(did, role)).toEqual([]);
});

it('a revoked key and an org that lost a DID cannot resume it or change its settings', async () => {
  const { did, admin, orgId } = await createMember('rp');
  const target: PauseTarget = { scope: 'relying_party', owner: did, subject: did };
  const set = (caller: Caller, isPaused: boolean) =>
    setPause(depsOf(stores.first), { caller, target, isPaused, reason: null, requestId: 'r' });
  const change = (caller: Caller) =>
    updateRelyingParty(depsOf(stores.first), caller, did, { proofWindowSeconds: 300 }, 'r');
  const stolen = await adminOf(orgId);
  await set(admin, true);
  const owner = { subject: orgId, roles: ['org:admin'] } as const;
  await revokeOwnedKey(
    depsOf(stores.first),
    admin,
    owner,
    (stolen as unknown as { keyId: ApiKeyId }).keyId,
    'r',
  );
  for (const call of [() => set(stolen, false), () => set(stolen, true), () => change(stolen)])
    await expect(call()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  await takeAway['given to another org'](stores.second, 'rp', did);
  // Skips the check before the transaction, as for a call that was admitted earlier.
  await expect(set(admin, false)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await stores.first.pauses.find(target)).toMatchObject({ isPaused: true });
});

it('a revoked key and an org that lost a Principal cannot end its keys or disable its Agents', async () => {
  const orgId = await insertOrg(stores.first);
  const world = await createWorld(stores.first, orgId);
  const { agent } = await insertGrant(world);
  const principal = world.principal.did;
  await tamper(stores.url, 'update principals set org_id = $1 where did = $2', [orgId, principal]);
  const kid = world.principal.keys[0]?.kid ?? '';
  const deps = depsOf(stores.first);
  const request = (caller: Caller) => ({ caller, principal, requestId: 'r' });
  const calls = [
    (caller: Caller) => retireKey(deps, { ...request(caller), kid }),
    (caller: Caller) => compromiseKey(deps, { ...request(caller), kid }),
    (caller: Caller) => disableAgent(deps, { ...request(caller), agent }),
  ];
  const [admin, stolen] = [await adminOf(orgId), await adminOf(orgId)];
  const owner = { subject: orgId, roles: ['org:admin'] } as const;
  const { keyId } = stolen as unknown as { keyId: ApiKeyId };
  await revokeOwnedKey(deps, admin, owner, keyId, 'r');
  // Skips the check before the transaction, as for a call that was admitted earlier.
  for (const call of calls) await expect(call(stolen)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  await takeAway['given to another org'](stores.second, 'principal', principal);
  for (const call of calls) await expect(call(admin)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect((await stores.first.principals.find(principal))?.keys).toMatchObject([{ kid, state: 'active' }]);
  expect(await stores.first.agents.find(principal, agent)).toBeNull();
});

it('the key of a released Principal allocates no Grant: UNAUTHORIZED', async () => {
  const { did, key } = await createMember('principal');
  const own = { class: 'principal', subject: did, keyId: key.keyId, key, isNewcomer: false } as never;
  await takeAway.released(stores.second);
  const allocated = allocateGrant(depsOf(stores.first), own, newAgent(), 'r');
  await expect(allocated).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
});

it.each(['an org', 'no org'] as const)(
  'a relying party in %s is not transferred while its first decision is being stored, or after it',
  async (where) => {
    const world = await createWorld(stores.first, where === 'an org' ? await insertOrg(stores.first) : null);
    const { did, orgId } = world.relyingParty;
    const caller = { class: 'admin', subject: null, keyId: null } as const;
    const toOrgId = await insertOrg(stores.first);
    const transfer = () =>
      transferDid(depsOf(stores.second), { caller, did, kind: 'relying_party', toOrgId, requestId: 'r' });
    // Without a production check, as for a Grant of the sandbox.
    const decision = allowCommit(world, await insertGrant(world), { productionCheck: null });
    await withSession(stores.url, async (commit) => {
      await commit.query('begin');
      const { text, values } = commitStatement([decision]);
      expect((await commit.query(text, [...values])).rows).toEqual([{ outcomes: ['STORED'] }]);
      await expect(transfer()).rejects.toMatchObject({ kind: 'lock_timeout' });
      await commit.query('commit');
    });
    await expect(transfer()).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await stores.first.relyingParties.find(did)).toMatchObject({ orgId });
    expect(await liveKeys(did, 'rp')).not.toEqual([]);
  },
);

it('hasDecided locks today and tomorrow, so no decision is stored between it and the transfer', async () => {
  const world = await createWorld(stores.first);
  const [today] = await runSql<{ day: number }>(
    stores.url,
    'select svc_day_number(svc_ms(clock_timestamp())) as day',
  );
  const held = await withSession(stores.url, (session) =>
    stores.first.transaction(async (tx) => {
      await tx.usage.hasDecided(world.relyingParty.did);
      const { rows } = await session.query<{ day: number }>(
        `select objid::integer as day from pg_locks where locktype = 'advisory' and classid = 2 and mode = 'ExclusiveLock' and granted
           and database = (select oid from pg_database where datname = current_database())`,
      );
      return rows;
    }),
  );
  const days = held.map(({ day }) => day);
  expect(days).toEqual(expect.arrayContaining([0, 1].map((after) => (today?.day ?? 0) + after)));
});

it('a node that stops while it holds the locks of all days blocks no decision, and the next transaction works', async () => {
  const world = await createWorld(stores.first);
  const { did } = world.relyingParty;
  const stopped = stores.first.transaction(async (tx) => {
    await tx.usage.hasDecided(did);
    await expect.poll(() => stores.second.verify.commitDecisions([denyCommit(world)])).toEqual(['STORED']);
    return tx.usage.hasDecided(did);
  });
  await expect(stopped).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
  expect(await stores.first.transaction((tx) => tx.usage.hasDecided(did))).toBe(true);
});

it('migration 0045 revokes keys without an owner and keys issued by another org, no others, and audits this', async () => {
  const [{ did, key, orgId }, former, starter] = [
    await createMember('rp'),
    await insertOrg(stores.first),
    await createMember('principal'),
  ];
  const issuedBy = async (org: OrgId, role: 'rp' | 'principal', subject: string) => {
    const admin = await adminOf(org);
    const table = role === 'rp' ? 'relying_parties' : 'principals';
    const [row] = await runSql<{ orgId: string }>(
      stores.url,
      `select org_id as "orgId" from ${table} where did = $1`,
      [subject],
    );
    await tamper(stores.url, `update ${table} set org_id = $1 where did = $2`, [org, subject]);
    const how = { subject: subject as DidWeb, roles: [role] };
    const issued = await issueOwnedKey(depsOf(stores.first), admin, how, { role, label: null }, 'r');
    await tamper(stores.url, `update ${table} set org_id = $1 where did = $2`, [row?.orgId, subject]);
    return issued.record.keyId;
  };
  const kept = [key.keyId, starter.key.keyId, await issuedBy(orgId, 'rp', did)];
  const revoked = [
    (await keyOf('rp', 'did:web:gone.example')).keyId,
    (await keyOf('principal', did)).keyId,
    await issuedBy(former, 'rp', did),
    await issuedBy(former, 'principal', starter.did),
  ];
  await runSql(stores.url, listMigrations().find((one) => one.name === '0045-keys-and-caps')?.sql ?? '');
  const rows = await runSql<{ keyId: ApiKeyId; isLive: boolean }>(
    stores.url,
    'select key_id as "keyId", revoked_at is null as "isLive" from api_keys where key_id = any ($1)',
    [[...kept, ...revoked]],
  );
  const audited = await runSql<{ target: string }>(
    stores.url,
    `select target from audit_events where action = 'api_key.revoke' and actor_kind = 'system' and target = any ($1)`,
    [[...kept, ...revoked]],
  );
  expect(audited.map(({ target }) => target).sort()).toEqual([...revoked].sort());
  const idsOf = (isLive: boolean) => rows.filter((row) => row.isLive === isLive).map(({ keyId }) => keyId);
  expect([idsOf(true).sort(), idsOf(false).sort()]).toEqual([kept.sort(), revoked.sort()]);
});

it('a transfer that waits for the row of the Principal delays no decision about its Grants', async () => {
  const world = await createWorld(stores.first, await insertOrg(stores.first));
  const { did } = world.principal;
  await tamper(stores.url, `update principals set kind = 'hosted' where did = $1`, [did]);
  const grant = await insertGrant(world);
  // As a kill switch does, for up to half a minute.
  await withSession(stores.url, async (holder) => {
    await holder.query('begin');
    await holder.query('select from principals where did = $1 for no key update', [did]);
    const taken = takeAway['given to another org'](stores.second, 'principal', did);
    await untilWaiting(holder);
    expect(await stores.first.verify.commitDecisions([allowCommit(world, grant)])).toEqual(['STORED']);
    await holder.query('commit');
    await taken;
  });
  expect(await stores.first.verify.commitDecisions([allowCommit(world, grant)])).toEqual(['STALE']);
});
