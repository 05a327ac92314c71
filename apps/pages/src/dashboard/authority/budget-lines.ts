/** What is left of a budget, as lines: an amount or a number of uses out of a limit. */
import { type Capability, isPeriod, periodStartMs } from '@svc/protocol';
import { formatAmount, formatInstant } from '../../shared/describe.ts';
import type { Balance, Consumption, Decision } from '../../shared/wire.ts';
import { NotNow } from '../calls-left.ts';
import type { Call } from '../session.ts';

export interface BudgetLine {
  readonly name: string;
  readonly left: number;
  readonly limit: number;
  readonly text: string;
  /** Unknown: the figure belongs to a window that may have ended, so the whole budget may be available again. */
  readonly level: 'ample' | 'low' | 'used up' | 'unknown';
}

export interface Budget {
  readonly key: string;
  /** The Capability that the budget belongs to; null where no Receipt names it. */
  readonly authority: Capability | null;
  readonly lines: readonly BudgetLine[];
}

/**
 * Reads the Capability of each budget from the Receipt of the latest decision that drew on it, since the service does
 * not store Grants. Rejects with NotNow where nobody asked for it and few calls are left.
 */
export const loadBudgets = async (
  call: Call,
  did: string,
  grantId: string,
  isUnasked: boolean,
): Promise<readonly Budget[]> => {
  const { capabilities, events } = await call<Consumption>(
    `grants/${encodeURIComponent(grantId)}/consumption`,
    { query: { limit: '50' }, isUnasked },
  );
  return Promise.all(
    capabilities.map(async (balance) => {
      const receiptId = events.find(({ key }) => key === balance.key)?.receipt_id;
      const authority = receiptId === undefined ? null : await authorityOf(call, did, receiptId, isUnasked);
      return { key: balance.key, authority, lines: linesOf(balance, authority, Date.now()) };
    }),
  );
};

const authorityOf = async (
  call: Call,
  did: string,
  receiptId: string,
  isUnasked: boolean,
): Promise<Capability | null> => {
  const path = `principals/${encodeURIComponent(did)}/decisions/${receiptId}`;
  try {
    const { receipt } = await call<Decision>(path, { isUnasked });
    return (receipt as { authority?: Capability | null }).authority ?? null;
  } catch (error) {
    if (error instanceof NotNow) throw error;
    // The figures are shown without it.
    return null;
  }
};

/** Share below which a budget is shown as low: the default threshold of `budget.low` in subscriptions. */
const LOW = 0.2;

const levelOf = (left: number, limit: number): BudgetLine['level'] =>
  left === 0 ? 'used up' : left / limit <= LOW ? 'low' : 'ample';

const PERIOD_NAMES = { hour: 'this hour', day: 'today', week: 'this week', month: 'this month' } as const;

/** Drops the unit of the second amount, so that it is written once: `USD 1.00 of 2.00`. */
const withoutUnit = (text: string): string => text.replace(/^[A-Z]{3}\s|\sminor units$/u, '');

export const linesOf = (
  { limits, remaining, period_start: start }: Balance,
  authority: Capability | null,
  nowMs: number,
): readonly BudgetLine[] => {
  const { currency, period } = (authority?.constraints ?? {}) as Readonly<Record<string, unknown>>;
  const money = (minor: number) =>
    typeof currency === 'string'
      ? formatAmount(minor, currency)
      : `${minor.toLocaleString('en')} minor units`;
  const count = (uses: number) => uses.toLocaleString('en');
  // A balance belongs to the window in which the budget was last drawn on. In a new window nothing is used up yet.
  const isPast = isPeriod(period) && start !== null && Date.parse(start) < periodStartMs(period, nowMs);
  const ofPeriod = isPast ? limits.per_period : remaining.per_period;
  const line = (
    name: string,
    left: number | null,
    limit: number | null,
    write: (value: number) => string,
  ): BudgetLine[] => {
    if (left === null || limit === null) return [];
    const text = `${write(left)} of ${withoutUnit(write(limit))}`;
    return [{ name, left, limit, text, level: levelOf(left, limit) }];
  };
  const perPeriod = (name: string) => line(name, ofPeriod, limits.per_period, money);
  // Without the period it cannot be determined whether the window has ended.
  const unknown = (from: string) =>
    perPeriod(`in the window from ${formatInstant(from)}`).map(
      (one): BudgetLine => ({ ...one, level: 'unknown' }),
    );
  return [
    ...line('in all', remaining.total, limits.total, money),
    ...(isPeriod(period)
      ? perPeriod(PERIOD_NAMES[period])
      : start === null
        ? perPeriod('per period')
        : unknown(start)),
    ...line('uses', remaining.uses, limits.uses, count),
  ];
};
