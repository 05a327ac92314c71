/**
 * A source of decisions: what this tab sent in the playground, in the form in which the dashboard shows a key's
 * decisions.
 */
import { DAY_MS, dayOf } from '@svc/protocol';
import type { Played } from '../shared/played.ts';
import type { DecisionStats, DecisionSummary, Usage } from '../shared/wire.ts';
import type { DecisionQuery, Period, Source } from './source.ts';

export const sourceOfPlayed = (played: readonly Played[]): Source => {
  const within = ({ since, until }: Period) =>
    played.filter(({ receipt }) => receipt.evaluated_at >= since && receipt.evaluated_at < until);
  return {
    usage: async (period) => usageOf(within(period), period),
    stats: async (period) => statsOf(within(period), period),
    decisions: {
      other: 'principal',
      list: async (query) => ({
        decisions: within(query)
          .map(summaryOf)
          .filter((summary) => fits(summary, query)),
        next_cursor: null,
      }),
      get: async (receiptId) => {
        const found = played.find(({ receipt }) => receipt.receipt_id === receiptId);
        if (found === undefined) throw new Error('This tab did not ask for that decision.');
        return { receipt: found.receipt as never, outcomes: [] };
      },
      getBundle: null,
      outcomes: null,
    },
  };
};

const fits = (summary: DecisionSummary, query: DecisionQuery): boolean =>
  (['decision', 'reason', 'principal', 'rp', 'grant_id'] as const).every(
    (name) => query[name] === '' || query[name] === summary[name],
  );

const summaryOf = ({ receipt, action }: Played): DecisionSummary => ({
  receipt_id: receipt.receipt_id,
  decision: receipt.decision,
  reason: receipt.reason,
  evaluated_at: receipt.evaluated_at,
  principal: receipt.principal?.id ?? null,
  grant_id: receipt.grant_id ?? null,
  agent: receipt.agent ?? null,
  rp: receipt.relying_party,
  key_id: null,
  action_type: action.type,
  amount: action.amount,
  currency: action.currency,
  resource: action.resource,
  method: null,
});

const usageOf = (played: readonly Played[], period: Period): Usage => {
  const firstMs = Date.parse(period.since);
  const count = Math.round((Date.parse(period.until) - firstMs) / DAY_MS);
  const days = Array.from({ length: count }, (_, i) => {
    const day = dayOf(firstMs + i * DAY_MS);
    const ofDay = played.filter(({ receipt }) => receipt.evaluated_at.startsWith(day));
    return { day, ...totalsOf(ofDay), reasons: reasonsOf(ofDay) };
  });
  return { ...period, totals: totalsOf(played), days };
};

const statsOf = (played: readonly Played[], period: Period): DecisionStats => {
  const principals = [...new Set(played.map(({ receipt }) => receipt.principal?.id ?? null))];
  return {
    ...period,
    rps: [...new Set(played.map(({ receipt }) => receipt.relying_party))],
    totals: { ...totalsOf(played), allow_with_outcome: 0 },
    principals: principals.map((principal) => {
      const own = played.filter(({ receipt }) => (receipt.principal?.id ?? null) === principal);
      const nothing = { outcomes: {}, losses: {}, allow_with_outcome: 0 };
      return { principal, ...totalsOf(own), reasons: reasonsOf(own), ...nothing };
    }),
  };
};

const totalsOf = (played: readonly Played[]) => {
  const allow = played.filter(({ receipt }) => receipt.decision === 'ALLOW').length;
  return { verifies: played.length, allow, deny: played.length - allow };
};

const reasonsOf = (played: readonly Played[]): Record<string, number> => {
  const reasons: Record<string, number> = {};
  for (const { reason } of played.map(({ receipt }) => receipt))
    if (reason !== null) reasons[reason] = (reasons[reason] ?? 0) + 1;
  return reasons;
};
