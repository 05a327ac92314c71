import { randomInt } from 'node:crypto';
import type { CommitOutcome, DecisionCommit, Store } from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { allowCommit, createWorld, denyCommit, insertGrant, newJti } from '@svc/testkit/store/world';
import { expect, it } from 'vitest';

const stores = withStores();
const node = (index: number): Store => (index % 2 === 0 ? stores.first : stores.second);
/**
 * Outcomes that any commit can have on a slow machine: a lock that was not free in 400 ms, or a date more than 2 s old.
 * Nothing is stored then.
 */
const isOfSlowness = (outcome: CommitOutcome | undefined) => outcome === 'LOCKED' || outcome === 'CLOCK';

it('of 64 concurrent commits of one Proof through two nodes, exactly one is stored', async () => {
  const world = await createWorld(stores.first);
  const grant = await insertGrant(world);
  const { spend } = allowCommit(world, grant);
  const commitOn = async (store: Store) => {
    for (;;) {
      const [outcome] = await store.verify.commitDecisions([allowCommit(world, grant, { spend })]);
      if (!isOfSlowness(outcome)) return outcome;
    }
  };
  const outcomes = await Promise.all(Array.from({ length: 64 }, (_, index) => commitOn(node(index))));
  expect(outcomes.filter((outcome) => outcome === 'STORED')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'REPLAY')).toHaveLength(63);
});

it('one Proof twice in a batch is stored once, whatever else the batch contains', async () => {
  const world = await createWorld(stores.first);
  const grant = await insertGrant(world);
  const { spend } = allowCommit(world, grant);
  const batch = Array.from({ length: 8 }, (_, index) =>
    index % 4 === 1 ? allowCommit(world, grant, { spend }) : denyCommit(world),
  );
  const outcomes = await stores.first.verify.commitDecisions(batch);
  expect(outcomes.map((outcome, index) => (index % 4 === 1 ? outcome : 'STORED'))).toEqual(
    batch.map((_, index) => (index === 5 ? 'REPLAY' : 'STORED')),
  );
});

it('concurrent overlapping batches and revocations in random order never deadlock, and spend each Proof and key once', async () => {
  const worlds = await Promise.all(Array.from({ length: 5 }, () => createWorld(stores.first)));
  const pairs = await Promise.all(worlds.map(async (world) => ({ world, grant: await insertGrant(world) })));
  const pick = <T>(items: readonly T[]): T => items[randomInt(items.length)] as T;

  const decisions: DecisionCommit[] = [];
  const outcomes: CommitOutcome[] = [];
  for (let round = 0; round < 40; round++) {
    const jtis = Array.from({ length: 6 }, newJti);
    const keys = Array.from({ length: 6 }, newJti);
    const randomDecision = (): DecisionCommit => {
      const { world, grant } = pick(pairs);
      return allowCommit(world, grant, {
        spend: { grantId: grant.id, jti: pick(jtis), expiresAtMs: Date.now() + 300_000 },
        idempotency: randomInt(2) === 0 ? null : { key: pick(keys), bodyHash: 'sha256:aa' },
      });
    };
    const batches = Array.from({ length: 8 }, () => Array.from({ length: 12 }, randomDecision));
    const commits = batches.map((batch, index) => node(index).verify.commitDecisions(batch));
    const revokers = pairs.map(({ world }) =>
      stores.first.revocation.stampRevoked(world.principal.did, [], Date.now()),
    );
    decisions.push(...batches.flat());
    outcomes.push(...(await Promise.all(commits)).flat());
    await Promise.all(revokers);
  }

  expect(new Set(outcomes.filter((outcome) => !isOfSlowness(outcome)))).toEqual(
    new Set(['STORED', 'REPLAY', 'IDEMPOTENCY_TAKEN']),
  );
  const stored = decisions.filter((_, index) => outcomes[index] === 'STORED');
  const proofs = stored.map(({ spend }) => `${spend?.grantId} ${spend?.jti}`);
  expect(new Set(proofs).size).toBe(stored.length);
  const keys = stored.flatMap((d) => (d.idempotency ? [`${d.relyingParty.did} ${d.idempotency.key}`] : []));
  expect(new Set(keys).size).toBe(keys.length);
  const found = await stores.first.verify.findStored(decisions.map(({ receiptId }) => receiptId));
  expect(found).toEqual(new Set(stored.map(({ receiptId }) => receiptId)));
  const [row] = await runSql<{ deadlocks: string }>(
    stores.url,
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  expect(row?.deadlocks).toBe('0');
});
