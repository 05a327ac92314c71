/** What a restore gave back is revoked again from the copies beside the fence, and from the log (protocol §10). */
import { generateKeyPairSync } from 'node:crypto';
import { emptyRoot } from '@svc/merkle';
import { type DidKey, type DidWeb, type GrantId, jcs, signCompactJws } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import {
  compromiseKey,
  disableAgent,
  type FenceStore,
  findLostSpan,
  formatHead,
  HEAD_KEY,
  Holds,
  parseKeySet,
  putEntitlement,
  type RestoreOptions,
  Revoker,
  restoreLedger,
  retireKey,
  type ServiceDeps,
  SYSTEM,
  setPause,
} from '@svc/service';
import {
  buildStatusListCredential,
  createBitstring,
  encodeBitstring,
  getBit,
  setBit,
} from '@svc/status-list';
import { tamper } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import { PATIENT, withStores } from '@svc/testkit/store/open-store';
import { readRevocationLog } from '@svc/testkit/store/read-revocation-log';
import { runSql } from '@svc/testkit/store/session';
import { createWorld, hashOf, insertGrant, insertOrg, type World } from '@svc/testkit/store/world';
import { buildCheckpoint, signCheckpoint } from '@svc/transparency';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createStore } from './create-store.ts';

const stores = withStores();
const DID = 'did:web:svc.example' as DidWeb;
const LIST_BITS = 131_072;

const keysOf = (did: DidWeb, kid = 'status-1') => {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return parseKeySet({ keys: [{ ...jwk, kid }] }, 'status', did);
};
const statusKeys = keysOf(DID);
const ofService = { did: DID, domain: 'svc.example', statusKeys, formers: [] };
const depsOf = (store = stores.first, identity: object = ofService) =>
  ({
    store,
    identity,
    log,
    entitlements: { compOrgs: new Set(), isEnforced: true },
    holds: new Holds(log),
    clock: { nowMs: () => Date.now() },
    crypto: nativeCrypto,
    random: { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) },
  }) as unknown as ServiceDeps;

/** Log lines since the test began. */
let lines: string[] = [];
const log = {
  info: (msg: string, fields: object) => lines.push(JSON.stringify({ ...fields, msg })),
  warn: () => {},
  error: () => {},
};
let world: World;
beforeEach(async () => {
  lines = [];
  // Grants of other tests would be revoked again too, each in a step of one.
  await tamper(stores.url, 'delete from grants');
  world = await createWorld(stores.first);
});

/** Inserts Grants in the order of their entries; `entry` is an expression of `i`. */
const insertGrants = (count: number, entry = 'i') =>
  runSql(
    stores.url,
    `insert into grants (id, principal, agent, status_list_url, status_index)
     select 'urn:svc:grant:01' || upper(substr(md5(random()::text), 1, 6)) || lpad(i::text, 18, '0'), $1,
       'did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH', $2, ${entry} from generate_series(0, $3::int - 1) as i`,
    [world.principal.did, world.listUrl, count],
  );

/** Signs the list as it was served in the lost span, with the first `count` entries revoked. */
const signList = (count: number, issuer = DID, { signer } = statusKeys): Promise<string> => {
  const bits = createBitstring(LIST_BITS);
  for (let index = 0; index < count; index++) setBit(bits, index);
  const validFrom = new Date().toISOString().replace(/\.\d+/, '');
  const encodedList = encodeBitstring(bits);
  const payload = buildStatusListCredential({ id: world.listUrl, issuer, validFrom, encodedList });
  return signCompactJws(signer, { typ: 'vc+jwt' }, jcs({ ...payload }));
};

/** A fence whose head the database lacks, with the copies beside it, by folder. */
const loseHead = async (
  kept: Readonly<Record<string, readonly object[]>>,
  did = DID,
): Promise<FenceStore> => {
  const { seq, epoch } = await stores.first.restores.findLast();
  const head = { epoch, seq: seq + 5, nonce: 'f'.repeat(32), atMs: Math.floor(await stores.first.now()) };
  const objects = new Map<string, string>();
  for (const [folder, all] of Object.entries(kept))
    for (const [index, one] of all.entries()) objects.set(`${folder}/${index}`, JSON.stringify(one));
  const names = [...objects.keys()];
  let [headText, tag] = [formatHead(did, head), 0];
  return {
    atOnce: 1,
    find: async (key) => ({ text: objects.get(key) ?? headText, tag: String(tag) }),
    put: async (_, text) => {
      [headText, tag] = [text, tag + 1];
      return true;
    },
    list: async (folder) => names.filter((name) => name.startsWith(`${folder}/`)),
  };
};

const keepList = async (count: number, ...by: [DidWeb?, typeof statusKeys?]) => ({
  name: world.listUrl,
  kept: { number: 1, version: 5, credential: await signList(count, ...by) },
});

/** Restores as `svc-admin restore --apply` does. */
const restore = async (
  deps: ServiceDeps,
  fenceStore: FenceStore,
  { log = [], ...options }: RestoreOptions & { readonly log?: readonly string[] } = {},
) => {
  const span = await findLostSpan(deps, fenceStore);
  if (span === null) throw new Error('nothing is lost');
  return restoreLedger(deps, fenceStore, span, readRevocationLog(log), options);
};

/** Counts the revoked Grants of the list. */
const countRevoked = async () => {
  const text = `select count(revoked_at)::int as revoked, count(revocation_recorded_at)::int as recorded,
    (select max(n)::int from (
      select count(*) as n from audit_events a join grants g on g.id = a.target
      where g.status_list_url = $1 and a.action = 'grant.revoke' group by a.xmin::text
    ) as t) as "inOne"
    from grants where status_list_url = $1`;
  const [row] = await runSql(stores.url, text, [world.listUrl]);
  return row;
};

it('a list with more revoked Grants than one transaction has time for is revoked again in steps', async () => {
  const grants = sampled({ quick: 1_200, deep: 10_000 });
  const transactionMs = sampled({ quick: 400, deep: 2_200 });
  const step = sampled({ quick: 500, deep: 5_000 });
  await insertGrants(grants + 1);
  const store = createStore({ databaseUrl: stores.url, deadlines: { ...PATIENT, transactionMs } });
  onTestFinished(() => store.close());
  const fenceStore = await loseHead({ 'status-lists': [await keepList(grants)] });
  const { takenAgain } = await restore(depsOf(store), fenceStore, { step });
  expect(takenAgain.grants).toBe(grants);
  expect(await countRevoked()).toEqual({ revoked: grants, recorded: grants, inOne: step });
});

it('a restore that is cut off within a list revokes the rest when it is started again', async () => {
  await insertGrants(5);
  const fenceStore = await loseHead({ 'status-lists': [await keepList(4)] });
  let left = 2;
  const { first } = stores;
  const store = Object.assign(Object.create(first), {
    async transaction(...[work, options]: Parameters<typeof first.transaction>) {
      left -= 1;
      if (left < 0) throw new Error('cut off');
      return first.transaction(work, options);
    },
  });
  await expect(restore(depsOf(store), fenceStore, { step: 1 })).rejects.toThrow('cut off');
  expect(await countRevoked()).toMatchObject({ recorded: 2 });
  await restore(depsOf(), fenceStore, { step: 1 });
  expect(await countRevoked()).toMatchObject({ revoked: 2, recorded: 4 });
});

it("each Grant that a restore revokes again is in the audit log of its Principal's org", async () => {
  const orgId = await insertOrg(stores.first);
  await runSql(stores.url, 'update principals set org_id = $1 where did = $2', [orgId, world.principal.did]);
  await insertGrants(3);
  await restore(depsOf(), await loseHead({ 'status-lists': [await keepList(2)] }));
  const events = await stores.first.audit.list({ scope: { actors: [], orgId }, limit: 10 });
  expect(events.map(({ action }) => action)).toEqual(['grant.revoke', 'grant.revoke']);
});

it('a list that the service signed under a former DID is accepted as a source of revocations', async () => {
  await insertGrants(2);
  const formerDid = 'did:web:former.example' as DidWeb;
  const former = { did: formerDid, receiptKeys: statusKeys, statusKeys: keysOf(formerDid) };
  const fenceStore = await loseHead({ 'status-lists': [await keepList(1, formerDid, former.statusKeys)] });
  await restore(depsOf(stores.first, { ...ofService, formers: [former] }), fenceStore);
  expect(await countRevoked()).toMatchObject({ revoked: 1, recorded: 1 });
});

it('a list signed under a DID that the service never had is refused', async () => {
  const other = 'did:web:other.example' as DidWeb;
  const fenceStore = await loseHead({ 'status-lists': [await keepList(1, other, keysOf(other))] });
  await expect(restore(depsOf(), fenceStore)).rejects.toThrow('not signed by a status key');
});

it('a record that was copied after its row was deleted stops no restore: of a list, a checkpoint, or a thing taken back', async () => {
  const gone = (...names: readonly string[]) => names.map((name) => ({ name, kept: null }));
  const subjects = [
    ...['key:k', 'api-key:key_gone', 'agent:did:web:a.example did:key:z6Mk', 'entitlement:org_gone'],
    ...['pause:grant did:web:a.example g', 'service-key:status-9', `unlisted:${world.listUrl} 1`],
  ];
  await insertGrants(2);
  const fenceStore = await loseHead({
    'status-lists': [...gone('https://svc.example/status-lists/gone/1'), await keepList(1)],
    ...{ checkpoints: gone('2026-11-20'), revoked: gone(...subjects) },
  });
  const { takenAgain } = await restore(depsOf(), fenceStore);
  expect(takenAgain).toMatchObject({ grants: 1, serviceKeys: [], unknownKeys: [] });
  const [latest] = await runSql<{ least: number }>(
    stores.url,
    'select least_list_number as least from restores order by epoch desc limit 1',
  );
  expect(latest?.least).toBeGreaterThan(10_000);
});

it('a checkpoint dated ahead of the clock stops the restore before it begins, unless leaveAhead skips it', async () => {
  const day = '2026-11-20';
  const closedAtMs = Date.parse('2026-11-21T00:00:05Z');
  const checkpoint = buildCheckpoint({
    ...{ serviceDid: DID, day, treeSize: 0, root: emptyRoot(), previousRoot: null },
    ...{ firstReceiptId: null, lastReceiptId: null, closedAtSeconds: closedAtMs / 1_000 },
  });
  const jws = await signCheckpoint(checkpoint, statusKeys.signer);
  const kept = { name: day, kept: { jws, content_root: `sha256:${'0'.repeat(64)}` } };
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const receiptKeys = parseKeySet({ keys: [{ ...jwk, kid: 'receipt-1' }] }, 'receipt', DID);
  const identity = { ...ofService, receiptKeys };
  const deps = { ...depsOf(stores.first, identity), clock: { nowMs: () => closedAtMs - 1 } } as ServiceDeps;
  const fenceStore = await loseHead({ checkpoints: [kept] });
  const former = await fenceStore.find('head');
  await expect(restore(deps, fenceStore)).rejects.toThrow(
    'the checkpoints of 2026-11-20 are dated ahead of the database’s clock',
  );
  expect(await fenceStore.find('head')).toEqual(former);
  await expect(restore(deps, fenceStore, { leaveAhead: { hereMs: closedAtMs } })).rejects.toThrow(
    'are over by the clock of this machine',
  );
  expect(await fenceStore.find('head')).toEqual(former);
  expect(await restore(deps, fenceStore, { leaveAhead: { hereMs: closedAtMs - 1 } })).toMatchObject({
    restore: { reinstatedDays: [] },
  });
});

describe('a key of a hosted Principal that was first seen and ended within the lost span', () => {
  const NEW_KEY = 'z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH';
  const kidOfWorld = () => `${world.principal.did}#key-2`;

  /** Stores the DID document that the domain serves. */
  const putDocument = async () => {
    const body = JSON.stringify({ id: world.principal.did, key: NEW_KEY });
    await stores.first.evidence.insert({
      hash: hashOf(body),
      contentType: 'application/json',
      body: Buffer.from(body),
    });
    const keys = world.principal.keys.map(({ kid, publicKeyMultibase }) => ({ kid, publicKeyMultibase }));
    const seen = [...keys, { kid: kidOfWorld(), publicKeyMultibase: NEW_KEY }];
    await stores.first.transaction((tx) =>
      tx.principals.putDocument(world.principal.did, hashOf(body), seen),
    );
  };
  const findKey = async () =>
    (await stores.first.principals.find(world.principal.did))?.keys.find(({ kid }) => kid === kidOfWorld());
  const loseKey = () => runSql(stores.url, 'delete from principal_keys where kid = $1', [kidOfWorld()]);
  const listKept = async () => {
    const notes = await stores.first.lineage.listNotes({ revoked: 0, others: 0 }, 0, 1_000);
    const noted = notes.filter(({ name }) => name === `key:${kidOfWorld()}`);
    return noted.map(({ name, text }) => ({ name, kept: JSON.parse(text ?? 'null') }));
  };
  const end = async (state: 'retired' | 'compromised') => {
    const request = { caller: SYSTEM, principal: world.principal.did, kid: kidOfWorld(), requestId: 'r' };
    await (state === 'retired' ? retireKey : compromiseKey)(depsOf(), request);
  };

  describe.each(['retired', 'compromised'] as const)('%s', (state) => {
    it.each(['what was kept', 'the log'])(
      'is ended again by %s, and the served document does not reactivate it',
      async (by) => {
        await putDocument();
        await end(state);
        const revoked = by === 'the log' ? [] : await listKept();
        await loseKey();
        const fenceStore = await loseHead({ revoked });
        const { takenAgain } = await restore(depsOf(), fenceStore, { log: by === 'the log' ? lines : [] });
        expect(takenAgain).toMatchObject({ keys: 1, unknownKeys: [] });
        await putDocument();
        expect(await findKey()).toMatchObject({ state, publicKeyMultibase: NEW_KEY });
      },
    );
  });

  it('is not created again for a party that registered the DID since', async () => {
    await putDocument();
    await end('compromised');
    const [kept] = await listKept();
    await loseKey();
    const ofOther = { ...kept, kept: { ...kept?.kept, since_ms: 1 } };
    const { takenAgain } = await restore(depsOf(), await loseHead({ revoked: [ofOther] }));
    expect(takenAgain).toMatchObject({ keys: 0, unknownKeys: [] });
    expect(await findKey()).toBeUndefined();
  });

  it('is reported as unknown when neither the copy nor the log line contains the public key', async () => {
    await putDocument();
    await end('compromised');
    const revoked = (await listKept()).map(({ name, kept: { public_key_multibase: _, ...kept } }) => ({
      name,
      kept,
    }));
    await loseKey();
    const byCopy = await restore(depsOf(), await loseHead({ revoked }));
    expect(byCopy.takenAgain.unknownKeys).toEqual([kidOfWorld()]);
    const line = JSON.stringify({ msg: 'revocation', principal: world.principal.did, kid: kidOfWorld() });
    const byLog = await restore(depsOf(), await loseHead({}), { log: [line] });
    expect(byLog.takenAgain.unknownKeys).toEqual([kidOfWorld()]);
  });
});

it('a restore ends an Agent, entitlements, a pause, an API key and a service key again from the copies at the fence', async () => {
  const store = stores.first;
  const principal = world.principal.did;
  const orgIds = [await insertOrg(store), await insertOrg(store)];
  const { agent } = await insertGrant(world);
  await store.agents.insert(principal, agent);
  await disableAgent(depsOf(), { caller: SYSTEM, principal, agent, requestId: 'r' });
  const push = { productionUntilMs: null, checkCap: null, capSinceMs: null, asOfMs: Date.now() } as const;
  for (const orgId of orgIds)
    await store.putEntitlement(orgId, { ...push, production: 'blocked', reason: 'canceled' });
  const target = { scope: 'principal', owner: principal, subject: principal } as const;
  const order = { caller: SYSTEM, target, reason: 'lost', requestId: 'r' } as const;
  await setPause(depsOf(), { ...order, isPaused: true });
  await store.restores.revokeApiKey(world.keyId);
  const kid = `${DID}#status-${world.keyId}`;
  await store.serviceKeys.remember(kid, 'z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH');
  await store.serviceKeys.end(kid, 'compromised');
  const notes = await store.lineage.listNotes({ revoked: 0, others: 0 }, 0, 1_000);
  const revoked = notes
    .filter(({ name }) => [principal, agent, ...orgIds, world.keyId, kid].some((one) => name.includes(one)))
    .map(({ name, text }) => ({ name, kept: JSON.parse(text ?? 'null') }));
  await tamper(
    stores.url,
    `update agents set disabled_at = null; delete from entitlements where org_id = '${orgIds[0]}'; delete from pauses;
     update entitlements set production = 'allowed', reason = 'paid' where org_id = '${orgIds[1]}'; update api_keys set revoked_at = null; delete from service_key_ends`,
  );
  const { takenAgain } = await restore(depsOf(), await loseHead({ revoked }));
  const once = { agents: 1, entitlements: 2, pauses: 1, apiKeys: 1 };
  expect(takenAgain).toMatchObject({ ...once, serviceKeys: [kid] });
  for (const orgId of orgIds)
    expect(await store.entitlements.find(orgId)).toMatchObject({ production: 'blocked', reason: 'canceled' });
  const repeated = await restore(depsOf(), await loseHead({ revoked }));
  expect(repeated.takenAgain).toMatchObject({ agents: 0, entitlements: 0, pauses: 0, apiKeys: 0 });
  expect(await store.pauses.find(target)).toMatchObject({ isPaused: true, reason: 'lost' });
});

it('of pushes with one as_of the copy beside the fence wins: a block in the log that was taken back blocks no org', async () => {
  const store = stores.first;
  const orgId = await insertOrg(store);
  const push = { productionUntilMs: null, checkCap: null, capSinceMs: null, asOfMs: Date.now() } as const;
  const allow = { ...push, production: 'allowed', reason: 'paid' } as const;
  const block = { ...push, production: 'blocked', reason: 'canceled' } as const;
  for (const one of [block, allow]) await putEntitlement(depsOf(), orgId, one);
  const log = lines.filter((line) => line.includes('"blocked"'));
  const notes = await store.lineage.listNotes({ revoked: 0, others: 0 }, 0, 1_000);
  const revoked = notes
    .filter(({ name }) => name.includes(orgId))
    .map(({ name, text }) => ({ name, kept: JSON.parse(text ?? 'null') }));
  expect(revoked).toHaveLength(1);
  const { takenAgain } = await restore(depsOf(), await loseHead({ revoked }), { log });
  expect(takenAgain).toMatchObject({ entitlements: 0 });
  expect(await store.entitlements.find(orgId)).toMatchObject({ production: 'allowed' });
});

describe('a restore is refused and changes nothing if the key files do not match what was kept in the lost span', () => {
  const [former, lost] = [statusKeys.published[0], keysOf(DID, 'status-2')];
  const endOf = (key = former) => ({
    name: `service-key:${key?.kid}`,
    kept: { public_key: key?.publicKeyMultibase, ends: ['compromised'] },
  });
  const withFormer = (keys: typeof statusKeys) => ({
    ...keys,
    published: [...keys.published, ...statusKeys.published],
  });

  it.each<[string, typeof statusKeys, () => Promise<Readonly<Record<string, readonly object[]>>>, string]>([
    [
      'the key that would sign was ended',
      statusKeys,
      async () => ({ revoked: [endOf()] }),
      `${former?.kid} was ended in the lost span`,
    ],
    [
      'a list is signed by a key that the file lacks',
      statusKeys,
      async () => ({ 'status-lists': [await keepList(0, DID, lost)] }),
      'not signed by a status key',
    ],
    [
      'a list is signed by another key with the same kid',
      withFormer(keysOf(DID, 'status-2')),
      async () => ({ 'status-lists': [await keepList(0, DID, lost)], revoked: [endOf()] }),
      'signature does not verify',
    ],
  ])('%s', async (_, keys, listKept, problem) => {
    const fenceStore = await loseHead(await listKept());
    const head = await fenceStore.find(HEAD_KEY);
    const restored = restore(depsOf(stores.first, { ...ofService, statusKeys: keys }), fenceStore);
    const message = await restored.then(
      () => 'restored',
      (error: Error) => error.message,
    );
    expect(message).toContain(problem);
    expect(message).toContain('Put the key file back as it was last');
    expect(await fenceStore.find(HEAD_KEY)).toEqual(head);
    expect((await stores.first.serviceKeys.list()).filter(({ kid }) => kid === former?.kid)).toEqual([]);
  });

  it('a key that was ended is recorded here as another key', async () => {
    const kid = `${DID}#status-7${world.keyId}`;
    const publicKeyOf = ({ published }: typeof statusKeys) => String(published[0]?.publicKeyMultibase);
    await stores.first.serviceKeys.remember(kid, publicKeyOf(statusKeys));
    const kept = { public_key: publicKeyOf(lost), ends: ['compromised'] };
    const fenceStore = await loseHead({ revoked: [{ name: `service-key:${kid}`, kept }] });
    const head = await fenceStore.find(HEAD_KEY);
    await expect(restore(depsOf(), fenceStore)).rejects.toThrow(`${kid} was another key when it was ended`);
    expect(await fenceStore.find(HEAD_KEY)).toEqual(head);
  });

  it('and succeeds with the last key file', async () => {
    const kept = { 'status-lists': [await keepList(1, DID, lost)], revoked: [] };
    await insertGrants(2);
    const identity = { ...ofService, statusKeys: withFormer(lost) };
    await restore(depsOf(stores.first, identity), await loseHead(kept));
    expect(await countRevoked()).toMatchObject({ revoked: 1 });
  });
});

describe('Grants that are revoked while their list cannot be signed', () => {
  /** Notes of the list that wait to be copied. */
  const listUnlisted = async () => {
    const notes = await stores.first.lineage.listNotes({ revoked: 0, others: 0 }, 0, 1_000);
    const noted = notes.filter(({ name }) => name.startsWith(`unlisted:${world.listUrl} `));
    return noted.map(({ name, text }) => ({ name, kept: JSON.parse(text ?? 'null') }));
  };
  const listIds = async () => {
    const text = 'select id from grants where status_list_url = $1 order by status_index';
    return (await runSql<{ id: GrantId }>(stores.url, text, [world.listUrl])).map(({ id }) => id);
  };
  const record = (ids: readonly GrantId[]) =>
    stores.first.transaction((tx) => tx.grants.recordRevocation(ids));
  const setBackGrants = () =>
    runSql(stores.url, 'update grants set revocation_recorded_at = null where status_list_url = $1', [
      world.listUrl,
    ]);

  it('revoked one by one: exactly these are revoked again from the kept copy', async () => {
    await insertGrants(20);
    const ids = await listIds();
    const revoked = [0, 6, 7, 8, 19];
    const identity = {
      ...ofService,
      statusKeys: { ...statusKeys, signer: { ...statusKeys.signer, findFault: () => 'the token is away' } },
    };
    const revoker = new Revoker();
    for (const index of revoked) {
      const grantId = ids[index] as GrantId;
      const order = { caller: SYSTEM, principal: world.principal.did, grantId, requestId: 'r' };
      const answer = revoker.revoke({ deps: depsOf(stores.first, identity), ...order });
      await expect(answer).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    }
    const kept = await listUnlisted();
    expect(kept).toHaveLength(1);
    await setBackGrants();
    await restore(depsOf(), await loseHead({ revoked: kept }));
    const text = `select array_agg(status_index order by status_index) as indexes from grants
      where status_list_url = $1 and revoked_at is not null`;
    expect(await runSql(stores.url, text, [world.listUrl])).toEqual([{ indexes: revoked }]);
    const list = await stores.first.transaction((tx) => tx.statusLists.findForUpdate(world.listUrl));
    const bits = list?.bits ?? createBitstring(LIST_BITS);
    const set = Array.from({ length: LIST_BITS }, (_, i) => i).filter((i) => getBit(bits, i));
    expect(set).toEqual(revoked);
  });

  it('revoked by a kill switch for a whole list: one copy contains them all', async () => {
    const grants = sampled({ quick: 2_000, deep: 100_000 });
    // Their entries are spread over the list, one of them at its end.
    await insertGrants(grants, '(131071 + (i::bigint - 1) * 48611) % 131072');
    await record(await listIds());
    const kept = await listUnlisted();
    expect(kept).toHaveLength(1);
    const bits = Buffer.from(kept[0]?.kept.bits, 'base64');
    expect(bits).toHaveLength(LIST_BITS / 8);
    const [row] = await runSql<{ indexes: number[] }>(
      stores.url,
      'select array_agg(status_index order by status_index) as indexes from grants where status_list_url = $1',
      [world.listUrl],
    );
    const set = Array.from({ length: LIST_BITS }, (_, i) => i).filter((i) => getBit(bits, i));
    expect([set.length, set.at(-1)]).toEqual([grants, LIST_BITS - 1]);
    expect(set).toEqual(row?.indexes);
  });

  it('are no longer copied once they are stamped, and not at all if the signed list contains them', async () => {
    await insertGrants(3);
    const [one, other, last] = (await listIds()) as [GrantId, GrantId, GrantId];
    await record([one]);
    expect(await listUnlisted()).toMatchObject([{ kept: { url: world.listUrl } }]);
    await stores.first.transaction((tx) => tx.grants.setRevoked([one], Date.now()));
    expect(await listUnlisted()).toMatchObject([{ kept: null }]);
    await runSql(stores.url, 'delete from fence_notes');
    const order = { caller: SYSTEM, principal: world.principal.did, grantId: other, requestId: 'r' };
    await new Revoker().revoke({ deps: depsOf(), ...order });
    expect(await listUnlisted()).toEqual([]);
    await record([last]);
    expect(await listUnlisted()).toHaveLength(1);
  });

  it('are not noted separately by a kill switch if the lists are signed', async () => {
    await insertGrants(3);
    const [row] = await runSql<{ agent: DidKey }>(
      stores.url,
      'select distinct agent from grants where status_list_url = $1',
      [world.listUrl],
    );
    const agent = row?.agent as DidKey;
    await disableAgent(depsOf(), { caller: SYSTEM, principal: world.principal.did, agent, requestId: 'r' });
    expect(await countRevoked()).toMatchObject({ revoked: 3 });
    expect(await listUnlisted()).toEqual([]);
  });

  it('revoked by two concurrent transactions: neither waits for the other, and the copy contains both', async () => {
    await insertGrants(2);
    const [one, other] = (await listIds()) as [GrantId, GrantId];
    const { first, second } = stores;
    await first.transaction(async (tx) => {
      await tx.grants.recordRevocation([one]);
      await second.transaction((apart) => apart.grants.recordRevocation([other]), { deadlineMs: 5_000 });
    });
    const bits = (await listUnlisted()).map(({ kept }) => Buffer.from(kept.bits, 'base64')[0]);
    expect(bits).toEqual([0b1100_0000, 0b1100_0000]);
  });
});
