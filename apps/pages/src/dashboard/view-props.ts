import type { Pauses } from './pauses.ts';
import type { PeriodDays } from './period.ts';
import type { Own } from './session.ts';

/** What each view is given. */
export interface ViewProps {
  readonly own: Own;
  readonly pauses: Pauses;
  readonly days: PeriodDays;
}
