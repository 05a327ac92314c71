/** Everything that one key may see: who it is, the figures of a period, and the latest decisions. */
import { useEffect, useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';
import type { DecisionStats, Usage } from '../shared/wire.ts';
import { Decisions } from './decisions.tsx';
import { Empty } from './empty.tsx';
import { Figures } from './figures.tsx';
import { PERIODS, type PeriodDays, periodOf } from './period.ts';
import { PrincipalBars } from './principal-bars.tsx';
import { ReasonBars } from './reason-bars.tsx';
import type { Session } from './session.ts';
import { UsageChart } from './usage-chart.tsx';

export const Overview = ({
  session,
  onForget,
}: {
  readonly session: Session;
  readonly onForget: () => void;
}) => {
  const [days, setDays] = useState<PeriodDays>(30);
  const counts = useCounts(session, days);
  const { role, source } = session;
  const isEmpty = counts.usage?.totals.verifies === 0;
  return (
    <>
      <Identity session={session} days={days} onDays={setDays} onForget={onForget} />
      {counts.problem !== null && (
        <p class="note note-bad" role="alert">
          {counts.problem}
        </p>
      )}
      {counts.usage === null && counts.problem === null && (
        <p class="soft" role="status">
          Loading …
        </p>
      )}
      {isEmpty && <Empty role={role} days={days} />}
      {counts.usage !== null && !isEmpty && (
        <>
          <Figures usage={counts.usage} stats={counts.stats} />
          <UsageChart days={counts.usage.days} />
          <div class="columns">
            <ReasonBars days={counts.usage.days} />
            {role !== 'principal' && counts.stats !== null && <PrincipalBars stats={counts.stats} />}
          </div>
        </>
      )}
      {source.decisions === null ? (
        <p class="note">An observer key reads counts, not single decisions.</p>
      ) : (
        !isEmpty && <Decisions from={source.decisions} days={days} />
      )}
    </>
  );
};

const Identity = ({
  session: { title, subject, about, role },
  days,
  onDays,
  onForget,
}: {
  readonly session: Session;
  readonly days: PeriodDays;
  readonly onDays: (days: PeriodDays) => void;
  readonly onForget: () => void;
}) => (
  <section class="card identity" aria-label="Whose decisions">
    <div>
      <h2>{title}</h2>
      <p class="soft">
        <code>{subject}</code> · {about}
      </p>
    </div>
    <div class="row">
      <fieldset class="periods">
        <legend class="unseen">Period</legend>
        {PERIODS.map((one) => (
          <label key={one}>
            <input
              type="radio"
              class="unseen"
              name="period"
              checked={one === days}
              onChange={() => onDays(one)}
            />
            <span>{one} days</span>
          </label>
        ))}
      </fieldset>
      <button type="button" class="button" onClick={onForget}>
        {role === 'playground' ? 'Close' : 'Forget the key'}
      </button>
    </div>
  </section>
);

interface Counts {
  readonly usage: Usage | null;
  readonly stats: DecisionStats | null;
  readonly problem: string | null;
}

/** What was shown stays until the next answer is there. */
const useCounts = ({ source }: Session, days: PeriodDays): Counts => {
  const [counts, setCounts] = useState<Counts>({ usage: null, stats: null, problem: null });
  useEffect(() => {
    let isCurrent = true;
    const period = periodOf(days, Date.now());
    const load = async () => {
      const [usage, stats] = await Promise.all([source.usage(period), source.stats?.(period) ?? null]);
      return { usage, stats, problem: null };
    };
    load().then(
      (loaded) => isCurrent && setCounts(loaded),
      (error) => isCurrent && setCounts((shown) => ({ ...shown, problem: problemText(error) })),
    );
    return () => {
      isCurrent = false;
    };
  }, [source, days]);
  return counts;
};
