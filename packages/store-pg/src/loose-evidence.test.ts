/** Evidence that nothing refers to is deleted, and above all evidence in use is not (protocol §8, §9). */
import { encodeBase64urlText, type GrantId } from '@svc/protocol';
import { collectEvidence } from '@svc/service';
import { machineClock } from '@svc/testkit/store/movable-clock';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql, withSession } from '@svc/testkit/store/session';
import { createWorld, denyCommit, hashOf, type World } from '@svc/testkit/store/world';
import { beforeAll, expect, it } from 'vitest';

const stores = withStores();
let world: World;
beforeAll(async () => {
  world = await createWorld(stores.first);
});

let made = 0;
const newArtifact = (contentType = 'application/vc+jwt') => {
  made += 1;
  const body = `artifact ${made}`;
  return { hash: hashOf(body), contentType, body: Buffer.from(body) };
};
const insertLoose = async () => {
  const artifact = newArtifact();
  await stores.first.evidence.insertLoose(artifact);
  return artifact.hash;
};
const isKept = async (hash: string) => (await stores.first.evidence.find(hash as never)) !== null;
const collect = () =>
  collectEvidence({ store: stores.first, clock: machineClock }, new AbortController().signal);
/** Makes unused evidence two hours old, and seals all decisions so far. */
const letTimePass = async () => {
  await collect();
  await runSql(stores.url, `update loose_evidence set unused_since = unused_since - interval '2 hours'`);
  await runSql(stores.url, `update ledger_seal set sealed_until = clock_timestamp()`);
};
const receiptNaming = (evidence: object) => {
  const payload = encodeBase64urlText(
    JSON.stringify({ evidence, reason: null, text: '"credential_hash":"x"' }),
  );
  return `${encodeBase64urlText('{"alg":"EdDSA"}')}.${payload}.c2ln`;
};

it('evidence that a Receipt names is kept forever, and other loose evidence is deleted after an hour, not before', async () => {
  const [document, list, unnamed] = [await insertLoose(), await insertLoose(), await insertLoose()];
  const forever = newArtifact();
  await stores.first.evidence.insert(forever);
  const named = [
    { issuer_resolution: { did_document_hash: document } },
    { status: { credential_hash: list } },
  ];
  for (const evidence of named)
    await stores.first.verify.commitDecisions([denyCommit(world, { jws: receiptNaming(evidence) })]);
  await collect();
  for (const hash of [document, list, unnamed, forever.hash]) expect(await isKept(hash)).toBe(true);
  await letTimePass();
  expect(await collect()).toEqual({ collected: 1 });
  for (const hash of [document, list, forever.hash]) expect(await isKept(hash)).toBe(true);
  expect(await isKept(unnamed)).toBe(false);
  const stays = `delete from evidence where hash = '${document}'`;
  await expect(runSql(stores.url, stays)).rejects.toThrow('append-only');
});

it('nothing is deleted before all decisions that may name it are read', async () => {
  const hash = await insertLoose();
  await collect();
  await runSql(stores.url, `update loose_evidence set unused_since = unused_since - interval '2 hours'`);
  const before = `svc_lowest_receipt_id(now() - interval '3 hours')`;
  await withSession(stores.url, async (session) => {
    await session.query(`update evidence_naming set named_before = ${before}`);
    await session.query('begin');
    await session.query('select from evidence_naming for update');
    expect(await collect()).toEqual({ collected: 0 });
    await session.query('commit');
  });
  expect(await isKept(hash)).toBe(true);
  expect(await collect()).toEqual({ collected: 1 });
});

it('evidence in force is kept, and evidence that comes into force again is not collected', async () => {
  const { statusLists } = stores.first;
  const list = await statusLists.findByUrl(world.listUrl);
  if (list === null) throw new Error('no list');
  const [before, after] = [newArtifact(), newArtifact()];
  for (const { hash, contentType, body } of [before, after]) {
    await stores.first.evidence.insertLoose({ hash, contentType, body });
    await statusLists.update({ ...list, credential: String(body), credentialHash: hash });
  }
  await letTimePass();
  // Was unused for two hours, and is in use again when it would be collected.
  await stores.first.transaction(async (tx) => {
    await tx.evidence.insertLoose(before);
    await tx.statusLists.update({ ...list, credential: String(before.body), credentialHash: before.hash });
  });
  await collect();
  for (const { hash } of [before, after]) expect(await isKept(hash)).toBe(true);
  await letTimePass();
  await collect();
  expect([await isKept(before.hash), await isKept(after.hash)]).toEqual([true, false]);
});

it('evidence that is stored while it is being collected exists afterwards', async () => {
  const artifact = newArtifact();
  await stores.first.evidence.insertLoose(artifact);
  await letTimePass();
  await withSession(stores.url, async (session) => {
    await session.query('begin');
    await session.query('select svc_collect_evidence(100, svc_ms(clock_timestamp()))');
    const storing = stores.second.evidence.insertLoose(artifact);
    await session.query('commit');
    await storing;
  });
  expect(await isKept(artifact.hash)).toBe(true);
});

it('a served list is kept, at most one per address and minute', async () => {
  const url = 'https://status.example/served.example/1';
  const [first, second, third] = [await insertLoose(), await insertLoose(), await insertLoose()];
  for (const hash of [first, second]) await stores.first.evidence.keepServedList(url, hash, Date.now());
  await runSql(stores.url, `update served_lists set kept_at = kept_at - interval '61 seconds'`);
  await stores.second.evidence.keepServedList(url, third, Date.now());
  await letTimePass();
  await collect();
  expect([await isKept(first), await isKept(second), await isKept(third)]).toEqual([true, false, true]);
});

it('a Receipt that is not a JWS does not stop the collection', async () => {
  const unnamed = await insertLoose();
  for (const jws of ['', 'a', 'a.b.c', `a.${encodeBase64urlText('\u0000ÿ')}.c`, 'a.b', `a.****.c`])
    await stores.first.verify.commitDecisions([denyCommit(world, { jws, grantId: 'x' as GrantId })]);
  await letTimePass();
  await collect();
  expect(await isKept(unnamed)).toBe(false);
});

it('evidence cannot be deleted or changed in any other way', async () => {
  const [fresh, kept] = [await insertLoose(), newArtifact()];
  await stores.first.evidence.insert(kept);
  for (const hash of [fresh, kept.hash])
    for (const text of [
      `delete from evidence where hash = '${hash}'`,
      `update evidence set content_type = 'text/html' where hash = '${hash}'`,
      'truncate evidence cascade',
    ])
      await expect(runSql(stores.url, text)).rejects.toThrow('append-only');
});

it('a database clock that is ahead collects nothing early, and lists served afterwards are kept', async () => {
  const heldMs = Date.now() - 26 * 3_600_000;
  const held = { nowMs: () => heldMs, resync: async () => {} };
  const { signal } = new AbortController();
  const hash = await insertLoose();
  const collectHeld = () => collectEvidence({ store: stores.first, clock: held }, signal);
  await collectHeld();
  await runSql(stores.url, `update loose_evidence set unused_since = svc_instant($1) where hash = $2`, [
    heldMs - 60_000,
    hash,
  ]);
  await runSql(
    stores.url,
    `update evidence_naming set named_before = svc_lowest_receipt_id(clock_timestamp())`,
  );
  expect(await collectHeld()).toEqual({ collected: 0 });
  expect(await isKept(hash)).toBe(true);

  const [first, second] = [await insertLoose(), await insertLoose()];
  const url = 'https://status.example/served/1';
  await stores.first.evidence.keepServedList(url, first, heldMs);
  await stores.first.evidence.keepServedList(url, second, heldMs + 61_000);
  await letTimePass();
  await collect();
  expect([await isKept(first), await isKept(second)]).toEqual([true, true]);
});
