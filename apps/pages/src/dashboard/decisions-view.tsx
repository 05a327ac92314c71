/** The figures of a period, and the latest decisions. */
import { Problem } from '../shared/problem.tsx';
import { useLoaded } from '../shared/use-loaded.ts';
import type { DecisionStats, Usage } from '../shared/wire.ts';
import { Decisions } from './decisions.tsx';
import { Empty } from './empty.tsx';
import { Figures } from './figures.tsx';
import { OpenedDecision } from './opened-decision.tsx';
import { type PeriodDays, periodOf } from './period.ts';
import { leave, usePlaced } from './place.ts';
import { PrincipalBars } from './principal-bars.tsx';
import { ReasonBars } from './reason-bars.tsx';
import type { Session } from './session.ts';
import { UsageChart } from './usage-chart.tsx';

export interface DecisionsViewProps {
  readonly session: Session;
  readonly days: PeriodDays;
  /** The address: the filters that it sets, and the decision that it opens. */
  readonly place: URLSearchParams;
}

export const DecisionsView = ({ session, days, place }: DecisionsViewProps) => {
  const counts = useCounts(session, days);
  const [opened, setOpened] = usePlaced(place, decisionIn);
  const close = () => {
    setOpened(null);
    leave(DECISION);
  };
  const { role, source } = session;
  const isEmpty = counts.usage?.totals.verifies === 0;
  return (
    <>
      <Problem text={counts.problem} />
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
        <>
          {!isEmpty && <Decisions from={source.decisions} days={days} place={place} onOpen={setOpened} />}
          {opened !== null && (
            <OpenedDecision key={opened} from={source.decisions} receiptId={opened} onClose={close} />
          )}
        </>
      )}
    </>
  );
};

/** `#decision=drc_…`: a link to one decision. It works for anybody whose key may see that decision. */
const DECISION = 'decision';
const decisionIn = (place: URLSearchParams): string | null => place.get(DECISION);

interface Counts {
  readonly usage: Usage | null;
  readonly stats: DecisionStats | null;
  readonly problem: string | null;
}

const useCounts = ({ source }: Session, days: PeriodDays): Counts => {
  const { value, problem } = useLoaded(async () => {
    const period = periodOf(days, Date.now());
    const [usage, stats] = await Promise.all([source.usage(period), source.stats?.(period) ?? null]);
    return { usage, stats };
  }, [source, days]);
  return { usage: value?.usage ?? null, stats: value?.stats ?? null, problem };
};
