/** The view that is shown, taken from the address: `#view=grants`. The browser's Back therefore goes back one view. */
import { useEffect, useState } from 'preact/hooks';
import type { Session } from './session.ts';

export interface View {
  readonly id: 'decisions' | 'grants' | 'agents' | 'parties' | 'members' | 'events';
  readonly name: string;
}

const DECISIONS: View = { id: 'decisions', name: 'Decisions' };
const EVENTS: View = { id: 'events', name: 'Events' };

/** The views that a key opens. */
export const viewsOf = ({ role, own }: Pick<Session, 'role' | 'own'>): readonly View[] => {
  if (own === null) return [DECISIONS];
  if (role === 'principal')
    return [
      DECISIONS,
      { id: 'grants', name: 'Grants' },
      { id: 'agents', name: 'Agents' },
      { id: 'parties', name: 'Relying parties' },
      EVENTS,
    ];
  return role === 'rp' ? [DECISIONS, EVENTS] : [DECISIONS, { id: 'members', name: 'Members' }, EVENTS];
};

const read = (): URLSearchParams => new URLSearchParams(location.hash.slice(1));

export const addressOf = (view: View['id'], more: Readonly<Record<string, string>> = {}): string =>
  `#${new URLSearchParams({ view, ...more })}`;

export const usePlace = (): URLSearchParams => {
  const [place, setPlace] = useState(read);
  useEffect(() => {
    const follow = () => setPlace(read());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return place;
};
