/** What a commit does to budgets: chains of decisions, what breaks a chain, and what remains of a broken one. */
import { applyConsumption, type Balances, type Budget, emptyBalances, findBalance } from '@svc/protocol';
import type { DecisionCommit, GrantRecord } from '@svc/service';
import { budgetCommit, consume, keyOf, readBalances, usesOf } from '@svc/testkit/store/budgets';
import { withStores } from '@svc/testkit/store/open-store';
import { alterFunction, runSql, withSession } from '@svc/testkit/store/session';
import { allowCommit, createWorld, denyCommit, insertGrant, type World } from '@svc/testkit/store/world';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';

const stores = withStores();
let world: World;
let grant: GrantRecord;

// The greatest age of a decision is tested elsewhere (commit-outcomes.test.ts). Raised here for a loaded machine.
beforeAll(() => alterFunction(stores.url, 'svc_judge', `interval '2 seconds'`, `interval '1 minute'`));
beforeEach(async () => {
  world ??= await createWorld(stores.first);
  grant = await insertGrant(world);
});

const ALMOST_ALL = Number.MAX_SAFE_INTEGER;

/** ALLOWs one after the other, each on the balances that the one before leaves. */
const chainOf = (
  length: number,
  budget: Budget = usesOf(100),
  change: (i: number) => Partial<DecisionCommit> = () => ({}),
  from: Balances = emptyBalances(grant.id),
) => {
  let balances = from;
  const commits: DecisionCommit[] = [];
  for (let i = 0; i < length; i++) {
    const commit = budgetCommit(world, grant, balances, { budget, amount: 10 }, change(i));
    commits.push(commit);
    if (commit.budget?.consumption) balances = applyConsumption(balances, commit.budget.consumption);
  }
  return { commits, balances };
};

const commit = (decisions: readonly DecisionCommit[]) => stores.first.verify.commitDecisions(decisions);
const present = () => readBalances(stores.second, grant.id);
const claims = async ({ receiptId, spend, idempotency }: DecisionCommit) => {
  const [row] = await runSql<{ claims: string }>(
    stores.url,
    `select (select count(*) from spent_proofs where grant_id = $1 and jti = $2)
      + (select count(*) from idempotency_keys where receipt_id = $3)
      + (select count(*) from receipts where receipt_id = $3)
      + (select count(*) from consumption_events where receipt_id = $3) as claims`,
    [spend?.grantId, spend?.jti, receiptId],
  );
  return { claims: Number(row?.claims), idempotency };
};

describe('a chain', () => {
  it('is stored whole, and leaves the balances that the engine computes', async () => {
    const period: Budget = { limits: { total: 1_000, perPeriod: 500, uses: 40 }, period: 'month' };
    const { commits, balances } = chainOf(30, period);
    expect(await commit(commits)).toEqual(commits.map(() => 'STORED'));
    expect(await present()).toEqual(balances);
    const next = chainOf(15, period, () => ({}), balances);
    expect(await commit(next.commits)).toEqual(next.commits.map(() => 'STORED'));
    expect(await present()).toEqual(next.balances);
    const { events } = await stores.first.consumption.findPage(grant.id, { limit: 200 });
    const movements = events.toReversed().map((event) => ({ ...event, limits: period.limits }));
    expect(movements.reduce(applyConsumption, emptyBalances(grant.id))).toEqual(next.balances);
  });

  it('over several budgets of several Grants is stored per Grant, with other decisions in between', async () => {
    const other = await insertGrant(world);
    let [mine, theirs] = [emptyBalances(grant.id), emptyBalances(other.id)];
    const commits: DecisionCommit[] = [];
    for (let i = 0; i < 12; i++) {
      const isMine = i % 3 !== 0;
      const [of, balances] = isMine ? [grant, mine] : [other, theirs];
      const one = budgetCommit(world, of, balances, { key: keyOf(i % 2), budget: usesOf(9), amount: i });
      commits.push(one, denyCommit(world));
      if (one.budget?.consumption == null) throw new Error('denied');
      if (isMine) mine = applyConsumption(mine, one.budget.consumption);
      else theirs = applyConsumption(theirs, one.budget.consumption);
    }
    expect(await commit(commits)).toEqual(commits.map(() => 'STORED'));
    expect([await present(), await readBalances(stores.first, other.id)]).toEqual([mine, theirs]);
  });

  it('continues past a decision that consumes nothing, even if that one is OVERTAKEN', async () => {
    const [first, second] = chainOf(2).commits as [DecisionCommit, DecisionCommit];
    const denied = budgetCommit(world, grant, emptyBalances(grant.id), { budget: usesOf(0), amount: 10 });
    expect(denied.budget?.consumption).toBeNull();
    expect(await commit([first, denied, second])).toEqual(['STORED', 'OVERTAKEN', 'STORED']);
  });

  it.each(['one batch', 'two batches'])('crosses from one budget period into the next in %s', async (how) => {
    const budget: Budget = { limits: { total: null, perPeriod: 25, uses: null }, period: 'hour' };
    const before = chainOf(2, budget);
    const hourAgo = (balances: Balances): Balances => ({
      ...balances,
      capabilities: balances.capabilities.map((one) => ({
        ...one,
        periodStartMs: (one.periodStartMs ?? 0) - 3_600_000,
      })),
    });
    const [first, second] = before.commits;
    if (first?.budget?.consumption == null || second === undefined) throw new Error('denied');
    const early = {
      ...first.budget.consumption,
      periodStartMs: (first.budget.consumption.periodStartMs ?? 0) - 3_600_000,
    };
    const middle = hourAgo(applyConsumption(emptyBalances(grant.id), first.budget.consumption));
    const moved = consume(middle, { budget, amount: 20 });
    const commits = [
      { ...first, budget: { ...first.budget, consumption: early } },
      { ...second, budget: { balances: middle, consumption: moved } },
    ];
    const batches = how === 'one batch' ? [commits] : commits.map((one) => [one]);
    for (const batch of batches) expect(await commit(batch)).toEqual(batch.map(() => 'STORED'));
    expect(findBalance(await present(), keyOf(1))).toMatchObject({
      spentTotal: 30,
      spentInPeriod: 20,
      periodStartMs: moved?.periodStartMs,
    });
  });

  it.each<[string, number, (world: World) => Partial<DecisionCommit>, string]>([
    ['an unknown API key', 3, () => ({ keyHash: '00'.repeat(32) }), 'KEY_REVOKED'],
    [
      'another version of its relying party',
      0,
      () => ({ relyingParty: { did: world.relyingParty.did, version: 99 } }),
      'STALE',
    ],
    ['a time ahead', 9, () => ({ evaluatedAtMs: Date.now() + 60_000 }), 'CLOCK'],
  ])('breaks at %s: later decisions are OVERTAKEN and claim nothing', async (_, at, change, outcome) => {
    const idempotency = (i: number) => ({ key: `k-${grant.id.slice(-26)}-${i}`, bodyHash: 'x' });
    const { commits } = chainOf(10, usesOf(100), (i) => ({
      idempotency: idempotency(i),
      ...(i === at ? change(world) : {}),
    }));
    const outcomes = await commit([...commits, denyCommit(world)]);
    const right = commits.map((__, i) => (i < at ? 'STORED' : i === at ? outcome : 'OVERTAKEN'));
    expect(outcomes).toEqual([...right, 'STORED']);
    for (const [i, one] of commits.entries()) expect((await claims(one)).claims).toBe(i < at ? 4 : 0);
    expect((await present()).version).toBe(at);
  });

  it('breaks at a spent Proof and at a taken idempotency key, and later decisions give back their claims', async () => {
    const idempotency = { key: `taken-${grant.id.slice(-26)}`, bodyHash: 'x' };
    expect(await commit([denyCommit(world, { idempotency })])).toEqual(['STORED']);
    const spent = allowCommit(world, grant);
    expect(await commit([spent])).toEqual(['STORED']);
    const changes: Record<number, Partial<DecisionCommit>> = {
      2: { spend: spent.spend },
      5: { idempotency },
    };
    const key = (i: number) => ({ idempotency: { key: `k-${grant.id.slice(-26)}-${i}`, bodyHash: 'x' } });
    const { commits } = chainOf(8, usesOf(100), (i) => ({ ...key(i), ...changes[i] }));
    expect(await commit(commits)).toEqual([
      ...[
        'STORED',
        'STORED',
        'REPLAY',
        'OVERTAKEN',
        'OVERTAKEN',
        'IDEMPOTENCY_TAKEN',
        'OVERTAKEN',
        'OVERTAKEN',
      ],
    ]);
    for (const i of [3, 4, 6, 7]) expect((await claims(commits[i] as DecisionCommit)).claims).toBe(0);
    expect((await present()).version).toBe(2);
  });

  it('that breaks does not report REPLAY for a Proof that ends up unspent', async () => {
    const { commits } = chainOf(3, usesOf(100), (i) => (i === 0 ? { keyHash: '00'.repeat(32) } : {}));
    const [, second, third] = commits as [DecisionCommit, DecisionCommit, DecisionCommit];
    const twice = [commits[0] as DecisionCommit, second, { ...third, spend: second.spend }];
    expect(await commit(twice)).toEqual(['KEY_REVOKED', 'OVERTAKEN', 'OVERTAKEN']);
  });
});

describe('a decision on budget balances', () => {
  it('is OVERTAKEN if the balances have changed, a DENY like an ALLOW', async () => {
    const { commits, balances } = chainOf(1, usesOf(1));
    expect(await commit(commits)).toEqual(['STORED']);
    const stale = budgetCommit(world, grant, emptyBalances(grant.id), { budget: usesOf(1) });
    const deny = budgetCommit(world, grant, { ...balances, version: 0 }, { budget: usesOf(1) });
    expect([stale.decision, deny.decision]).toEqual(['ALLOW', 'DENY']);
    expect(await commit([stale, deny, denyCommit(world)])).toEqual(['OVERTAKEN', 'OVERTAKEN', 'STORED']);
    const right = budgetCommit(world, grant, balances, { budget: usesOf(1) });
    expect([right.decision, await commit([right])]).toEqual(['DENY', ['STORED']]);
    expect((await present()).version).toBe(1);
  });

  it("is OVERTAKEN while another session holds its Grant's lock, and other decisions do not wait", async () => {
    await withSession(stores.url, async (holder) => {
      await holder.query('begin');
      await holder.query('select pg_advisory_xact_lock(9, hashtext($1))', [grant.id]);
      const free = await insertGrant(world);
      const { commits } = chainOf(2);
      const other = budgetCommit(world, free, emptyBalances(free.id), { budget: usesOf(1) });
      expect(await commit([...commits, other, denyCommit(world)])).toEqual([
        ...['OVERTAKEN', 'OVERTAKEN', 'STORED', 'STORED'],
      ]);
      await holder.query('commit');
      expect(await commit(commits)).toEqual(['STORED', 'STORED']);
    });
  });

  it('that would overdraw the stored balance is REFUSED, whatever was evaluated', async () => {
    const { commits } = chainOf(3, usesOf(2));
    expect(commits.map(({ decision }) => decision)).toEqual(['ALLOW', 'ALLOW', 'DENY']);
    const wrong = chainOf(4, usesOf(100)).commits.map((one) => {
      const consumption = one.budget?.consumption;
      if (one.budget == null || consumption == null) throw new Error('denied');
      return { ...one, budget: { ...one.budget, consumption: { ...consumption, limits: usesOf(2).limits } } };
    });
    expect(await commit([...wrong, denyCommit(world)])).toEqual([
      ...['STORED', 'STORED', 'REFUSED', 'OVERTAKEN', 'STORED'],
    ]);
    expect((await present()).version).toBe(2);
  });

  it('may spend zero when more than the limit has been spent', async () => {
    const budget: Budget = { limits: { total: 10, perPeriod: null, uses: null }, period: null };
    const { commits, balances } = chainOf(1, budget);
    await commit(commits);
    await runSql(stores.url, 'update consumption_balances set spent_total = 20 where grant_id = $1', [
      grant.id,
    ]);
    const free = budgetCommit(world, grant, balances, { budget, amount: 0 });
    expect([free.decision, await commit([free])]).toEqual(['ALLOW', ['STORED']]);
  });

  it('is counted up to 2^53-1 against limits that are not set', async () => {
    const budget: Budget = { limits: { total: null, perPeriod: null, uses: 3 }, period: null };
    const first = budgetCommit(world, grant, emptyBalances(grant.id), { budget, amount: ALMOST_ALL - 1 });
    await commit([first]);
    const second = budgetCommit(world, grant, await present(), { budget, amount: 5 });
    expect(await commit([second])).toEqual(['STORED']);
    expect(findBalance(await present(), keyOf(1))?.spentTotal).toBe(ALMOST_ALL);
  });
});

describe('a commit on budgets', () => {
  it('evaluates under the lock, with the current balances and the spent Proofs', async () => {
    const { commits, balances } = chainOf(1);
    await commit(commits);
    const spent = commits[0]?.spend?.jti ?? '';
    const outcomes = await stores.second.verify.commitOnBudgets(
      [spent, 'other', null].map((jti) => ({ grantId: grant.id, jti })),
      800,
      async (facts) => {
        expect(facts).toEqual([
          { balances, isSpent: true },
          { balances, isSpent: false },
          { balances, isSpent: false },
        ]);
        return chainOf(2, usesOf(100), () => ({}), balances).commits;
      },
    );
    expect(outcomes).toEqual(['STORED', 'STORED']);
    expect((await present()).version).toBe(3);
  });

  it('waits for the lock up to its limit, and then leaves out only the Grants whose lock is not free', async () => {
    let entered = () => {};
    let leave = () => {};
    const inside = new Promise<void>((resolve) => (entered = resolve));
    const left = new Promise<void>((resolve) => (leave = resolve));
    const other = await insertGrant(world);
    const queryOf = (...grants: readonly GrantRecord[]) =>
      grants.map(({ id }) => ({ grantId: id, jti: null }));
    const first = stores.first.verify.commitOnBudgets(queryOf(grant), 0, async () => {
      entered();
      await left;
      return chainOf(1).commits;
    });
    await inside;
    for (const waitMs of [0, 50]) {
      const before = await readBalances(stores.first, other.id);
      const outcomes = await stores.second.verify.commitOnBudgets(
        queryOf(grant, other, grant),
        waitMs,
        async (facts) => {
          expect(facts).toEqual([null, { balances: before, isSpent: false }, null]);
          return [budgetCommit(world, other, before, { budget: usesOf(9), amount: 1 })];
        },
      );
      expect(outcomes).toEqual(['STORED']);
    }
    const second = stores.second.verify.commitOnBudgets(
      queryOf(grant),
      60_000,
      async ([facts]) => chainOf(1, usesOf(100), () => ({}), facts?.balances).commits,
    );
    leave();
    expect([await first, await second]).toEqual([['STORED'], ['STORED']]);
  });

  it('stores nothing if its evaluation throws, and releases the lock', async () => {
    const fails = async () => {
      throw new Error('mine');
    };
    await expect(
      stores.first.verify.commitOnBudgets([{ grantId: grant.id, jti: null }], 0, fails),
    ).rejects.toThrow('mine');
    expect(await commit(chainOf(1).commits)).toEqual(['STORED']);
  });
});

it('consumption_events is append-only', async () => {
  await commit(chainOf(1).commits);
  for (const sql of ['update consumption_events set delta_uses = 2', 'delete from consumption_events'])
    await expect(runSql(stores.url, sql)).rejects.toThrow('append-only');
});
