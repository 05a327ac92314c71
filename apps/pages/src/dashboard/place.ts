/** What is shown, taken from the address: `#view=grants`. The browser's Back therefore goes back one view. */
import { useEffect, useMemo, useState } from 'preact/hooks';
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

/** What the address says, until the user chooses something else. Another address applies again. */
export const usePlaced = <T>(place: URLSearchParams, find: (place: URLSearchParams) => T) => {
  const placed = useMemo(() => find(place), [place]);
  const [chosen, setChosen] = useState<{ readonly place: URLSearchParams; readonly value: T } | null>(null);
  const choose = (value: T) => setChosen({ place, value });
  return [chosen?.place === place ? chosen.value : placed, choose] as const;
};

/** Removes one part of the address, without an entry in the history: entering it once more shows it again. */
export const leave = (name: string): void => {
  const place = read();
  if (!place.has(name)) return;
  place.delete(name);
  history.replaceState(null, '', `#${place}`);
};
