import { createHash } from 'node:crypto';
import type { CommitOutcome, DecisionCommit, GrantRecord } from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import {
  allowCommit,
  createWorld,
  denyCommit,
  insertGrant,
  insertPrincipal,
  newGrantId,
  type World,
} from '@svc/testkit/store/world';
import { beforeEach, describe, expect, it } from 'vitest';

const stores = withStores();
let world: World;
let grant: GrantRecord;

beforeEach(async () => {
  world = await createWorld(stores.first);
  grant = await insertGrant(world);
});

const commitOne = async (decision: DecisionCommit): Promise<CommitOutcome | undefined> =>
  (await stores.first.verify.commitDecisions([decision]))[0];

const isStored = async (decision: DecisionCommit) =>
  (await stores.first.verify.findStored([decision.receiptId])).has(decision.receiptId);

interface Case {
  readonly title: string;
  readonly outcome: CommitOutcome;
  readonly decision: () => DecisionCommit | Promise<DecisionCommit>;
}

const cases: readonly Case[] = [
  { title: 'an ALLOW of a live Grant', outcome: 'STORED', decision: () => allowCommit(world, grant) },
  { title: 'a DENY without a known party', outcome: 'STORED', decision: () => denyCommit(world) },
  {
    title: 'a Proof that is spent',
    outcome: 'REPLAY',
    async decision() {
      const first = allowCommit(world, grant);
      await commitOne(first);
      return allowCommit(world, grant, { spend: first.spend });
    },
  },
  {
    title: 'a Grant whose revocation is recorded',
    outcome: 'STALE',
    async decision() {
      await stores.first.grants.recordRevocation([grant.id]);
      return allowCommit(world, grant);
    },
  },
  {
    title: 'a DENY that found the Grant in force',
    outcome: 'STALE',
    async decision() {
      await stores.first.grants.recordRevocation([grant.id]);
      const denied = {
        decision: 'DENY',
        reason: 'GRANT_EXPIRED',
        spend: null,
        bindsGrantHash: null,
      } as const;
      return allowCommit(world, grant, denied);
    },
  },
  {
    title: 'an ALLOW that rests on another Grant than its own',
    outcome: 'REFUSED',
    decision: async () => allowCommit(world, grant, { usedGrantId: (await insertGrant(world)).id }),
  },
  {
    title: 'an ALLOW that rests on no Grant',
    outcome: 'REFUSED',
    decision: () => allowCommit(world, grant, { usedGrantId: null }),
  },
  {
    title: 'an ALLOW without a Grant id',
    outcome: 'REFUSED',
    // Binding a hash to no id would be refused as well.
    decision: () =>
      allowCommit(world, grant, { grantId: null, usedGrantId: null, spend: null, bindsGrantHash: null }),
  },
  {
    title: 'an ALLOW of a Grant that was not allocated',
    outcome: 'STALE',
    decision: () => allowCommit(world, { ...grant, id: newGrantId() }),
  },
  {
    title: 'an ALLOW of a Grant that was not allocated, without a Principal',
    outcome: 'STALE',
    decision: () => allowCommit(world, { ...grant, id: newGrantId() }, { usedPrincipal: null }),
  },
  {
    title: 'a Grant of another Principal than the one whose lock was taken',
    outcome: 'STALE',
    async decision() {
      const other = await insertPrincipal(stores.first);
      return allowCommit(world, grant, { usedPrincipal: { did: other.did, version: other.version } });
    },
  },
  {
    title: 'an ALLOW that names no Principal to lock',
    outcome: 'STALE',
    decision: () => allowCommit(world, grant, { usedPrincipal: null }),
  },
  {
    title: 'a Principal changed since the evaluation',
    outcome: 'STALE',
    async decision() {
      const decision = allowCommit(world, grant);
      const kid = world.principal.keys[0]?.kid ?? '';
      await stores.first.principals.setKeyState(world.principal.did, kid, 'compromised');
      return decision;
    },
  },
  {
    title: 'a Relying Party changed since the evaluation',
    outcome: 'STALE',
    async decision() {
      await stores.first.relyingParties.update(world.relyingParty.did, { proofWindowSeconds: 30 });
      return denyCommit(world);
    },
  },
  {
    title: 'an API key revoked since',
    outcome: 'KEY_REVOKED',
    async decision() {
      await stores.first.apiKeys.revoke(world.relyingParty.did, world.keyId);
      return denyCommit(world);
    },
  },
  {
    title: 'an API key that does not exist',
    outcome: 'KEY_REVOKED',
    decision: () => denyCommit(world, { keyHash: 'ab'.repeat(32) }),
  },
  {
    title: "an instant ahead of the database's clock",
    outcome: 'CLOCK',
    decision: () => allowCommit(world, grant, { evaluatedAtMs: Date.now() + 60_000 }),
  },
  {
    title: "an instant more than two seconds behind the database's clock",
    outcome: 'CLOCK',
    decision: () => allowCommit(world, grant, { evaluatedAtMs: Date.now() - 2_001 }),
  },
  {
    title: 'an ALLOW that spends nothing',
    outcome: 'REFUSED',
    decision: () => allowCommit(world, grant, { spend: null }),
  },
  {
    title: 'a DENY that spends a Proof',
    outcome: 'REFUSED',
    decision: () =>
      allowCommit(world, grant, { decision: 'DENY', reason: 'GRANT_EXPIRED', bindsGrantHash: null }),
  },
  {
    title: 'text that PostgreSQL cannot hold',
    outcome: 'REFUSED',
    decision: () => denyCommit(world, { jws: 'a\u0000b' }),
  },
  {
    title: 'a receipt id of another day than the decision',
    outcome: 'REFUSED',
    decision: () => ({
      ...denyCommit(world),
      receiptId: denyCommit(world, { evaluatedAtMs: Date.now() + 86_400_000 }).receiptId,
    }),
  },
];

describe.each(cases)('$title', ({ outcome, decision }) => {
  it(`has the outcome ${outcome}, and is stored only if that is STORED`, async () => {
    const made = await decision();
    expect(await commitOne(made)).toBe(outcome);
    expect(await isStored(made)).toBe(outcome === 'STORED');
  });
});

it('a decision that was not stored leaves its Proof unspent', async () => {
  const early = allowCommit(world, grant, { evaluatedAtMs: Date.now() + 60_000 });
  expect(await commitOne(early)).toBe('CLOCK');
  expect(await commitOne(allowCommit(world, grant, { spend: early.spend }))).toBe('STORED');
});

it('a stored ALLOW is read back field by field', async () => {
  const decision = allowCommit(world, grant);
  await commitOne(decision);
  expect(await stores.second.receipts.find(decision.receiptId)).toEqual({
    receiptId: decision.receiptId,
    relyingParty: decision.relyingParty.did,
    jws: decision.jws,
  });
  const rows = await runSql(stores.url, 'select * from receipts where receipt_id = $1', [decision.receiptId]);
  expect(rows).toEqual([
    {
      receipt_id: decision.receiptId,
      relying_party: decision.relyingParty.did,
      principal: decision.principal,
      grant_id: grant.id,
      agent: grant.agent,
      key_id: decision.keyId,
      decision: 'ALLOW',
      reason: null,
      evaluated_at: new Date(decision.evaluatedAtMs),
      action_type: 'commerce:purchase',
      amount: String(decision.action?.amount),
      currency: 'USD',
      resource: 'order/1',
      method: null,
      jws: decision.jws,
      content_hash: createHash('sha256').update(decision.jws).digest(),
      production_check: false,
    },
  ]);
});

it('a commit of no decisions has no outcomes', async () => {
  expect(await stores.first.verify.commitDecisions([])).toEqual([]);
});

it('each decision of a batch has its own outcome, in order', async () => {
  const [spent, live] = [allowCommit(world, grant), allowCommit(world, grant)];
  await commitOne(spent);
  const batch = [
    { ...allowCommit(world, grant), spend: spent.spend },
    live,
    { ...allowCommit(world, grant), spend: live.spend },
    denyCommit(world, { keyHash: 'ab'.repeat(32) }),
    denyCommit(world, { evaluatedAtMs: Date.now() - 5_000 }),
    denyCommit(world),
  ];
  const outcomes = await stores.first.verify.commitDecisions(batch);
  expect(outcomes).toEqual(['REPLAY', 'STORED', 'REPLAY', 'KEY_REVOKED', 'CLOCK', 'STORED']);
});

it('each decision of a batch is stored with its own Receipt and the hash of that Receipt', async () => {
  const batch = [denyCommit(world), allowCommit(world, grant), denyCommit(world)];
  await stores.first.verify.commitDecisions(batch);
  const rows = await runSql(
    stores.url,
    `select receipt_id, jws, encode(content_hash, 'hex') as hash from receipts where receipt_id = any($1)`,
    [batch.map(({ receiptId }) => receiptId)],
  );
  const stored = batch.map(({ receiptId, jws }) => ({
    ...{ receipt_id: receiptId, jws },
    hash: createHash('sha256').update(jws).digest('hex'),
  }));
  expect(new Set(rows.map(({ jws }) => jws)).size).toBe(3);
  expect(rows).toEqual(expect.arrayContaining(stored));
});

it('a row that the database refuses fails only its own decision', async () => {
  const batch = Array.from({ length: 21 }, () => allowCommit(world, grant));
  const broken = new Set([0, 9, 20]);
  const decisions = batch.map((decision, index) =>
    broken.has(index) && decision.action
      ? { ...decision, action: { ...decision.action, resource: 'order/\u0000' } }
      : decision,
  );
  const outcomes = await stores.first.verify.commitDecisions(decisions);
  expect(outcomes).toEqual(batch.map((_, index) => (broken.has(index) ? 'REFUSED' : 'STORED')));
  const stored = await stores.first.verify.findStored(batch.map(({ receiptId }) => receiptId));
  expect(stored.size).toBe(18);
});
