/**
 * A loss that nothing outside shows (protocol §10): the fence was lost, or set back with the database, or there is
 * none.
 */
import { generateKeyPairSync } from 'node:crypto';
import { type DidWeb, jcs } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import {
  compareLog,
  compromiseKey,
  disableAgent,
  type FenceStore,
  findLostSpan,
  formatHead,
  HEAD_KEY,
  Holds,
  type LostSpan,
  nameLostSpan,
  PROOF_LIFE_MS,
  parseHead,
  parseKeySet,
  putEntitlement,
  Revoker,
  releaseGrants,
  restoreLedger,
  type ServiceDeps,
  SYSTEM,
  setPause,
  takeLogged,
} from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { readRevocationLog } from '@svc/testkit/store/read-revocation-log';
import { runSql } from '@svc/testkit/store/session';
import { createWorld, insertGrant, insertOrg, type World } from '@svc/testkit/store/world';
import { beforeEach, describe, expect, it } from 'vitest';

const stores = withStores();
const DID = 'did:web:svc.example' as DidWeb;
const HOUR_MS = 3_600_000;

const jwk = { ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }), kid: 'status-1' };
const statusKeys = parseKeySet({ keys: [jwk] }, 'status', DID);
/** Log lines since the test began. */
let lines: string[] = [];
const log = {
  info: (msg: string, fields: object) => lines.push(JSON.stringify({ ...fields, msg })),
  warn: () => {},
  error: () => {},
};
const depsOf = (store = stores.first) =>
  ({
    store,
    identity: { did: DID, domain: 'svc.example', statusKeys, formers: [] },
    log,
    entitlements: { compOrgs: new Set(), isEnforced: true },
    holds: new Holds(log),
    clock: { nowMs: () => Date.now() },
    crypto: nativeCrypto,
    random: { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) },
  }) as unknown as ServiceDeps;

/** An empty fence. */
const openEmpty = () => {
  const objects = new Map<string, string>();
  const fenceStore: FenceStore = {
    atOnce: 1,
    async find(key) {
      const text = objects.get(key);
      return text === undefined ? null : { text, tag: text };
    },
    async put(key, text, tag) {
      if ((objects.get(key) ?? null) !== tag) return false;
      objects.set(key, text);
      return true;
    },
    list: async (folder) => [...objects.keys()].filter((key) => key.startsWith(`${folder}/`)),
  };
  return { objects, fenceStore };
};

/** A fence that the database knows: if both were set back together, nothing shows the loss. */
const openKnown = async () => {
  const fence = openEmpty();
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex');
  await stores.first.restores.forgetLineage();
  const { seq, epoch, atMs } = await stores.first.lineage.beat(null, nonce);
  const head = { epoch, seq: seq ?? 0, nonce, atMs: atMs ?? 0 };
  fence.objects.set(HEAD_KEY, formatHead(DID, head));
  return { ...fence, head };
};

const headIn = async (fenceStore: FenceStore) => {
  const head = parseHead(DID, (await fenceStore.find(HEAD_KEY))?.text ?? '');
  if ('problem' in head) throw new Error(head.problem);
  return head;
};

let world: World;
beforeEach(async () => {
  lines = [];
  world = await createWorld(stores.first);
});

const lineOf = (id: string) =>
  JSON.stringify({ msg: 'revocation', principal: world.principal.did, grant_ids: [id] });
const nameHourAgo = (fenceStore: FenceStore | null) =>
  nameLostSpan(depsOf(), fenceStore, Date.now() - HOUR_MS);
const restore = (fenceStore: FenceStore | null, span: LostSpan, logged: readonly string[] = []) =>
  restoreLedger(depsOf(), fenceStore, span, readRevocationLog(logged));

describe('a restore from a named moment revokes by the log and does all steps of a restore', () => {
  it.each<[string, () => Promise<FenceStore | null>, RegExp | null]>([
    ['the fence was set back with the database', async () => (await openKnown()).fenceStore, null],
    [
      'the fence was lost',
      async () => (await openKnown()) && openEmpty().fenceStore,
      /no fence where SVC_FENCE says.*--lost-from/,
    ],
    ['there is no fence', () => stores.first.restores.forgetLineage().then(() => null), null],
  ])('when %s', async (_, open, refused) => {
    const fenceStore = await open();
    if (refused !== null)
      await expect(findLostSpan(depsOf(), fenceStore ?? expect.unreachable())).rejects.toThrow(refused);
    else if (fenceStore !== null) expect(await findLostSpan(depsOf(), fenceStore)).toBeNull();
    const [lost, other] = [await insertGrant(world), await insertGrant(world)];
    const fromMs = Date.now() - HOUR_MS;
    const beganMs = await stores.first.now();
    const span = await nameLostSpan(depsOf(), fenceStore, fromMs);
    const { restore: stated, takenAgain } = await restore(fenceStore, span, [lineOf(lost.id)]);
    expect(takenAgain).toMatchObject({ grants: 1 });
    const { grants, restores, withheldGrants } = stores.first;
    expect(await grants.find(lost.id)).toMatchObject({ revokedAtMs: expect.any(Number) });
    expect(await grants.find(other.id)).toMatchObject({ revocationRecordedAtMs: null });
    expect((await withheldGrants.list('', 1_000)).map(({ id }) => id)).toContain(other.id);
    expect((await restores.list()).at(-1)).toMatchObject({
      epoch: stated.epoch,
      statement: stated.statement,
    });
    expect(stated.lostFromMs).toBeLessThanOrEqual(fromMs);
    // The end of the former service is unknown, so no Proof from before now may count as unspent.
    expect(stated.quarantinedUntilMs).toBeGreaterThanOrEqual(Math.floor(beganMs) + PROOF_LIFE_MS);
    if (fenceStore === null) return;
    expect(await restores.isKnownHead(await headIn(fenceStore))).toBe(true);
    expect(await findLostSpan(depsOf(), fenceStore)).toBeNull();
  });
});

it('a restore that is cut off before its last step continues with the span in the head of the fence', async () => {
  const { fenceStore } = await openKnown();
  const fromMs = Date.now() - HOUR_MS;
  const span = await nameLostSpan(depsOf(), fenceStore, fromMs);
  const store = Object.assign(Object.create(stores.first), {
    transaction: async () => {
      throw new Error('cut off');
    },
  });
  const cutOff = restoreLedger(depsOf(store), fenceStore, span, readRevocationLog([]));
  await expect(cutOff).rejects.toThrow('cut off');
  const again = await findLostSpan(depsOf(), fenceStore);
  expect(again).toMatchObject({
    ...{ lostFromMs: span.lostFromMs, lostUntilMs: span.lostUntilMs, followsNames: false },
    ...{ quarantinedUntilMs: span.quarantinedUntilMs },
  });
  await restore(fenceStore, again ?? expect.unreachable());
  expect(await findLostSpan(depsOf(), fenceStore)).toBeNull();
});

it("a name copied before the database's moment transfers no DID, and one copied after it does", async () => {
  const { objects, fenceStore, head } = await openKnown();
  const { did, createdAtMs } = world.principal;
  const kept = {
    version: 2 ** 50,
    principal: { since_ms: createdAtMs, org_id: await insertOrg(stores.first) },
  };
  objects.set('names/a', JSON.stringify({ name: did, kept }));
  const older = await restore(fenceStore, await nameHourAgo(fenceStore));
  expect(older.takenAgain).toMatchObject({ transferred: 0, released: 0 });
  objects.set(HEAD_KEY, formatHead(DID, { ...head, seq: head.seq + 9, nonce: 'f'.repeat(32) }));
  const later = await restore(fenceStore, await nameHourAgo(fenceStore));
  expect(later.takenAgain).toMatchObject({ transferred: 1 });
});

it('a fence older than all beats of the database is refused as a source of the lost span, and replaced by a restore', async () => {
  const { objects, fenceStore, head } = await openKnown();
  objects.set(HEAD_KEY, formatHead(DID, { ...head, seq: 0, nonce: 'a'.repeat(32) }));
  await expect(findLostSpan(depsOf(), fenceStore)).rejects.toThrow(/set back itself.*--lost-from/);
  await restore(fenceStore, await nameHourAgo(fenceStore));
  expect(await findLostSpan(depsOf(), fenceStore)).toBeNull();
});

it('a moment in the future is refused', async () => {
  const { fenceStore } = await openKnown();
  await expect(nameLostSpan(depsOf(), fenceStore, Date.now() + HOUR_MS)).rejects.toThrow(
    'later than the database’s clock',
  );
});

describe('comparing a revocation log with a database without a known loss', () => {
  it('lists what is not in force here, takeLogged enforces it, and other entries change nothing', async () => {
    const [one, revoked, kept] = [
      await insertGrant(world),
      await insertGrant(world),
      await insertGrant(world),
    ];
    const { did } = world.principal;
    const order = { deps: depsOf(), caller: SYSTEM, principal: did, requestId: 'r' };
    await new Revoker().revoke({ ...order, grantId: revoked.id });
    const logged = readRevocationLog([
      ...lines,
      lineOf(one.id),
      JSON.stringify({ msg: 'revocation', principal: did, grant_ids: ['urn:svc:grant:unknown'] }),
      JSON.stringify({ msg: 'revocation', principal: 'did:web:other.example', grant_ids: [kept.id] }),
      JSON.stringify({ msg: 'revocation', key_id: world.keyId }),
      ...(await linesOfKey()),
    ]);
    expect(await compareLog(depsOf(), logged)).toEqual({
      ...{ open: [`grant:${one.id}`, `api-key:${world.keyId}`, `key:${did}#key-2`], handOvers: [] },
      unknownGrants: 2,
    });
    expect(await takeLogged(depsOf(), logged)).toMatchObject({ grants: 1, apiKeys: 1, keys: 1 });
    expect(await compareLog(depsOf(), logged)).toMatchObject({ open: [], handOvers: [] });
    expect(await stores.first.grants.find(kept.id)).toMatchObject({ revocationRecordedAtMs: null });
  });

  /** Lines of a key that was first seen, and compromised, after the backup. */
  const linesOfKey = async () => {
    const { did, createdAtMs } = world.principal;
    const kid = `${did}#key-2`;
    const ended = { principal: did, since_ms: createdAtMs, state: 'compromised' };
    const publicKey = 'z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH';
    return [
      jcs({
        msg: 'revocation',
        principal: did,
        kid,
        ended: `key:${kid}`,
        kept: { ...ended, public_key_multibase: publicKey },
      }),
    ];
  };

  it('records each change to a member as an event in the audit log of its org', async () => {
    const { principal, relyingParty } = world;
    const orgId = await insertOrg(stores.first);
    for (const [table, did] of [
      ['principals', principal.did],
      ['relying_parties', relyingParty.did],
    ])
      await runSql(stores.url, `update ${table} set org_id = $1 where did = $2`, [orgId, did]);
    const [revoked, withheld, disabled] = [
      await insertGrant(world),
      await insertGrant(world),
      await insertGrant(world),
    ];
    const unrevoked = await stores.first.restores.listUnrevoked(withheld.statusListUrl);
    expect(unrevoked.find(({ id }) => id === withheld.id)).toMatchObject({ orgId });
    const logged = [
      lineOf(revoked.id),
      JSON.stringify({ msg: 'revocation', key_id: world.keyId }),
      ...(await linesOfKey()),
    ];
    await restore(null, await nameHourAgo(null), logged);
    const order = { caller: SYSTEM, requestId: 'svc-admin-restore' };
    await disableAgent(depsOf(), { ...order, principal: principal.did, agent: disabled.agent });
    const target = { scope: 'principal', owner: principal.did, subject: principal.did } as const;
    await setPause(depsOf(), { ...order, target, isPaused: true, reason: null });
    await releaseGrants(depsOf(), { grantIds: [withheld.id] });
    await releaseGrants(depsOf(), { all: true });
    const events = await stores.first.audit.list({ scope: { actors: [], orgId }, limit: 100 });
    const actions = new Set(events.map(({ action }) => action));
    expect([...actions].sort()).toEqual([
      ...[
        'agent.disable',
        'api_key.revoke',
        'grant.revoke',
        'key.compromise',
        'pause.set',
        'restore.release',
      ],
    ]);
    expect(events.every(({ actor }) => actor.kind === 'system')).toBe(true);
  });

  it('ends no key of a party that registered the DID later', async () => {
    const { did, createdAtMs } = world.principal;
    const kid = `${did}#key-1`;
    await compromiseKey(depsOf(), { caller: SYSTEM, principal: did, kid, requestId: 'r' });
    const ofFormer = lines.map((line) => line.replaceAll(String(createdAtMs), String(createdAtMs - 1)));
    const other = await createWorld(stores.first);
    const ofOther = ofFormer.map((line) => line.replaceAll(did, other.principal.did));
    const logged = readRevocationLog(ofOther);
    expect(await compareLog(depsOf(), logged)).toMatchObject({ open: [] });
    expect(await takeLogged(depsOf(), logged)).toMatchObject({ keys: 0 });
    const { fenceStore } = await openKnown();
    const restored = await restore(fenceStore, await nameHourAgo(fenceStore), ofOther);
    expect(restored.takenAgain).toMatchObject({ keys: 0 });
    expect((await stores.first.principals.find(other.principal.did))?.keys).toMatchObject([
      { state: 'active' },
    ]);
  });

  it('lists no unregistered Agent whose Grants are revoked already, and revokes no later Grant of it', async () => {
    const { agent } = await insertGrant(world);
    const principal = world.principal.did;
    await disableAgent(depsOf(), { caller: SYSTEM, principal, agent, requestId: 'r' });
    const logged = readRevocationLog(lines);
    expect(logged.ended.map(({ name }) => name)).toEqual([`agent:${principal} ${agent}`]);
    expect(await compareLog(depsOf(), logged)).toMatchObject({ open: [] });
    const later = await insertGrant(world, { agent });
    expect(await takeLogged(depsOf(), logged)).toMatchObject({ agents: 0, grants: 0 });
    expect(await stores.first.grants.find(later.id)).toMatchObject({ revocationRecordedAtMs: null });
  });

  it('applies the last of several pushes with one as_of', async () => {
    const orgId = await insertOrg(stores.first);
    const push = { productionUntilMs: null, checkCap: null, capSinceMs: null, asOfMs: Date.now() } as const;
    const block = { ...push, production: 'blocked', reason: 'canceled' } as const;
    const allow = { ...push, production: 'allowed', reason: 'paid' } as const;
    for (const one of [block, allow]) await putEntitlement(depsOf(), orgId, one);
    const logged = readRevocationLog(lines);
    expect(await compareLog(depsOf(), logged)).toMatchObject({ open: [] });
    expect(await takeLogged(depsOf(), logged)).toMatchObject({ entitlements: 0 });
    expect(await stores.first.entitlements.find(orgId)).toMatchObject({ production: 'allowed' });
    const lost = readRevocationLog([...lines].reverse());
    expect(await compareLog(depsOf(), lost)).toMatchObject({ open: [`entitlement:${orgId}`] });
    expect(await takeLogged(depsOf(), lost)).toMatchObject({ entitlements: 1 });
    expect(await stores.first.entitlements.find(orgId)).toMatchObject({ production: 'blocked' });
  });

  it.each([
    ['that lowers the cap', { checkCap: 1_000 }, { checkCap: 10 }],
    ['that caps what had no cap', { checkCap: null, capSinceMs: null }, { checkCap: 10 }],
    ['that ends production sooner', {}, { productionUntilMs: 9e12 }],
  ])('of pushes with one as_of takes again the one %s, and not the other', async (_, wider, narrower) => {
    const push = { productionUntilMs: null, checkCap: 5_000, capSinceMs: 0, asOfMs: Date.now() } as const;
    const allow = { ...push, production: 'allowed', reason: 'paid' } as const;
    for (const [stored, lost, open] of [
      [wider, narrower, 1],
      [narrower, wider, 0],
    ] as const) {
      const orgId = await insertOrg(stores.first);
      for (const one of [lost, stored]) await putEntitlement(depsOf(), orgId, { ...allow, ...one });
      const logged = readRevocationLog(lines.filter((line) => line.includes(orgId)).reverse());
      expect((await compareLog(depsOf(), logged)).open).toHaveLength(open);
      expect(await takeLogged(depsOf(), logged)).toMatchObject({ entitlements: open });
      expect(await stores.first.entitlements.find(orgId)).toMatchObject(narrower);
    }
  });

  it('lists a DID that is still with its former org, and leaves the transfer to the operator', async () => {
    const [orgId, laterOrg] = [await insertOrg(stores.first), await insertOrg(stores.first)];
    const { relyingParty } = await createWorld(stores.first, orgId);
    const { did, createdAtMs } = relyingParty;
    const line = (atMs: number, fromOrg: string, toOrg: string) =>
      JSON.stringify({
        ...{ msg: 'revocation', did, kind: 'relying_party', since_ms: createdAtMs, at_ms: atMs },
        ...{ from_org: fromOrg, to_org: toOrg },
      });
    const logged = readRevocationLog([line(1, orgId, laterOrg)]);
    expect(await compareLog(depsOf(), logged)).toMatchObject({
      open: [],
      handOvers: [{ did, toOrg: laterOrg }],
    });
    await takeLogged(depsOf(), logged);
    expect(await stores.first.relyingParties.find(did)).toMatchObject({ orgId });
    const back = readRevocationLog([line(1, orgId, laterOrg), line(2, laterOrg, orgId)]);
    expect(await compareLog(depsOf(), back)).toMatchObject({ handOvers: [] });
  });
});
