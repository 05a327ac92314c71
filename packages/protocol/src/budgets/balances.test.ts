import { type JsonObject, jcs, portableCrypto, type Sha256 } from '@svc/codec';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GrantId } from '../model/ids.ts';
import {
  applyConsumption,
  type Balances,
  emptyBalances,
  findBalance,
  type Movement,
  remainingOf,
  restoreOf,
  reversalOf,
} from './balances.ts';
import type { Budget } from './budget.ts';
import { type Consumption, consumptionOf } from './consumption.ts';
import { PERIODS, periodStartMs } from './period.ts';
import { parseSnapshot, snapshotHashOf, snapshotOf } from './snapshot.ts';

const GRANT = `urn:svc:grant:${'0'.repeat(26)}` as GrantId;
const MAX = Number.MAX_SAFE_INTEGER;
const START_MS = Date.parse('2028-02-28T22:00:00Z');

const limit = fc.option(fc.integer({ min: 0, max: 300 }));
const budgets: fc.Arbitrary<Budget> = fc
  .record({ total: limit, perPeriod: limit, uses: fc.option(fc.nat(8)), period: fc.constantFrom(...PERIODS) })
  .map(({ period, ...limits }) => ({ limits, period: limits.perPeriod === null ? null : period }));

const keyOf = (i: number) => `sha256:${String(i).repeat(64)}` as Sha256;
const KEYS = 3;

interface Step {
  readonly budget: number;
  readonly amount: number;
  readonly afterMs: number;
}
const steps = fc.array(
  fc.record({
    budget: fc.nat(KEYS - 1),
    amount: fc.nat(120),
    // Also backwards, because the clocks of two nodes differ a little.
    afterMs: fc.oneof(fc.integer({ min: -2_000, max: 5_000 }), fc.constantFrom(3_600_000, 86_400_000)),
  }),
  { maxLength: 25 },
);

interface Run {
  readonly balances: Balances;
  readonly log: readonly Movement[];
}

/** Consumes each step that is allowed, one after another. */
const consume = (of: readonly Budget[], list: readonly Step[], onStep?: (run: Run) => void): Run => {
  let balances = emptyBalances(GRANT);
  const log: Movement[] = [];
  let nowMs = START_MS;
  for (const { budget: i, amount, afterMs } of list) {
    nowMs += afterMs;
    const budget = of[i];
    const consumption = budget && consumptionOf({ key: keyOf(i), budget, balances, amount, nowMs });
    if (!consumption) continue;
    balances = applyConsumption(balances, consumption);
    log.push(consumption);
    onStep?.({ balances, log });
  }
  return { balances, log };
};

const worlds = fc.record({ of: fc.array(budgets, { minLength: KEYS, maxLength: KEYS }), list: steps });
const sumOf = (log: readonly Movement[], delta: 'deltaTotal' | 'deltaPeriod' | 'deltaUses') =>
  log.reduce((sum, movement) => sum + movement[delta], 0);

describe('a consumption', () => {
  it('never exceeds the limit of a budget in total, in a period or in uses', () => {
    fc.assert(
      fc.property(worlds, ({ of, list }) => {
        consume(of, list, ({ log }) => {
          for (const [i, { limits }] of of.entries()) {
            const own = log.filter(({ key }) => key === keyOf(i));
            expect(sumOf(own, 'deltaTotal')).toBeLessThanOrEqual(limits.total ?? MAX);
            expect(sumOf(own, 'deltaUses')).toBeLessThanOrEqual(limits.uses ?? MAX);
            for (const start of new Set(own.map(({ periodStartMs: startMs }) => startMs))) {
              const inWindow = own.filter(({ periodStartMs: startMs }) => startMs === start);
              expect(sumOf(inWindow, 'deltaPeriod')).toBeLessThanOrEqual(limits.perPeriod ?? MAX);
            }
          }
        });
      }),
    );
  });

  it('leaves balances that are the sums of the log, and a version that counts the log', () => {
    fc.assert(
      fc.property(worlds, ({ of, list }) => {
        const { balances, log } = consume(of, list);
        expect(balances.version).toBe(log.length);
        expect(log.reduce(applyConsumption, emptyBalances(GRANT))).toEqual(balances);
        for (const {
          key,
          spentTotal,
          usesSpent,
          spentInPeriod,
          periodStartMs: startMs,
        } of balances.capabilities) {
          const own = log.filter((movement) => movement.key === key);
          expect([spentTotal, usesSpent]).toEqual([sumOf(own, 'deltaTotal'), sumOf(own, 'deltaUses')]);
          const inWindow = own.filter((movement) => movement.periodStartMs === startMs);
          expect(spentInPeriod).toBe(sumOf(inWindow, 'deltaPeriod'));
        }
      }),
    );
  });

  it('falls into the period of its instant, and never into one before the latest', () => {
    fc.assert(
      fc.property(worlds, ({ of, list }) => {
        const { log } = consume(of, list);
        for (const [i, { period }] of of.entries()) {
          let lastMs = Number.NEGATIVE_INFINITY;
          for (const { periodStartMs: startMs, recordedAtMs } of log.filter(({ key }) => key === keyOf(i))) {
            if (period === null) expect(startMs).toBeNull();
            else {
              lastMs = Math.max(lastMs, periodStartMs(period, recordedAtMs));
              expect(startMs).toBe(lastMs);
            }
          }
        }
      }),
    );
  });

  it('and a consumption of another budget give the same balances in either order', () => {
    fc.assert(
      fc.property(worlds, fc.nat(120), fc.nat(120), ({ of, list }, a, b) => {
        const { balances } = consume(of, list);
        const nowMs = START_MS + 10 * 86_400_000;
        const open = (from: Balances, i: number, amount: number): Consumption | null => {
          const budget = of[i];
          return budget ? consumptionOf({ key: keyOf(i), budget, balances: from, amount, nowMs }) : null;
        };
        const both = (first: readonly [number, number], second: readonly [number, number]) => {
          const one = open(balances, ...first);
          const between = one === null ? balances : applyConsumption(balances, one);
          const two = open(between, ...second);
          return two === null ? between : applyConsumption(between, two);
        };
        expect(both([0, a], [1, b])).toEqual(both([1, b], [0, a]));
      }),
    );
  });

  it('is possible under a higher limit whenever it is possible under a lower one', () => {
    const more = fc.record({ total: fc.nat(50), perPeriod: fc.nat(50), uses: fc.nat(5) });
    fc.assert(
      fc.property(worlds, more, fc.nat(120), ({ of, list }, { total, perPeriod, uses }, amount) => {
        const [budget] = of;
        const { balances } = consume(of, list);
        if (budget === undefined) return;
        const { limits } = budget;
        const raised = (value: number | null, by: number) => (value === null ? null : value + by);
        const bigger: Budget = {
          ...budget,
          limits: {
            total: raised(limits.total, total),
            perPeriod: raised(limits.perPeriod, perPeriod),
            uses: raised(limits.uses, uses),
          },
        };
        const open = (one: Budget) =>
          consumptionOf({ key: keyOf(0), budget: one, balances, amount, nowMs: START_MS });
        if (open(budget) !== null) expect(open(bigger)).not.toBeNull();
      }),
    );
  });

  it('counts an unlimited total up to 2^53-1, and is not denied because of it', () => {
    const budget: Budget = { limits: { total: null, perPeriod: null, uses: 9 }, period: null };
    const spend = (balances: Balances, amount: number) => {
      const consumption = consumptionOf({ key: keyOf(0), budget, balances, amount, nowMs: START_MS });
      if (consumption === null) throw new Error('denied');
      return { consumption, after: applyConsumption(balances, consumption) };
    };
    const first = spend(emptyBalances(GRANT), MAX - 1);
    const second = spend(first.after, 5);
    expect(second.consumption.deltaTotal).toBe(1);
    expect(findBalance(second.after, keyOf(0))?.spentTotal).toBe(MAX);
    const restored = applyConsumption(second.after, restoreOf(second.consumption, START_MS));
    expect(findBalance(restored, keyOf(0))?.spentTotal).toBe(MAX - 1);
  });
});

describe('a restore', () => {
  const pick = (log: readonly Movement[], at: number) => log[at % Math.max(1, log.length)];

  it('gives back exactly what was consumed, in its period, and its reversal takes exactly that again', () => {
    fc.assert(
      fc.property(worlds, fc.nat(), ({ of, list }, at) => {
        const { balances, log } = consume(of, list);
        const consumed = pick(log, at);
        if (consumed === undefined) return;
        const restored = applyConsumption(balances, restoreOf(consumed, START_MS + 1));
        const before = findBalance(balances, consumed.key);
        const after = findBalance(restored, consumed.key);
        if (before === null || after === null) throw new Error('a consumed budget has a balance');
        expect(before.spentTotal - after.spentTotal).toBe(consumed.deltaTotal);
        expect(before.usesSpent - after.usesSpent).toBe(1);
        const inSameWindow = before.periodStartMs === consumed.periodStartMs;
        expect(before.spentInPeriod - after.spentInPeriod).toBe(inSameWindow ? consumed.deltaPeriod : 0);
        expect(after.periodStartMs).toBe(before.periodStartMs);
        const reversed = applyConsumption(restored, reversalOf(restored, consumed, before.updatedAtMs));
        expect(reversed).toEqual({ ...balances, version: balances.version + 2 });
      }),
    );
  });

  it('can be reversed beyond a limit, and then the remainder is 0', () => {
    const budget: Budget = { limits: { total: 10, perPeriod: 10, uses: 1 }, period: 'day' };
    const spend = (balances: Balances) => {
      const made = consumptionOf({ key: keyOf(0), budget, balances, amount: 10, nowMs: START_MS });
      if (made === null) throw new Error('denied');
      return made;
    };
    const first = spend(emptyBalances(GRANT));
    const restored = applyConsumption(
      applyConsumption(emptyBalances(GRANT), first),
      restoreOf(first, START_MS),
    );
    const again = applyConsumption(restored, spend(restored));
    const over = applyConsumption(again, reversalOf(again, first, START_MS));
    const balance = findBalance(over, keyOf(0));
    expect(balance).toMatchObject({ spentTotal: 20, spentInPeriod: 20, usesSpent: 2 });
    expect(balance && remainingOf(balance.limits, balance)).toEqual({ total: 0, perPeriod: 0, uses: 0 });
  });

  it('that is reversed beyond 2^53-1 counts up to 2^53-1', () => {
    const budget: Budget = { limits: { total: MAX, perPeriod: MAX, uses: null }, period: 'month' };
    const spend = (balances: Balances) => {
      const made = consumptionOf({ key: keyOf(0), budget, balances, amount: MAX - 1, nowMs: START_MS });
      if (made === null) throw new Error('denied');
      return made;
    };
    const first = spend(emptyBalances(GRANT));
    const restored = applyConsumption(
      applyConsumption(emptyBalances(GRANT), first),
      restoreOf(first, START_MS),
    );
    const again = applyConsumption(restored, spend(restored));
    const reversal = reversalOf(again, first, START_MS);
    expect([reversal.deltaTotal, reversal.deltaPeriod]).toEqual([1, 1]);
    expect(findBalance(applyConsumption(again, reversal), keyOf(0))).toMatchObject({ spentTotal: MAX });
  });

  it('of what was never consumed throws a RangeError', () => {
    const movement: Movement = {
      ...{ key: keyOf(0), deltaTotal: 5, deltaPeriod: 0, deltaUses: 1, periodStartMs: null },
      ...{ limits: { total: 10, perPeriod: null, uses: null }, recordedAtMs: START_MS },
    };
    expect(() => applyConsumption(emptyBalances(GRANT), restoreOf(movement, START_MS))).toThrow(RangeError);
  });
});

describe('a snapshot', () => {
  it('has its members in RFC 8785 order and its keys ascending, and is parsed to the same balances', () => {
    fc.assert(
      fc.property(worlds, ({ of, list }) => {
        const { balances } = consume(of, list);
        const snapshot = snapshotOf(balances);
        const text = jcs(snapshot as unknown as JsonObject);
        expect(JSON.stringify(snapshot)).toBe(text);
        expect(snapshotHashOf(portableCrypto, balances)).toBe(`sha256:${portableCrypto.sha256Hex(text)}`);
        const keys = snapshot.capabilities.map(({ key }) => key);
        expect(keys).toEqual([...new Set(keys)].sort());
        expect(parseSnapshot(JSON.parse(text))).toEqual(balances);
      }),
    );
  });

  const balance = {
    key: keyOf(1),
    limits: { per_period: null, total: 10, uses: null },
    period_start: null as unknown,
    remaining: { per_period: null, total: 4, uses: null },
    spent_in_period: 0,
    spent_total: 6,
    updated_at: '2026-11-20T09:00:00.000Z',
    uses_spent: 1,
  };
  const snapshot = { capabilities: [balance] as unknown[], grant_id: GRANT as string, version: 1 };
  const withBalance = (change: object) => ({ ...snapshot, capabilities: [{ ...balance, ...change }] });

  it('is parsed', () => expect(parseSnapshot(snapshot)).not.toBeNull());

  it.each<[string, unknown]>([
    ['that is not an object', []],
    ['with another member', { ...snapshot, as_of: '2026-11-20T09:00:00.000Z' }],
    ['with a malformed grant_id', { ...snapshot, grant_id: 'x' }],
    ['of a negative version', { ...snapshot, version: -1 }],
    ['without a list of balances', { ...snapshot, capabilities: {} }],
    ['with null as a balance', { ...snapshot, capabilities: [null] }],
    ['with one key twice', { ...snapshot, capabilities: [balance, balance] }],
    ['with keys in another order', { ...snapshot, capabilities: [balance, { ...balance, key: keyOf(0) }] }],
    ['with a key that is not a hash', withBalance({ key: 'x' })],
    ['with a negative sum', withBalance({ spent_total: -1, remaining: { ...balance.remaining, total: 11 } })],
    [
      'with a remainder that does not match the limits',
      withBalance({ remaining: { ...balance.remaining, total: 5 } }),
    ],
    ['with limits that are not an object', withBalance({ limits: null })],
    ['with a time of another form', withBalance({ updated_at: '2026-11-20T09:00:00Z' })],
    ['with a day that does not exist', withBalance({ period_start: '2026-02-30T00:00:00.000Z' })],
    ['with a time beyond the year 9999', withBalance({ updated_at: '9999-12-31T24:00:00.000Z' })],
    ['with another member of a balance', withBalance({ more: 1 })],
  ])('is refused %s', (_, value) => {
    expect(parseSnapshot(value)).toBeNull();
  });
});
