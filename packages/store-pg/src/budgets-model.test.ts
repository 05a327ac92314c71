/**
 * Random histories of a Grant's budgets, on two nodes, against the naive model: purchases alone and many at once,
 * outcomes that restore and corrections that take again, and the clock moved over the ends of hours, days, weeks,
 * months and a leap day, and back. After every step the balances, log and snapshot hash equal those of the model, and
 * the log replays to the balances.
 */

import { randomBytes } from 'node:crypto';
import {
  applyConsumption,
  type Budget,
  emptyBalances,
  findBalance,
  type GrantId,
  type JsonObject,
  jcs,
  type Period,
  type ReceiptId,
  snapshotHashOf,
} from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import {
  type DecisionCommit,
  type GrantRecord,
  reportOutcome,
  type ServiceDeps,
  type Store,
} from '@svc/service';
import { withDatabase } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import { budgetCommit, keyOf } from '@svc/testkit/store/budgets';
import { type MovableClock, moveClockOf } from '@svc/testkit/store/movable-clock';
import { type NaiveBudget, NaiveBudgets, windowOf } from '@svc/testkit/store/naive-budgets';
import { openStore } from '@svc/testkit/store/open-store';
import { createWorld, hashOf, insertGrant, type World } from '@svc/testkit/store/world';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const START_MS = Date.parse('2028-02-26T22:59:58Z');
const PERIODS: readonly Period[] = ['hour', 'day', 'week', 'month'];

const database = withDatabase();
const stores: Store[] = [];
let clock: MovableClock;
let world: World;

beforeAll(async () => {
  clock = await moveClockOf(database.url);
  await clock.pass(START_MS - clock.nowMs());
  stores.push(openStore(database.url), openStore(database.url));
  for (const store of stores) await store.ensureReceiptPartitions();
  world = await createWorld(node(0));
});
afterAll(() => Promise.all(stores.map((store) => store.close())));

const node = (i: number): Store => {
  const store = stores[i % 2];
  if (store === undefined) throw new Error('stores exist from beforeAll on');
  return store;
};

interface Real {
  readonly grant: GrantRecord;
}

interface Consumed {
  readonly receiptId: ReceiptId;
  /** Id of the attestation that restored the purchase. */
  restoredBy: string | null;
  isReversed: boolean;
}

class Model {
  readonly naive: NaiveBudgets;
  readonly consumed: Consumed[] = [];
  constructor(readonly budgets: readonly NaiveBudget[]) {
    this.naive = new NaiveBudgets(budgets);
  }
  budget(i: number): NaiveBudget {
    const budget = this.budgets[i % this.budgets.length];
    if (budget === undefined) throw new Error('no budget');
    return budget;
  }
}

const engineBudget = ({ total, perPeriod, uses, period }: NaiveBudget): Budget => ({
  limits: { total, perPeriod, uses },
  period,
});

/** Evaluated under the lock, so one attempt is enough even beside others. */
const buyOn = async (
  store: Store,
  grant: GrantRecord,
  budget: NaiveBudget,
  amount: number,
): Promise<DecisionCommit> => {
  let made: DecisionCommit | undefined;
  const outcomes = await store.verify.commitOnBudgets(
    [{ grantId: grant.id, jti: null }],
    20_000,
    async ([facts]) => {
      const balances = facts?.balances ?? emptyBalances(grant.id);
      const purchase = { key: budget.key, budget: engineBudget(budget), amount, nowMs: clock.nowMs() };
      made = budgetCommit(world, grant, balances, purchase);
      return [made];
    },
  );
  expect(outcomes).toEqual(['STORED']);
  if (made === undefined) throw new Error('nothing was decided');
  return made;
};

const keep = (model: Model, budget: NaiveBudget, amount: number, decision: DecisionCommit): boolean => {
  const isAllowed = model.naive.buy(decision.receiptId, budget, amount, decision.evaluatedAtMs);
  expect(decision.decision).toBe(isAllowed ? 'ALLOW' : 'DENY');
  if (isAllowed) model.consumed.push({ receiptId: decision.receiptId, restoredBy: null, isReversed: false });
  return isAllowed;
};

const agree = async (model: Model, grantId: GrantId): Promise<void> => {
  const { balances, events } = await node(model.naive.moves.length).consumption.findPage(grantId, {
    limit: 10_000,
  });
  const capabilities = model.naive.capabilities();
  const published = {
    grant_id: grantId,
    version: model.naive.moves.length,
    capabilities,
  } as unknown as JsonObject;
  expect(snapshotHashOf(nativeCrypto, balances)).toBe(hashOf(jcs(published)));
  const oldestFirst = events.toReversed();
  expect(oldestFirst.map(({ version, key, recordedAtMs }) => [version, key, recordedAtMs])).toEqual(
    model.naive.moves.map(({ key, atMs }, i) => [i + 1, key, atMs]),
  );
  const movements = oldestFirst.map((event) => {
    const limits = findBalance(balances, event.key)?.limits;
    if (limits === undefined) throw new Error(`no balance of ${event.key}`);
    return { ...event, limits };
  });
  expect(movements.reduce(applyConsumption, emptyBalances(grantId))).toEqual(balances);
};

type Command = fc.AsyncCommand<Model, Real>;

class Buy implements Command {
  constructor(
    readonly i: number,
    readonly amount: number,
  ) {}
  check = () => true;
  async run(model: Model, { grant }: Real) {
    const budget = model.budget(this.i);
    keep(model, budget, this.amount, await buyOn(node(this.i), grant, budget, this.amount));
    await agree(model, grant.id);
  }
  toString = () => `buy ${this.amount} of ${this.i}`;
}

/** Equal purchases, so that their order does not matter. */
class BuyAtOnce implements Command {
  constructor(
    readonly i: number,
    readonly amount: number,
    readonly count: number,
  ) {}
  check = () => true;
  async run(model: Model, { grant }: Real) {
    const budget = model.budget(this.i);
    const requests = Array.from({ length: this.count }, (_, i) => buyOn(node(i), grant, budget, this.amount));
    const made = await Promise.all(requests);
    const inOrder = made.toSorted(
      (a, b) => (a.budget?.balances.version ?? 0) - (b.budget?.balances.version ?? 0),
    );
    // Of two on the same balances, the one that changed them comes last.
    inOrder.sort(
      (a, b) =>
        (a.budget?.balances.version ?? 0) - (b.budget?.balances.version ?? 0) ||
        Number(a.decision === 'ALLOW') - Number(b.decision === 'ALLOW'),
    );
    for (const decision of inOrder) keep(model, budget, this.amount, decision);
    await agree(model, grant.id);
  }
  toString = () => `buy ${this.amount} of ${this.i}, ${this.count} at once`;
}

const report = async (
  receiptId: ReceiptId,
  event: { type: 'cancelled' | 'fulfilled'; correction_of?: string },
  i: number,
) => {
  const store = node(i);
  const random = { bytes: (length: number) => new Uint8Array(randomBytes(length)) };
  const deps = { store, clock: { nowMs: clock.nowMs }, random } as unknown as ServiceDeps;
  const key = await store.apiKeys.findById(world.keyId);
  if (key === null) throw new Error('no key');
  const { relyingParty } = world;
  const subject = relyingParty.did;
  const caller = {
    class: 'rp',
    subject,
    keyId: key.keyId,
    key,
    relyingParty,
    entitlement: null,
    isNewcomer: false,
    isPaused: false,
  } as const;
  const occurred = { occurred_at: '2028-01-01T00:00:00Z', ...event };
  return reportOutcome(deps, { caller, receiptId, subject: undefined, report: occurred, requestId: 'r' });
};

const lastMoveMs = async (grantId: GrantId): Promise<number> => {
  const { events } = await node(0).consumption.findPage(grantId, { limit: 1 });
  return events[0]?.recordedAtMs ?? 0;
};

/** Several concurrent reports of one outcome, of which at most one changes a budget. */
class Cancel implements Command {
  constructor(
    readonly which: number,
    readonly times: number,
  ) {}
  check = ({ consumed }: Readonly<Model>) => consumed.length > 0;
  async run(model: Model, { grant }: Real) {
    const consumed = model.consumed[this.which % model.consumed.length];
    if (consumed === undefined) return;
    const { receiptId } = consumed;
    const reports = Array.from({ length: this.times }, (_, i) => report(receiptId, { type: 'cancelled' }, i));
    const moved = (await Promise.all(reports)).filter(({ consumption }) => consumption !== null);
    expect(moved.map(({ consumption }) => consumption)).toEqual(
      consumed.restoredBy === null ? [{ cause: 'restore', version: model.naive.moves.length + 1 }] : [],
    );
    if (moved[0] !== undefined) {
      consumed.restoredBy = moved[0].attestationId;
      model.naive.giveBack(receiptId, await lastMoveMs(grant.id));
    }
    await agree(model, grant.id);
  }
  toString = () => `cancel ${this.which}, ${this.times} times at once`;
}

class Correct implements Command {
  constructor(readonly which: number) {}
  check = ({ consumed }: Readonly<Model>) =>
    consumed.some((one) => one.restoredBy !== null && !one.isReversed);
  async run(model: Model, { grant }: Real) {
    const restored = model.consumed.filter((one) => one.restoredBy !== null && !one.isReversed);
    const consumed = restored[this.which % restored.length];
    if (consumed?.restoredBy == null) return;
    const event = { type: 'fulfilled', correction_of: consumed.restoredBy } as const;
    const { consumption } = await report(consumed.receiptId, event, this.which);
    expect(consumption).toEqual({ cause: 'restore_reversal', version: model.naive.moves.length + 1 });
    consumed.isReversed = true;
    model.naive.takeAgain(consumed.receiptId, await lastMoveMs(grant.id));
    await agree(model, grant.id);
  }
  toString = () => `correct ${this.which}`;
}

/** Moves the clock to just before or just after the end of the present window. */
class Pass implements Command {
  constructor(
    readonly period: Period,
    readonly aheadMs: number,
  ) {}
  check = () => true;
  async run() {
    const now = clock.nowMs();
    let end = now;
    while (windowOf(this.period, end) === windowOf(this.period, now)) end += 3_600_000;
    await clock.pass(Math.max(0, Date.parse(windowOf(this.period, end)) + this.aheadMs - clock.nowMs()));
    for (const store of stores) await store.ensureReceiptPartitions();
  }
  toString = () => `pass to the end of the ${this.period} ${this.aheadMs} ms`;
}

/** Moves the clock back over the end of a window that has only just passed. */
class StepBack implements Command {
  check = () => true;
  run = () => clock.pass(-400);
  toString = () => 'step back';
}

const limit = fc.option(fc.integer({ min: 0, max: 300 }), { freq: 3 });
const budget = fc.record({
  total: limit,
  perPeriod: limit,
  uses: fc.option(fc.nat(12), { freq: 3 }),
  period: fc.constantFrom(...PERIODS),
});
const budgets = fc
  .array(budget, { minLength: 1, maxLength: 3 })
  .map((list) =>
    list.map((one, i) => ({ ...one, key: keyOf(i + 1), period: one.perPeriod === null ? null : one.period })),
  );
const index = fc.nat(2);
const amount = fc.nat(120);
const commands = fc.commands(
  [
    fc.tuple(index, amount).map((of) => new Buy(...of)),
    fc.tuple(index, amount).map((of) => new Buy(...of)),
    fc.tuple(index, amount, fc.integer({ min: 2, max: 6 })).map((of) => new BuyAtOnce(...of)),
    fc.tuple(fc.nat(), fc.integer({ min: 1, max: 3 })).map((of) => new Cancel(...of)),
    fc.nat().map((which) => new Correct(which)),
    fc.tuple(fc.constantFrom(...PERIODS), fc.constantFrom(-40, 0, 250)).map((of) => new Pass(...of)),
    fc.constant(new StepBack()),
  ],
  { maxCommands: 30, size: '+1' },
);

describe('the budgets of a Grant', () => {
  it('equal those of a simple model after every command', async () => {
    const property = fc.asyncProperty(budgets, commands, async (list, run) => {
      const grant = await insertGrant(world);
      await fc.asyncModelRun(() => ({ model: new Model(list), real: { grant } }), run);
    });
    await fc.assert(property, { numRuns: sampled({ quick: 2, deep: 25 }), endOnFailure: true });
  }, 120_000);
});
