/** The four numbers of the period. */
import type { DecisionStats, Usage } from '../shared/wire.ts';

export const Figures = ({
  usage: { totals },
  stats,
}: {
  readonly usage: Usage;
  readonly stats: DecisionStats | null;
}) => (
  <dl class="figures">
    <Figure name="Verifies" count={totals.verifies} />
    <Figure name="ALLOW" count={totals.allow} of={totals.verifies} tone="good" />
    <Figure name="DENY" count={totals.deny} of={totals.verifies} tone="bad" />
    {stats !== null && (
      <Figure name="ALLOW with an outcome" count={stats.totals.allow_with_outcome} of={totals.allow} />
    )}
  </dl>
);

const Figure = ({
  name,
  count,
  of,
  tone,
}: {
  readonly name: string;
  readonly count: number;
  readonly of?: number;
  readonly tone?: 'good' | 'bad';
}) => (
  <div class={`figure ${tone === undefined ? '' : `figure-${tone}`}`}>
    <dt>{name}</dt>
    <dd>
      {count.toLocaleString('en')}
      {of !== undefined && of > 0 && <span class="figure-share"> {share(count, of)}</span>}
    </dd>
  </div>
);

/** Never shows 0 % for a count above zero, nor 100 % for less than all. */
export const share = (count: number, of: number): string => {
  const percent = (100 * count) / of;
  if (count > 0 && percent < 0.1) return '< 0.1 %';
  if (count < of && percent > 99.9) return '> 99.9 %';
  return `${Number(percent.toFixed(1))} %`;
};
