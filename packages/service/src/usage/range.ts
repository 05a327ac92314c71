/** The period of a count (interface §Limits, Usage range): half-open, in milliseconds, at most 366 days long. */
import { DAY_MS, dayOf } from '@svc/codec';
import { formatTimestamp } from '@svc/protocol';
import { invalidRequest } from '../errors.ts';
import type { Day } from '../ports/checkpoints.ts';

const MAX_RANGE_DAYS = 366;
const DEFAULT_DAYS_BACK = 29;

export interface Range {
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface RangeQuery {
  /** Milliseconds since the epoch. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** Fills in the defaults: from 29 days ago 00:00 UTC to tomorrow 00:00 UTC. */
export const parseRange = ({ since, until }: RangeQuery, nowMs: number): Range => {
  const todayMs = startOfDay(nowMs);
  const sinceMs = since ?? todayMs - DEFAULT_DAYS_BACK * DAY_MS;
  const untilMs = until ?? todayMs + DAY_MS;
  if (sinceMs >= untilMs)
    throw invalidRequest(
      `since: must be before until, which is ${formatTimestamp(untilMs)}, not ${formatTimestamp(sinceMs)}`,
    );
  if (untilMs - sinceMs > MAX_RANGE_DAYS * DAY_MS)
    throw invalidRequest(`until: must be at most ${MAX_RANGE_DAYS} days after since`);
  return { sinceMs, untilMs };
};

export const startOfDay = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;

/** Every UTC day that the period touches, ascending. */
export const daysOf = ({ sinceMs, untilMs }: Range): Day[] => {
  const days: Day[] = [];
  for (let ms = startOfDay(sinceMs); ms < untilMs; ms += DAY_MS) days.push(dayOf(ms));
  return days;
};
