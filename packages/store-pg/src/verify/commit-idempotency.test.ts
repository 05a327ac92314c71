import type { GrantRecord } from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { allowCommit, createWorld, denyCommit, insertGrant, type World } from '@svc/testkit/store/world';
import { beforeEach, expect, it } from 'vitest';
import { mostPartitionsLocked } from '../../test/partition-locks.ts';
import type { Database } from '../database.ts';
import { type VerifyStoreOptions, verifyStore } from './verify-store.ts';

const stores = withStores();
const idempotency = { key: 'order-1', bodyHash: 'sha256:aa' };
let world: World;
let grant: GrantRecord;

beforeEach(async () => {
  world = await createWorld(stores.first);
  grant = await insertGrant(world);
});

const find = () => stores.second.verify.findIdempotent(world.relyingParty.did, idempotency.key);

it('an idempotency key leads to the Receipt that was stored under it', async () => {
  const decision = allowCommit(world, grant, { idempotency });
  expect(await find()).toBeNull();
  await stores.first.verify.commitDecisions([decision]);
  expect(await find()).toEqual({
    bodyHash: idempotency.bodyHash,
    receipt: { receiptId: decision.receiptId, relyingParty: world.relyingParty.did, jws: decision.jws },
  });
});

it('an idempotency key can be used once, across commits and within a batch', async () => {
  const batch = [denyCommit(world, { idempotency }), denyCommit(world, { idempotency }), denyCommit(world)];
  expect(await stores.first.verify.commitDecisions(batch)).toEqual(['STORED', 'IDEMPOTENCY_TAKEN', 'STORED']);
  const late = allowCommit(world, grant, { idempotency });
  expect(await stores.second.verify.commitDecisions([late])).toEqual(['IDEMPOTENCY_TAKEN']);
  const again = allowCommit(world, grant, { spend: late.spend });
  expect(await stores.second.verify.commitDecisions([again])).toEqual(['STORED']);
});

it("looking up an idempotency key locks only the partition of its Receipt's day", async () => {
  await stores.first.verify.commitDecisions([denyCommit(world, { idempotency })]);
  const unused = {} as Omit<VerifyStoreOptions, 'database'>;
  const lookUp = async (database: Database) => {
    const { findIdempotent } = verifyStore({ ...unused, database });
    // PostgreSQL may use a generic plan for a prepared statement after five executions.
    for (let i = 0; i < 8; i++)
      expect(await findIdempotent(world.relyingParty.did, idempotency.key)).not.toBeNull();
  };
  expect(await mostPartitionsLocked(stores.url, lookUp)).toBe(1);
});

it('the same idempotency key of another relying party is independent', async () => {
  const other = await createWorld(stores.first);
  const batch = [denyCommit(world, { idempotency }), denyCommit(other, { idempotency })];
  expect(await stores.first.verify.commitDecisions(batch)).toEqual(['STORED', 'STORED']);
});

it('a replay gives its idempotency key back', async () => {
  const first = allowCommit(world, grant);
  await stores.first.verify.commitDecisions([first]);
  const replay = allowCommit(world, grant, { spend: first.spend, idempotency });
  expect(await stores.first.verify.commitDecisions([replay])).toEqual(['REPLAY']);
  const deny = denyCommit(world, { idempotency });
  expect(await stores.first.verify.commitDecisions([deny])).toEqual(['STORED']);
  expect((await find())?.receipt.receiptId).toBe(deny.receiptId);
});

it('an idempotency key is forgotten after ten minutes, and can be used again with another body', async () => {
  const old = denyCommit(world, { idempotency });
  await stores.first.verify.commitDecisions([old]);
  await runSql(
    stores.url,
    `update idempotency_keys set created_at = created_at - interval '10 minutes 1 second' where relying_party = $1`,
    [world.relyingParty.did],
  );
  expect(await find()).toBeNull();
  const fresh = denyCommit(world, { idempotency: { ...idempotency, bodyHash: 'sha256:bb' } });
  expect(await stores.first.verify.commitDecisions([fresh])).toEqual(['STORED']);
  expect(await find()).toMatchObject({ bodyHash: 'sha256:bb', receipt: { receiptId: fresh.receiptId } });
});

it('of 32 concurrent commits with one idempotency key through two nodes, exactly one is stored', async () => {
  const commits = Array.from({ length: 32 }, (_, index) => {
    const store = index % 2 === 0 ? stores.first : stores.second;
    return store.verify.commitDecisions([denyCommit(world, { idempotency })]);
  });
  const outcomes = (await Promise.all(commits)).flat();
  expect(outcomes.filter((outcome) => outcome === 'STORED')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'IDEMPOTENCY_TAKEN')).toHaveLength(31);
});
