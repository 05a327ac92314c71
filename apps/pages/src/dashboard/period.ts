/** The period that is shown: whole UTC days, including today. */
import { DAY_MS, dayOf, dayStartMs } from '@svc/protocol';

export const PERIODS = [7, 30, 90] as const;
export type PeriodDays = (typeof PERIODS)[number];

/** Midnights in RFC 3339. `since` is included, `until` is not. */
export const periodOf = (days: PeriodDays, nowMs: number): { since: string; until: string } => {
  const tomorrowMs = Math.floor(nowMs / DAY_MS + 1) * DAY_MS;
  return { since: midnight(tomorrowMs - days * DAY_MS), until: midnight(tomorrowMs) };
};

const midnight = (ms: number): string => `${dayOf(ms)}T00:00:00Z`;

/** Unix time in seconds of the midnight at which a UTC day begins. */
export const dayStartSeconds = (day: string): number => dayStartMs(day) / 1000;

/** `2026-11-20` → `20 Nov`. */
export const shortDay = (day: string): string =>
  new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    dayStartSeconds(day) * 1000,
  );
