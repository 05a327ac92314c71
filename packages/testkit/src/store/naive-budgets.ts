/**
 * A second, deliberately simple implementation of budgets: it keeps every purchase, and adds up every answer anew. It
 * cuts windows out of the text of the date.
 */
import type { Period, Sha256 } from '@svc/protocol';
import { DAY_MS } from '@svc/protocol';

export interface NaiveBudget {
  readonly key: Sha256;
  readonly total: number | null;
  readonly perPeriod: number | null;
  readonly uses: number | null;
  readonly period: Period | null;
}

interface Purchase {
  readonly key: Sha256;
  readonly amount: number;
  readonly window: string | null;
  isGivenBack: boolean;
}

export interface Move {
  readonly key: Sha256;
  readonly atMs: number;
}

/** First instant of the window, as text. */
export const windowOf = (period: Period, nowMs: number): string => {
  const text = new Date(nowMs).toISOString();
  if (period === 'hour') return `${text.slice(0, 13)}:00:00.000Z`;
  if (period === 'month') return `${text.slice(0, 7)}-01T00:00:00.000Z`;
  let day = Date.parse(`${text.slice(0, 10)}T00:00:00.000Z`);
  while (period === 'week' && new Date(day).getUTCDay() !== 1) day -= DAY_MS;
  return new Date(day).toISOString();
};

export class NaiveBudgets {
  private readonly purchases = new Map<string, Purchase>();
  /** Every change of a budget, in order. */
  readonly moves: Move[] = [];

  constructor(readonly budgets: readonly NaiveBudget[]) {}

  /** Whether the purchase is allowed; if so it is stored under the receipt id. */
  buy(receiptId: string, budget: NaiveBudget, amount: number, nowMs: number): boolean {
    const window = this.windowAt(budget, nowMs);
    const { total, inWindow, uses } = this.spent(budget.key, window);
    const fits = (limit: number | null, spent: number, more: number) =>
      limit === null || more <= Math.max(0, limit - spent);
    const isAllowed =
      fits(budget.total, total, amount) &&
      fits(budget.perPeriod, inWindow, amount) &&
      fits(budget.uses, uses, 1);
    if (!isAllowed) return false;
    this.purchases.set(receiptId, { key: budget.key, amount, window, isGivenBack: false });
    this.moves.push({ key: budget.key, atMs: nowMs });
    return true;
  }

  giveBack(receiptId: string, atMs: number): void {
    this.move(receiptId, true, atMs);
  }

  takeAgain(receiptId: string, atMs: number): void {
    this.move(receiptId, false, atMs);
  }

  /** The published form, for the budgets that were ever drawn on. */
  capabilities(): object[] {
    const drawnOn = this.budgets.filter(({ key }) =>
      [...this.purchases.values()].some((one) => one.key === key),
    );
    return drawnOn
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
      .map((budget) => {
        const { key } = budget;
        const window = this.latestWindow(key);
        const { total, inWindow, uses } = this.spent(key, window);
        const left = (limit: number | null, spent: number) =>
          limit === null ? null : Math.max(0, limit - spent);
        const updatedAtMs = this.moves.findLast((move) => move.key === key)?.atMs ?? 0;
        return {
          key,
          spent_total: total,
          spent_in_period: window === null ? 0 : inWindow,
          period_start: window,
          uses_spent: uses,
          limits: { total: budget.total, per_period: budget.perPeriod, uses: budget.uses },
          remaining: {
            total: left(budget.total, total),
            per_period: left(budget.perPeriod, inWindow),
            uses: left(budget.uses, uses),
          },
          updated_at: new Date(updatedAtMs).toISOString(),
        };
      });
  }

  private move(receiptId: string, isGivenBack: boolean, atMs: number): void {
    const purchase = this.purchases.get(receiptId);
    if (purchase === undefined) throw new Error(`nothing was bought as ${receiptId}`);
    purchase.isGivenBack = isGivenBack;
    this.moves.push({ key: purchase.key, atMs });
  }

  /** The window that contains `nowMs`, or a later one that was drawn on. */
  private windowAt({ key, period }: NaiveBudget, nowMs: number): string | null {
    if (period === null) return null;
    const [window, latest] = [windowOf(period, nowMs), this.latestWindow(key)];
    return latest !== null && latest > window ? latest : window;
  }

  private latestWindow(key: Sha256): string | null {
    const windows = [...this.purchases.values()].flatMap((one) => (one.key === key ? [one.window] : []));
    return windows.toSorted().at(-1) ?? null;
  }

  private spent(key: Sha256, window: string | null) {
    const kept = [...this.purchases.values()].filter((one) => one.key === key && !one.isGivenBack);
    const sum = (list: readonly Purchase[]) => list.reduce((total, { amount }) => total + amount, 0);
    return {
      total: sum(kept),
      inWindow: sum(kept.filter((one) => one.window === window)),
      uses: kept.length,
    };
  }
}
