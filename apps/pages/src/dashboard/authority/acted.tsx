/**
 * Activity at a glance: counts of ALLOW and DENY, drawn against the busiest row, the amounts of money, and the reasons
 * of the denials.
 */
import { formatAmount } from '../../shared/describe.ts';
import type { Activity, ActivityGroup } from '../../shared/wire.ts';
import type { Acted } from './activity.ts';

export const ActedBar = ({
  acted: { value, problem, most },
  group,
}: {
  readonly acted: Acted;
  readonly group: ActivityGroup | undefined;
}) => {
  if (value === null) return <p class="soft">{problem === null ? 'Loading …' : 'Not known'}</p>;
  if (group === undefined) return <p class="soft">Nothing in this period</p>;
  const { allow, deny } = group;
  return (
    <>
      <p class="acted-counts">
        <span class="key-good">{allow.toLocaleString('en')} ALLOW</span>
        <span class="key-bad">{deny.toLocaleString('en')} DENY</span>
      </p>
      <div class="bar" aria-hidden="true">
        <i class="bar-good" style={{ width: `${(100 * allow) / most}%` }} />
        <i class="bar-bad" style={{ width: `${(100 * deny) / most}%` }} />
      </div>
    </>
  );
};

export const ActedFor = ({ group }: { readonly group: ActivityGroup | undefined }) => {
  if (group === undefined) return null;
  const amounts = Object.entries(group.allowed_amounts).map(([currency, sum]) => formatAmount(sum, currency));
  const [why] = Object.entries(group.reasons).sort(([, a], [, b]) => b - a);
  return (
    <>
      {amounts.length > 0 && <p>{amounts.join(' · ')}</p>}
      {why !== undefined && (
        <p class="soft">
          DENY mostly for <code>{why[0]}</code>
        </p>
      )}
    </>
  );
};

/** Shown where a period has more decisions than are counted. */
export const Incomplete = ({ activity }: { readonly activity: Activity | null }) =>
  activity === null || activity.complete ? null : (
    <p class="note note-warn">
      Counted are the newest {activity.counted.toLocaleString('en')} decisions; this period has more. The
      figures under Decisions count all.
    </p>
  );
