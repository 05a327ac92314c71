/**
 * Paging while other sessions write, seal and count: no duplicate, and no decision missing that existed at the start.
 */
import { randomBytes } from 'node:crypto';
import { encodeUlid, type ReceiptId } from '@svc/protocol';
import { type Caller, type DecisionQuery, listDecisions, type ServiceDeps } from '@svc/service';
import { sampled } from '@svc/testkit/sampled';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { allowCommit, createWorld, denyCommit, insertGrant, type World } from '@svc/testkit/store/world';
import { beforeAll, expect, it } from 'vitest';

const WRITERS = 8;
const OLD = 300;
const PASSES = sampled({ quick: 1, deep: 6 });

const stores = withStores();
let world: World;

/** Old enough to be sealed at once. */
beforeAll(async () => {
  world = await createWorld(stores.first);
  const startMs = Date.now() - 600_000;
  const ids = Array.from({ length: OLD }, (_, i) => [startMs + (i % 50), randomBytes(10)] as const);
  await runSql(
    stores.url,
    `insert into receipts (receipt_id, relying_party, key_id, decision, reason, evaluated_at, jws, content_hash)
     select id, $3, $4, 'DENY', 'GRANT_MALFORMED', to_timestamp(ms / 1000.0), 'jws', sha256('jws')
     from unnest($1::text[], $2::bigint[]) as old (id, ms)`,
    [
      ids.map(([ms, random]) => `drc_${encodeUlid(ms, random)}`),
      ids.map(([ms]) => ms),
      world.relyingParty.did,
      world.keyId,
    ],
  );
});

const storedIds = async (): Promise<ReceiptId[]> => {
  const rows = await runSql<{ id: ReceiptId }>(
    stores.url,
    'select receipt_id as id from receipts where relying_party = $1 order by receipt_id desc',
    [world.relyingParty.did],
  );
  return rows.map(({ id }) => id);
};

const readAllPages = async (query: Partial<DecisionQuery>, between: () => Promise<unknown>) => {
  const caller = { class: 'rp', subject: world.relyingParty.did } as Caller;
  const deps = { store: stores.second } as ServiceDeps;
  const ids: ReceiptId[] = [];
  for (let cursor: string | undefined, last = false; !last; ) {
    const page = await listDecisions(deps, caller, { limit: 23, cursor, ...query });
    ids.push(...page.items.map(({ receiptId }) => receiptId));
    last = page.nextCursor === null;
    if (!last) expect(page.items).toHaveLength(query.limit ?? 23);
    cursor = page.nextCursor ?? undefined;
    await between();
  }
  return ids;
};

it('paging repeats and misses no decision while eight writers commit and the ledger is sealed and counted', async () => {
  const grant = await insertGrant(world);
  let isOver = false;
  const writers = Array.from({ length: WRITERS }, async (_, i) => {
    const { verify } = i % 2 === 0 ? stores.first : stores.second;
    let stored = 0;
    while (!isOver) {
      const batch = [denyCommit(world), allowCommit(world, grant), denyCommit(world)];
      stored += (await verify.commitDecisions(batch)).filter((outcome) => outcome === 'STORED').length;
    }
    return stored;
  });
  const sealAndCount = async () => {
    // Sealing gives up for now when it finds decisions under way.
    await stores.first.usage.seal(Date.now()).catch(() => false);
    await stores.first.usage.countSealed(40);
  };
  try {
    for (let pass = 0; pass < PASSES; pass++) {
      const before = await storedIds();
      const isOnlyAllowed = pass % 2 === 1;
      const query: Partial<DecisionQuery> = isOnlyAllowed ? { decision: 'ALLOW' } : {};
      const wanted = isOnlyAllowed ? new Set(await allowedIds()) : new Set(before);
      const read = await readAllPages({ ...query, limit: before.length > 2_000 ? 200 : 23 }, sealAndCount);
      expect(read).toEqual([...new Set(read)].sort().reverse());
      const missing = [...wanted].filter((id) => !read.includes(id));
      expect(missing).toEqual([]);
    }
  } finally {
    isOver = true;
  }
  const stored = await Promise.all(writers);
  expect(Math.min(...stored)).toBeGreaterThan(0);
  const after = await storedIds();
  expect(after).toHaveLength(OLD + stored.reduce((sum, one) => sum + one, 0));
  expect(await readAllPages({ limit: 200 }, sealAndCount)).toEqual(after);
  // Ensures that the search has used stored sums.
  const [counted] = await runSql<{ sum: number }>(
    stores.url,
    'select coalesce(sum(verifies), 0)::integer as sum from usage_by_day',
  );
  expect(counted?.sum).toBeGreaterThanOrEqual(OLD);
}, 60_000);

const allowedIds = async (): Promise<ReceiptId[]> => {
  const text = `select receipt_id as id from receipts where decision = 'ALLOW'`;
  return (await runSql<{ id: ReceiptId }>(stores.url, text)).map(({ id }) => id);
};
