/** Capabilities with budgets, and the log of their consumption in the form of `GET /grants/{id}/consumption`. */
import {
  applyConsumption,
  type Balances,
  budgetOf,
  type Capability,
  capabilityKeyOf,
  consumptionOf,
  type EvaluateInput,
  emptyBalances,
  formatTimestamp,
  type GrantId,
  type JsonObject,
  type Movement,
  portableCrypto,
  restoreOf,
  snapshotHashOf,
  snapshotOf,
} from '@svc/protocol';
import fc from 'fast-check';
import { GRANT_ID, NOW_MS, PURCHASE, type Setting } from './world.ts';

export const capabilityOf = (constraints: JsonObject, resources?: readonly string[]): JsonObject => ({
  action: 'commerce:purchase',
  constraints: { currency: 'USD', maxAmount: 50_000, ...constraints },
  ...(resources === undefined ? {} : { resources }),
});

/** Consumes `amount` of this Capability `agoMs` before now, if enough is left. */
export interface Use {
  readonly capability: JsonObject;
  readonly amount: number;
  readonly agoMs: number;
  readonly restored?: boolean;
}

export interface Log {
  readonly balances: Balances;
  readonly movements: readonly Movement[];
}

export const logOf = (uses: readonly Use[]): Log => {
  let balances = emptyBalances(GRANT_ID as GrantId);
  const movements: Movement[] = [];
  const append = (movement: Movement) => {
    movements.push(movement);
    balances = applyConsumption(balances, movement);
  };
  for (const { capability: json, amount, agoMs, restored } of uses) {
    const capability = json as unknown as Capability;
    const budget = budgetOf(capability);
    if (budget === null) continue;
    const key = capabilityKeyOf(portableCrypto, capability);
    const made = consumptionOf({ key, budget, balances, amount, nowMs: NOW_MS - agoMs });
    if (made === null) continue;
    append(made);
    if (restored) append(restoreOf(made, NOW_MS - agoMs));
  }
  return { balances, movements };
};

/** The endpoint's answer at the present version, with the events `from` to `to`, newest first. */
export const pageOf = ({ balances, movements }: Log, from = 1, to = movements.length): JsonObject => {
  const events = movements.map((movement, i) => ({
    version: i + 1,
    key: movement.key,
    delta_total: movement.deltaTotal,
    delta_period: movement.deltaPeriod,
    delta_uses: movement.deltaUses,
    period_start: movement.periodStartMs === null ? null : formatTimestamp(movement.periodStartMs),
    cause: movement.deltaUses < 0 ? 'restore' : 'consume',
    recorded_at: formatTimestamp(movement.recordedAtMs),
  }));
  return {
    ...(snapshotOf(balances) as unknown as JsonObject),
    principal: 'did:web:acme.example',
    as_of: formatTimestamp(NOW_MS),
    snapshot_hash: snapshotHashOf(portableCrypto, balances),
    events: events.slice(from - 1, to).reverse(),
    next_cursor: from > 1 ? from : null,
  };
};

/** A v2 relying party, these Capabilities, and their consumption. */
export const budgeted = (
  capabilities: readonly JsonObject[],
  uses: readonly Use[] = [],
): Partial<Setting> => ({
  profile: 'svc-base-v2',
  capabilities,
  facts: { balances: found(logOf(uses).balances) },
});

const found = (balances: Balances): NonNullable<EvaluateInput['facts']['balances']> => ({
  found: snapshotOf(balances),
});

const limit = fc.option(fc.constantFrom(0, 42_699, 42_700, 100_000), { freq: 1 });
const capability = fc
  .record({
    total: limit,
    perPeriod: limit,
    period: fc.constantFrom('hour', 'day', 'week', 'month'),
    uses: fc.option(fc.nat(2), { freq: 1 }),
    resources: fc.constantFrom(undefined, ['order/**'], ['cart/**']),
    maxAmount: fc.constantFrom(50_000, 50_000, 100),
  })
  .map(({ total, perPeriod, period, uses, resources, maxAmount }) =>
    capabilityOf(
      {
        maxAmount,
        ...(total === null ? {} : { maxTotal: total }),
        ...(perPeriod === null ? {} : { maxPerPeriod: perPeriod, period }),
        ...(uses === null ? {} : { maxUses: uses }),
      },
      resources,
    ),
  );
const call = fc.option(fc.nat(2)).map(
  (uses): JsonObject => ({
    action: 'api:call',
    constraints: { methods: ['GET'], ...(uses === null ? {} : { maxUses: uses }) },
  }),
);

/** Budgets of every kind, partly or fully used, sometimes unavailable. Purchases may cost nothing. */
export const arbitraryBudgets: fc.Arbitrary<Partial<Setting>> = fc
  .array(fc.oneof({ weight: 4, arbitrary: capability }, call), { minLength: 1, maxLength: 4 })
  .chain((capabilities) =>
    fc.record({
      capabilities: fc.constant(capabilities),
      uses: fc.array(
        fc.record({
          capability: fc.constantFrom(...capabilities),
          amount: fc.constantFrom(0, 1, 42_700, 57_300),
          agoMs: fc.constantFrom(1, 60_000, 86_400_000),
          restored: fc.boolean(),
        }),
        { maxLength: 4 },
      ),
      amount: fc.constantFrom(0, PURCHASE.type === 'commerce:purchase' ? PURCHASE.amount : 0),
      unavailable: fc.oneof({ weight: 8, arbitrary: fc.constant(false) }, fc.constant(true)),
    }),
  )
  .map(({ capabilities, uses, amount, unavailable }) => {
    const setting = { ...budgeted(capabilities, uses), action: { ...PURCHASE, amount } };
    return unavailable ? { ...setting, facts: { balances: 'unavailable' as const } } : setting;
  });
