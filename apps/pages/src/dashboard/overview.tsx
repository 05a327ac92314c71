/** Everything that one key may see and do: its subject, whether that is paused, and its views. */
import type { Ref } from 'preact';
import { useState } from 'preact/hooks';
import { DecisionsView } from './decisions-view.tsx';
import { Identity } from './identity.tsx';
import { LazyView } from './lazy-view.tsx';
import { usePauses } from './pauses.ts';
import type { PeriodDays } from './period.ts';
import { addressOf, usePlace, type View, viewsOf } from './place.ts';
import type { Session } from './session.ts';
import { Waiting } from './waiting.tsx';
import './views.css';

export const Overview = ({
  session,
  landing,
  onLeave,
}: {
  readonly session: Session;
  /** The heading. */
  readonly landing: Ref<HTMLHeadingElement>;
  readonly onLeave: () => void;
}) => {
  const [days, setDays] = useState<PeriodDays>(30);
  const place = usePlace();
  const pauses = usePauses(session.own);
  const views = viewsOf(session);
  const shown = views.find(({ id }) => id === place.get('view')) ?? views[0];
  return (
    <>
      <Identity {...{ session, landing, pauses, days, onLeave }} onDays={setDays} />
      {session.own?.me.role === 'principal' && <Waiting own={session.own} />}
      {views.length > 1 && <Tabs views={views} shown={shown} />}
      {session.own === null || shown === undefined || shown.id === 'decisions' ? (
        <DecisionsView session={session} days={days} place={place} />
      ) : (
        <LazyView key={shown.id} id={shown.id} own={session.own} pauses={pauses} days={days} />
      )}
    </>
  );
};

const Tabs = ({ views, shown }: { readonly views: readonly View[]; readonly shown: View | undefined }) => (
  <nav class="views" aria-label="Views">
    <ul>
      {views.map((view) => (
        <li key={view.id}>
          <a href={addressOf(view.id)} {...(view === shown && { 'aria-current': 'page' as const })}>
            {view.name}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);
