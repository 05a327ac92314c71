import type { Pauses } from './pauses.ts';
import type { PeriodDays } from './period.ts';
import type { Own } from './session.ts';

/** The properties of each view. */
export interface ViewProps {
  readonly own: Own;
  readonly pauses: Pauses;
  readonly days: PeriodDays;
}
