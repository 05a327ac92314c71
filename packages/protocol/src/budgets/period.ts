/**
 * The calendar windows of `maxPerPeriod`, in UTC (protocol §11). Every instant lies in exactly one window of a kind.
 */
import { DAY_MS } from '@svc/codec';

const HOUR_MS = 3_600_000;
/** 1970-01-01 was a Thursday. */
const EPOCH_DAYS_AFTER_MONDAY = 3;

/** The calendar windows that a budget can be counted by, in UTC. */
export const PERIODS = ['hour', 'day', 'week', 'month'] as const;
/** A calendar window in UTC; a week begins on Monday. */
export type Period = (typeof PERIODS)[number];

/** Whether a value names a calendar window. */
export const isPeriod = (value: unknown): value is Period => PERIODS.some((period) => period === value);

/** The first millisecond of the window that holds `nowMs`. A week begins on Monday. */
export const periodStartMs = (period: Period, nowMs: number): number => {
  switch (period) {
    case 'hour':
      return Math.floor(nowMs / HOUR_MS) * HOUR_MS;
    case 'day':
      return Math.floor(nowMs / DAY_MS) * DAY_MS;
    case 'week':
      return mondayOf(Math.floor(nowMs / DAY_MS)) * DAY_MS;
    case 'month':
      return firstOfMonthMs(nowMs);
  }
};

const mondayOf = (day: number): number =>
  Math.floor((day + EPOCH_DAYS_AFTER_MONDAY) / 7) * 7 - EPOCH_DAYS_AFTER_MONDAY;

/** The year is set on the date itself, because `Date.UTC` takes the years 0–99 for 1900–1999. */
const firstOfMonthMs = (nowMs: number): number => {
  const date = new Date(nowMs);
  date.setUTCDate(1);
  return date.setUTCHours(0, 0, 0, 0);
};
