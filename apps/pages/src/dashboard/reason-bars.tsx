/** Why requests were denied in the period: one bar for each reason, the most frequent first. */
import { REASON_TEXTS, type ReasonCode } from '@svc/protocol';
import type { Usage } from '../shared/wire.ts';
import { share } from './figures.tsx';

export const ReasonBars = ({ days }: { readonly days: Usage['days'] }) => {
  const reasons = sumReasons(days);
  const total = reasons.reduce((sum, [, count]) => sum + count, 0);
  return (
    <section class="card" aria-labelledby="reasons">
      <div class="card-head">
        <h2 id="reasons">Why denied</h2>
        <p>{total.toLocaleString('en')} DENY</p>
      </div>
      {reasons.length === 0 ? (
        <p class="soft">Nothing was denied.</p>
      ) : (
        <ul class="bars">
          {reasons.map(([reason, count]) => (
            <li key={reason}>
              <p class="bar-label">
                <code title={REASON_TEXTS[reason as ReasonCode]}>{reason}</code>
                <span>
                  {count.toLocaleString('en')} <span class="soft">{share(count, total)}</span>
                </span>
              </p>
              <div class="bar" aria-hidden="true">
                <i class="bar-bad" style={{ width: `${(100 * count) / total}%` }} />
              </div>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
};

const sumReasons = (days: Usage['days']): [string, number][] => {
  const sums = new Map<string, number>();
  for (const { reasons } of days)
    for (const [reason, count] of Object.entries(reasons)) sums.set(reason, (sums.get(reason) ?? 0) + count);
  return [...sums].sort(([, left], [, right]) => right - left);
};
