/** The id of a Grant means one Grant: the first for which an ALLOW is stored (protocol §10). */
import { applyConsumption, emptyBalances } from '@svc/protocol';
import type { DecisionCommit, GrantRecord, Store } from '@svc/service';
import { withDatabase } from '@svc/testkit';
import { budgetCommit, readBalances, usesOf } from '@svc/testkit/store/budgets';
import { openStores, withStores } from '@svc/testkit/store/open-store';
import { alterFunction, runSql, withSession } from '@svc/testkit/store/session';
import {
  allowCommit,
  createWorld,
  denyCommit,
  hashOf,
  insertGrant,
  newJti,
  type World,
} from '@svc/testkit/store/world';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';

const stores = withStores();
const slowed = withDatabase();
const unbound = withDatabase();
const naive = withDatabase();
const NARROW = hashOf('narrow');
const WIDE = hashOf('wide');

let world: World;
let grant: GrantRecord;

beforeAll(async () => {
  world = await createWorld(stores.first);
});
beforeEach(async () => {
  grant = await insertGrant(world);
});

const allowOf = (bindsGrantHash: DecisionCommit['bindsGrantHash'], change: Partial<DecisionCommit> = {}) =>
  allowCommit(world, grant, { bindsGrantHash, ...change });
const commit = (...decisions: readonly DecisionCommit[]) => stores.first.verify.commitDecisions(decisions);
const boundTo = async () =>
  (await stores.second.verify.findFacts([{ issuer: null, grantId: grant.id }]))[0]?.grant?.grantHash;

describe("the first stored ALLOW binds its Grant's hash to the Grant id", () => {
  it('and an ALLOW with another hash is STALE afterwards', async () => {
    expect(await boundTo()).toBeNull();
    expect(await commit(allowOf(NARROW))).toEqual(['STORED']);
    expect(await boundTo()).toBe(NARROW);
    expect(await commit(allowOf(WIDE), allowOf(NARROW), allowOf(null))).toEqual([
      'STALE',
      'STORED',
      'STORED',
    ]);
    expect(await boundTo()).toBe(NARROW);
  });

  it('also within one batch, and a STALE ALLOW gives back its Proof and idempotency key', async () => {
    const idempotency = { key: newJti(), bodyHash: 'sha256:aa' };
    const wide = allowOf(WIDE, { idempotency });
    expect(await commit(denyCommit(world), allowOf(NARROW), wide, allowOf(NARROW))).toEqual([
      'STORED',
      'STORED',
      'STALE',
      'STORED',
    ]);
    expect(await commit(allowOf(null, { spend: wide.spend, idempotency }))).toEqual(['STORED']);
  });

  it('and an ALLOW that is not stored binds nothing', async () => {
    const { spend } = allowOf(null);
    const idempotency = { key: newJti(), bodyHash: 'sha256:aa' };
    await commit(allowOf(null, { spend, idempotency }));
    expect(await commit(allowOf(WIDE, { spend }), allowOf(WIDE, { idempotency }))).toEqual([
      'REPLAY',
      'IDEMPOTENCY_TAKEN',
    ]);
    expect(await boundTo()).toBeNull();
    expect(await commit(allowOf(WIDE, { spend }), allowOf(NARROW))).toEqual(['REPLAY', 'STORED']);
    expect(await boundTo()).toBe(NARROW);
  });

  it('and no DENY binds, and no binding can be changed or deleted', async () => {
    expect(await commit(denyCommit(world, { bindsGrantHash: WIDE }))).toEqual(['REFUSED']);
    await commit(allowOf(NARROW));
    for (const sql of [
      `update allowed_grants set grant_hash = '${WIDE}'`,
      'delete from allowed_grants',
      'truncate allowed_grants',
    ])
      await expect(runSql(stores.url, sql)).rejects.toThrow('append-only');
  });

  it('and on budgets an ALLOW with another hash consumes nothing, and later ones are OVERTAKEN', async () => {
    let balances = emptyBalances(grant.id);
    const chain = [NARROW, NARROW, WIDE, NARROW].map((bindsGrantHash) => {
      const link = budgetCommit(world, grant, balances, { budget: usesOf(9), amount: 1 }, { bindsGrantHash });
      if (link.budget?.consumption) balances = applyConsumption(balances, link.budget.consumption);
      return link;
    });
    expect(await commit(...chain)).toEqual(['STORED', 'STORED', 'STALE', 'OVERTAKEN']);
    const present = await readBalances(stores.second, grant.id);
    expect(present).toMatchObject({ version: 2, capabilities: [{ usesSpent: 2 }] });
    const next = { budget: usesOf(9), amount: 1 };
    const again = budgetCommit(world, grant, present, next, { spend: chain[3]?.spend ?? null });
    expect(await commit({ ...again, bindsGrantHash: NARROW })).toEqual(['STORED']);
  });

  it('without waiting for a revocation that holds the row of the Grant', async () => {
    await withSession(stores.url, async (session) => {
      await session.query('begin');
      await session.query('select from grants where id = $1 for update', [grant.id]);
      expect(await commit(allowOf(NARROW))).toEqual(['STORED']);
      await session.query('rollback');
    });
  });
});

const RACES = 40;
const BIND = '  if v_any.binds then';

/** Two nodes allow two Grants under one id, repeatedly. Answers how often both were stored. */
const race = async (nodes: readonly [Store, Store]): Promise<{ both: number; stored: number }> => {
  const ours = await createWorld(nodes[0]);
  let both = 0;
  let stored = 0;
  for (let i = 0; i < RACES; i++) {
    const one = await insertGrant(ours);
    const batch = (hash: typeof WIDE) => [allowCommit(ours, one, { bindsGrantHash: hash }), denyCommit(ours)];
    const outcomes = await Promise.all([
      nodes[i % 2]?.verify.commitDecisions(batch(NARROW)),
      nodes[(i + 1) % 2]?.verify.commitDecisions(batch(WIDE)),
    ]);
    const won = outcomes.filter((outcome) => outcome?.[0] === 'STORED').length;
    if (won === 2) both++;
    stored += won;
    for (const outcome of outcomes) {
      expect(['STORED', 'STALE']).toContain(outcome?.[0]);
      expect(outcome?.[1]).toBe('STORED');
    }
  }
  return { both, stored };
};

describe('two nodes that allow two Grants with one id at the same time', () => {
  const slowDown = (url: string, then: string) =>
    alterFunction(url, 'svc_commit_decisions', BIND, `  perform pg_sleep(0.005);\n${then}`);

  it('store exactly one of them', async () => {
    expect(await race([stores.first, stores.second])).toEqual({ both: 0, stored: RACES });
  });

  it('store exactly one of them also if commits are delayed before and after binding', async () => {
    await slowDown(slowed.url, BIND);
    await alterFunction(slowed.url, 'svc_store', 'begin', 'begin\n  perform pg_sleep(0.005);');
    const nodes = openStores(slowed.url);
    expect(await race(nodes)).toEqual({ both: 0, stored: RACES });
  });

  it('can both store if commits bind nothing: the test can fail', async () => {
    await slowDown(unbound.url, '  if false then');
    expect((await race(openStores(unbound.url))).both).toBeGreaterThan(0);
  });

  it('can both store if commits only check before they store: the test can fail', async () => {
    const look = `  if v_any.binds and exists (
      select from unnest(p_decisions) as d join allowed_grants as a on a.grant_id = d.spend_grant_id
      where a.grant_hash is distinct from d.binds_grant_hash
    ) then`;
    await slowDown(naive.url, look);
    expect((await race(openStores(naive.url))).both).toBeGreaterThan(0);
  });
});
