import { randomBytes } from 'node:crypto';
import type { ApiKeyId, DidWeb, OrgId } from '@svc/protocol';
import {
  Authenticator,
  issueOwnedKey,
  listOwnedKeys,
  observerOwner,
  revokeOwnedKey,
  type ServiceDeps,
} from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql, untilWaiting, withSession } from '@svc/testkit/store/session';
import {
  createWorld,
  hashOf,
  insertGrant,
  insertOrg,
  insertPrincipal,
  insertStatusList,
  newAgent,
  newGrantId,
  type World,
} from '@svc/testkit/store/world';
import { beforeEach, describe, expect, it } from 'vitest';

const stores = withStores();
let world: World;
beforeEach(async () => {
  world = await createWorld(stores.first);
});

describe('principals', () => {
  it('are read back with their keys and the document in force', async () => {
    const body = JSON.stringify({ id: world.principal.did });
    expect(await stores.second.principals.find(world.principal.did)).toEqual({
      did: world.principal.did,
      claimExpiresAtMs: null,
      kind: 'hosted',
      domain: world.principal.domain,
      slug: null,
      verificationState: 'verified',
      recordedState: 'verified',
      verifiedSinceMs: world.principal.verifiedSinceMs,
      lastCheckedMs: world.principal.verifiedSinceMs,
      lastProvenMs: world.principal.verifiedSinceMs,
      verificationToken: world.principal.verificationToken,
      orgId: null,
      mayBeNamed: false,
      createdAtMs: expect.any(Number),
      version: world.principal.version,
      document: { hash: hashOf(body), body, resolvedAtMs: world.principal.version - 1 },
      keys: [
        {
          kid: `${world.principal.did}#key-1`,
          publicKeyMultibase: 'z6MkKey1',
          state: 'active',
          sinceMs: expect.any(Number),
          withdrawnMs: null,
        },
      ],
    });
    expect(Number.isSafeInteger(world.principal.verifiedSinceMs)).toBe(true);
    expect(await stores.first.principals.find('did:web:nobody.example')).toBeNull();
  });

  it('an unverified Principal has no document, no keys and no verification date', async () => {
    const did = `did:web:${randomBytes(6).toString('hex')}.example` as DidWeb;
    const inserted = await stores.first.principals.insert({
      ...world.principal,
      did,
      slug: did,
      verificationState: 'unverified',
      keys: [],
      documentHash: null,
    });
    expect(inserted).toMatchObject({ verifiedSinceMs: null, document: null, keys: [] });
    expect(await stores.first.principals.find(did)).toEqual(inserted);
  });

  it('a slug is taken only as a part of a DID: it is free again after a change of the domain, and the same DID is a conflict', async () => {
    const slug = randomBytes(6).toString('hex');
    const under = (domain: string) => ({
      ...{ ...world.principal, kind: 'managed' as const, slug, keys: [], documentHash: null },
      did: `did:web:${domain}:org:${slug}` as DidWeb,
    });
    await stores.first.principals.insert(under('former.example'));
    const moved = under('svc.example');
    expect(await stores.first.principals.insert(moved)).toMatchObject({ did: moved.did, slug });
    await expect(stores.first.principals.insert(moved)).rejects.toMatchObject({ kind: 'conflict' });
  });

  it('a key state moves forward only; each move is dated and raises the version, any other call changes nothing', async () => {
    const { did, keys, version } = world.principal;
    const kid = keys[0]?.kid ?? '';
    const { setKeyState, find } = stores.first.principals;
    expect(await setKeyState(did, kid, 'active')).toBe(false);
    expect(await setKeyState(did, kid, 'retired')).toBe(true);
    const retired = await find(did);
    expect(retired).toMatchObject({ version: version + 1, keys: [{ state: 'retired' }] });
    expect(await setKeyState(did, kid, 'retired')).toBe(false);
    expect(await find(did)).toEqual(retired);
    expect(await setKeyState(did, kid, 'compromised')).toBe(true);
    const compromised = await find(did);
    expect(compromised).toMatchObject({ version: version + 2, keys: [{ state: 'compromised' }] });
    for (const state of ['active', 'retired', 'compromised'] as const)
      expect(await setKeyState(did, kid, state)).toBe(false);
    expect(await setKeyState(did, `${did}#other`, 'retired')).toBe(false);
    expect(await find(did)).toEqual(compromised);
  });

  it('findForUpdate reads the Principal and its keys after it has the lock', async () => {
    const { did, keys, version } = world.principal;
    const kid = keys[0]?.kid ?? '';
    await withSession(stores.url, async (other) => {
      await other.query('begin');
      await other.query('update principals set version = version + 1 where did = $1', [did]);
      const found = stores.first.transaction((tx) => tx.principals.findForUpdate(did));
      await untilWaiting(other);
      await other.query(`update principal_keys set state = 'compromised' where kid = $1`, [kid]);
      await other.query('commit');
      expect(await found).toMatchObject({ version: version + 1, keys: [{ kid, state: 'compromised' }] });
    });
  });

  it('listDueForVerification takes orgs in turns, and selects by state, last check and last proof', async () => {
    await runSql(stores.url, `update principals set kind = 'managed' where kind = 'hosted'`);
    const orgId = `org_${randomBytes(8).toString('hex')}`;
    await runSql(stores.url, `insert into orgs (org_id, slug, name) values ($1, $1, 'Org')`, [orgId]);
    const insertHosted = async (org: string | null, ageHours: number) => {
      const { did } = await insertPrincipal(stores.first);
      await runSql(
        stores.url,
        `update principals set kind = 'hosted', org_id = $2,
           last_checked_at = now() - make_interval(hours => $3) where did = $1`,
        [did, org, ageHours],
      );
      return did;
    };
    const many: DidWeb[] = [];
    for (const age of [53, 52, 51]) many.push(await insertHosted(orgId, age));
    const alone = await insertHosted(null, 50);
    const due = await stores.first.principals.listDueForVerification(100);
    const own = due.map(({ did }) => did).filter((did) => did === alone || many.includes(did));
    expect(own).toEqual([many[0], alone, many[1], many[2]]);

    const isDue = async (state: string, checkedHoursAgo: number | null, provenHoursAgo: number | null) => {
      await runSql(
        stores.url,
        `update principals set verification_state = $2, last_checked_at = svc_now() - make_interval(hours => $3),
           last_proven_at = svc_now() - make_interval(hours => $4) where did = $1`,
        [alone, state, checkedHoursAgo, provenHoursAgo],
      );
      const dids = (await stores.first.principals.listDueForVerification(100)).map(({ did }) => did);
      return dids.includes(alone);
    };
    expect([await isDue('unverified', null, null), await isDue('unverified', 23, null)]).toEqual([
      true,
      false,
    ]);
    expect([await isDue('verified', 23, 23), await isDue('verified', 25, 25)]).toEqual([false, true]);
    expect([await isDue('verified', 0, 71), await isDue('verified', 2, 71)]).toEqual([false, true]);
    expect([await isDue('verified', 0, 73), await isDue('unverified', 2, 73)]).toEqual([true, false]);
    expect(await isDue('verified', 0, null)).toBe(true);
    await runSql(stores.url, `update principals set kind = 'managed' where kind = 'hosted'`);
  });

  it('are listed by org in the order of their DIDs', async () => {
    const orgId = `org_${randomBytes(8).toString('hex')}` as OrgId;
    expect(await stores.first.orgs.exists(orgId)).toBe(false);
    await runSql(stores.url, `insert into orgs (org_id, slug, name) values ($1, $1, 'Org')`, [orgId]);
    expect(await stores.first.orgs.exists(orgId)).toBe(true);
    const members = [await insertPrincipal(stores.first), await insertPrincipal(stores.first)].map(
      ({ did }) => did,
    );
    await runSql(stores.url, 'update principals set org_id = $1 where did = any ($2)', [orgId, members]);
    expect(await stores.first.principals.listDidsOfOrg(orgId)).toEqual(members.toSorted());
  });
});

describe('relying parties', () => {
  it('an update raises the version and changes only the given fields', async () => {
    const { did } = world.relyingParty;
    const changed = await stores.first.relyingParties.update(did, { name: 'New', proofWindowSeconds: 30 });
    expect(changed).toEqual({ ...world.relyingParty, name: 'New', proofWindowSeconds: 30, version: 2 });
    expect(await stores.second.relyingParties.find(did)).toEqual(changed);
    expect(
      await stores.first.relyingParties.update('did:web:nobody.example' as DidWeb, { name: 'x' }),
    ).toBeNull();
  });
});

describe('API keys', () => {
  it('are found by hash and by id, and on the verify path with their relying party', async () => {
    const key = await stores.first.apiKeys.findById(world.keyId);
    expect(key).toMatchObject({ keyHash: world.keyHash, keyId: world.keyId, role: 'rp', revokedAtMs: null });
    const hashes = ['00'.repeat(32), world.keyHash];
    expect(await stores.second.apiKeys.findByHashes(hashes)).toEqual([
      null,
      { ...key, principalOrgId: null, isNewcomer: false },
    ]);
    const caller = await stores.first.verify.findRpCaller(world.keyHash);
    expect(caller).toEqual({
      key,
      relyingParty: world.relyingParty,
      entitlement: null,
      isNewcomer: false,
      isPaused: false,
    });
    expect(await stores.first.verify.findRpCaller('00'.repeat(32))).toBeNull();
  });

  it('are revoked once and only under their own subject; of concurrent revocations one succeeds', async () => {
    const { did } = world.relyingParty;
    expect(await stores.first.apiKeys.revoke(world.principal.did, world.keyId)).toBeNull();
    const answers = await Promise.all(
      [stores.first, stores.second, stores.first, stores.second].map(({ apiKeys }) =>
        apiKeys.revoke(did, world.keyId),
      ),
    );
    const [revoked, ...others] = answers.filter((answer) => answer !== null);
    expect(revoked?.revokedAtMs).toBeTypeOf('number');
    expect(others).toEqual([]);
    expect((await stores.first.verify.findRpCaller(world.keyHash))?.key).toEqual(revoked);
  });

  it("of observers survive a change of the service's DID: they are listed, counted and revoked under the new DID", async () => {
    const store = stores.first;
    const clock = { nowMs: () => Date.now(), resync: () => Promise.resolve() };
    const name = randomBytes(6).toString('hex');
    const depsOf = (did: string, formers: readonly string[]) =>
      ({
        store,
        clock,
        random: { bytes: (length: number) => randomBytes(length) },
        log: { info: () => {} },
        identity: { did, formers: formers.map((former) => ({ did: former })) },
        maxLiveKeys: 2,
      }) as unknown as ServiceDeps;
    const admin = { class: 'admin', subject: null, keyId: null } as const;
    const issue = (deps: ServiceDeps) =>
      issueOwnedKey(deps, admin, observerOwner(deps), { role: 'observer', label: null }, 'req_1');
    const former = `did:web:${name}.example`;
    const before = depsOf(former, []);
    const after = depsOf(`did:web:new-${name}.example`, [former]);
    const authenticator = new Authenticator(store, clock, { adminToken: null, provisionKeys: [] });
    const authenticate = ({ value }: { readonly value: string }) =>
      authenticator.authenticate(value, { mayBeRemembered: false });

    const old = await issue(before);
    const fresh = await issue(after);
    expect(fresh.record.subject).toBe(after.identity.did);
    const listed = await listOwnedKeys(after, observerOwner(after));
    expect(listed.map(({ keyId }) => keyId)).toEqual([fresh.record.keyId, old.record.keyId]);
    await expect(issue(after)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });

    expect(await authenticate(old)).toMatchObject({ class: 'observer' });
    const revoked = await revokeOwnedKey(after, admin, observerOwner(after), old.record.keyId, 'req_2');
    expect(revoked.revokedAtMs).toBeTypeOf('number');
    expect(await authenticate(old)).toBeNull();
    expect((await issue(after)).record.subject).toBe(after.identity.did);
  });

  it('with a key id that exists already are refused as a conflict', async () => {
    const other = {
      keyHash: randomBytes(32).toString('hex'),
      role: 'observer',
      subject: 'x',
      label: null,
    } as const;
    const insert = stores.first.apiKeys.insert({ ...other, keyId: world.keyId as ApiKeyId });
    await expect(insert).rejects.toMatchObject({ kind: 'conflict' });
  });
});

describe('contesting claims', () => {
  it('are forgotten once expired; a claim whose row is locked is skipped and forgotten later', async () => {
    const orgId = await insertOrg(stores.first);
    const { claims } = stores.first;
    const contest = (did: string) => {
      const claim = { did: did as DidWeb, kind: 'principal', orgId, token: 't', expiresAtMs: 0 } as const;
      return claims.contest(claim, 100);
    };
    const held = 'did:web:held.example' as DidWeb;
    await contest(held);
    await contest('did:web:other.example');
    expect(await claims.findContesting({ did: held, kind: 'principal', orgId })).toBeNull();
    await withSession(stores.url, async (session) => {
      await session.query('begin');
      await session.query(`select from contesting_claims where did = '${held}' for update`);
      expect(await claims.forgetExpired()).toBe(1);
      await session.query('commit');
    });
    expect(await claims.forgetExpired()).toBe(1);
    expect(await claims.countOpen(orgId)).toBe(0);
  });
});

describe('grants', () => {
  it('are listed newest first, with a cursor, by state and by Agent', async () => {
    const { did } = world.principal;
    const grants = [];
    for (let i = 0; i < 5; i++) grants.push(await insertGrant(world));
    const newestFirst = grants.toSorted((a, b) => (a.id < b.id ? 1 : -1));
    const [first, second, third] = newestFirst;
    if (!first || !second || !third) throw new Error('five were inserted');
    await stores.first.grants.recordRevocation([second.id]);

    const list = (filter: object) => stores.second.grants.list({ principals: [did], limit: 50, ...filter });
    const ids = async (filter: object) => (await list(filter)).map(({ id }) => id);
    expect(await list({ limit: 1 })).toEqual([first]);
    expect(await ids({ beforeId: third.id })).toEqual(newestFirst.slice(3).map(({ id }) => id));
    expect(await ids({ agent: first.agent })).toEqual([first.id]);
    expect(await ids({ state: 'revoked' })).toEqual([second.id]);
    expect(await ids({ state: 'active' })).toHaveLength(4);
    expect(await ids({ principals: [] })).toEqual([]);
    expect(await ids({ principals: null, agent: first.agent })).toEqual([first.id]);
  });

  it('keep the date of the first recorded revocation', async () => {
    const grant = await insertGrant(world);
    await stores.first.grants.recordRevocation([grant.id]);
    const recorded = await stores.first.grants.find(grant.id);
    await stores.first.grants.recordRevocation([grant.id, newGrantId()]);
    expect(await stores.first.grants.find(grant.id)).toEqual(recorded);
    expect(recorded?.revocationRecordedAtMs).toBeTypeOf('number');
    expect(recorded?.revokedAtMs).toBeNull();
  });

  it('with a status entry that another Grant has are refused as a conflict', async () => {
    const { statusListUrl, statusIndex } = await insertGrant(world);
    const again = {
      id: newGrantId(),
      principal: world.principal.did,
      agent: newAgent(),
      statusListUrl,
      statusIndex,
    };
    await expect(stores.first.grants.insert(again)).rejects.toMatchObject({ kind: 'conflict' });
  });
});

describe('status lists', () => {
  it('are read back byte for byte', async () => {
    const bits = randomBytes(16_384);
    const credential = 'eyJhbGciOiJFZERTQSJ9.x.y';
    await stores.first.evidence.insert({
      hash: hashOf(credential),
      contentType: 'a/b',
      body: Buffer.from(credential),
    });
    const change = {
      url: world.listUrl,
      bits,
      credential,
      credentialHash: hashOf(credential),
      validFromMs: 1_700_000_000_123,
    };
    await stores.first.statusLists.update(change);
    const list = await stores.second.statusLists.findByUrl(world.listUrl);
    expect(list).toMatchObject({ ...change, bits: new Uint8Array(bits), number: 1, version: 2 });
    expect(await stores.first.verify.findStatusCredential(world.listUrl)).toEqual({
      credential,
      credentialHash: hashOf(credential),
    });
  });

  it('hand out each ordinal once under concurrent calls, and none once full', async () => {
    const principal = await insertPrincipal(stores.first);
    const url = await insertStatusList(stores.first, principal, 64);
    const taken = await Promise.all(
      Array.from({ length: 72 }, (_, i) =>
        (i % 2 ? stores.first : stores.second).statusLists.takeOrdinal(principal.did),
      ),
    );
    const ordinals = taken
      .flatMap((entry) => (entry === null ? [] : [entry.ordinal]))
      .toSorted((a, b) => a - b);
    expect(ordinals).toEqual(Array.from({ length: 64 }, (_, ordinal) => ordinal));
    const next = await insertStatusList(stores.first, principal, 64);
    expect(await stores.first.statusLists.takeOrdinal(principal.did)).toMatchObject({
      url: next,
      ordinal: 0,
    });
    expect(url).not.toBe(next);
  });

  it('are numbered per domain without gaps or duplicates by concurrent transactions', async () => {
    const principals = await Promise.all(Array.from({ length: 6 }, () => insertPrincipal(stores.first)));
    const domain = `shared-${randomBytes(6).toString('hex')}.example`;
    await Promise.all(
      principals.map((principal, i) =>
        (i % 2 ? stores.first : stores.second).transaction((tx) =>
          insertStatusList({ ...stores.first, ...tx }, { ...principal, domain }, 64),
        ),
      ),
    );
    expect(await stores.first.statusLists.takeNumber(domain)).toBe(7);
  });
});

it('evidence is stored once, with its exact bytes', async () => {
  const body = new Uint8Array(randomBytes(1000));
  const evidence = { hash: hashOf(body), contentType: 'application/octet-stream', body };
  await stores.first.evidence.insert(evidence);
  await stores.second.evidence.insert(evidence);
  expect(await stores.first.evidence.find(evidence.hash)).toEqual(evidence);
});

it('findFacts answers in the order of the questions, with null for absent records', async () => {
  const [grant, other] = [await insertGrant(world), await createWorld(stores.first)];
  const facts = await stores.second.verify.findFacts([
    { issuer: other.principal.did, grantId: grant.id },
    { issuer: null, grantId: null },
    { issuer: world.principal.did, grantId: newGrantId() },
    { issuer: 'did:web:nobody.example' as DidWeb, grantId: null },
    { issuer: world.principal.did, grantId: grant.id },
  ]);
  expect(facts).toEqual([
    {
      principal: other.principal,
      grant: {
        ...grant,
        grantHash: null,
        isWithheld: false,
        isPaused: false,
        principalVersion: world.principal.version,
      },
    },
    { principal: null, grant: null },
    { principal: world.principal, grant: null },
    { principal: null, grant: null },
    {
      principal: world.principal,
      grant: {
        ...grant,
        grantHash: null,
        isWithheld: false,
        isPaused: false,
        principalVersion: world.principal.version,
      },
    },
  ]);
  expect(await stores.first.verify.findFacts([])).toEqual([]);
});

describe('agents', () => {
  it('keep the date of their latest disabling, and an Agent that is not registered stays absent', async () => {
    const { did } = world.principal;
    const agent = newAgent();
    expect(await stores.first.agents.setDisabled(did, agent)).toBeNull();
    expect(await stores.first.agents.find(did, agent)).toBeNull();
    const inserted = await stores.first.agents.insert(did, agent);
    expect(inserted).toMatchObject({ did: agent, principal: did, disabledAtMs: null });
    await expect(stores.first.agents.insert(did, agent)).rejects.toMatchObject({ kind: 'conflict' });
    const first = await stores.first.agents.setDisabled(did, agent);
    expect(first).toEqual({ ...inserted, disabledAtMs: expect.any(Number) });
    const second = await stores.first.agents.setDisabled(did, agent);
    expect(second?.disabledAtMs).toBeGreaterThanOrEqual(first?.disabledAtMs ?? Number.NaN);
    expect(await stores.second.agents.find(did, agent)).toEqual(second);
  });
});
