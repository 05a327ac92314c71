/** The activity of the chosen period by Agent, Grant or relying party. */

import { type Loaded, useLoaded } from '../../shared/use-loaded.ts';
import type { Activity, ActivityGroup } from '../../shared/wire.ts';
import { type PeriodDays, periodOf } from '../period.ts';
import type { Own } from '../session.ts';

export interface Acted extends Loaded<Activity> {
  readonly of: (subject: string) => ActivityGroup | undefined;
  /** The largest count in the list; bars are drawn relative to it. */
  readonly most: number;
}

export const useActivity = ({ call, me }: Own, by: Activity['by'], days: PeriodDays): Acted => {
  const path = `principals/${encodeURIComponent(me.subject)}/decisions/activity`;
  const loaded = useLoaded(
    () => call<Activity>(path, { query: { ...periodOf(days, Date.now()), by } }),
    [call, by, days],
  );
  const groups = loaded.value?.groups ?? [];
  return {
    ...loaded,
    of: (subject) => groups.find((group) => group.subject === subject),
    most: Math.max(1, ...groups.map(({ verifies }) => verifies)),
  };
};
