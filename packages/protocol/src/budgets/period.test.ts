import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PERIODS, periodStartMs } from './period.ts';

const instants = fc.integer({
  min: Date.parse('0001-01-08T00:00:00Z'),
  max: Date.parse('9999-11-30T00:00:00Z'),
});
const periods = fc.constantFrom(...PERIODS);
const start = (period: (typeof PERIODS)[number], instant: string) =>
  new Date(periodStartMs(period, Date.parse(instant))).toISOString();

/** Start of the window after the one that begins at `ms`, computed with the calendar. */
const nextStart = (period: (typeof PERIODS)[number], ms: number): number => {
  const date = new Date(ms);
  if (period === 'hour') return date.setUTCHours(date.getUTCHours() + 1);
  if (period === 'month') return date.setUTCMonth(date.getUTCMonth() + 1);
  return date.setUTCDate(date.getUTCDate() + (period === 'day' ? 1 : 7));
};

describe('the period of a budget', () => {
  it('contains the instant that it is computed for, and the next one begins where it ends', () => {
    fc.assert(
      fc.property(periods, instants, (period, nowMs) => {
        const startMs = periodStartMs(period, nowMs);
        const endMs = nextStart(period, startMs);
        expect(startMs <= nowMs && nowMs < endMs).toBe(true);
        for (const within of [startMs, endMs - 1]) expect(periodStartMs(period, within)).toBe(startMs);
        expect(periodStartMs(period, endMs)).toBe(endMs);
      }),
      { numRuns: sampled({ quick: 300, deep: 2_000 }) },
    );
  });

  it('begins at a full hour, a day at midnight UTC, a week on Monday, and a month on the first', () => {
    fc.assert(
      fc.property(instants, (nowMs) => {
        const [hour, day, week, month] = PERIODS.map((period) => new Date(periodStartMs(period, nowMs)));
        expect(hour?.toISOString()).toMatch(/:00:00\.000Z$/);
        for (const date of [day, week, month]) expect(date?.toISOString()).toMatch(/T00:00:00\.000Z$/);
        expect(week?.getUTCDay()).toBe(1);
        expect(month?.getUTCDate()).toBe(1);
      }),
    );
  });

  it.each([
    ['hour', '2026-11-20T10:59:59.999Z', '2026-11-20T10:00:00.000Z'],
    ['day', '2028-02-29T23:59:59.999Z', '2028-02-29T00:00:00.000Z'],
    ['week', '2027-01-03T23:59:59.999Z', '2026-12-28T00:00:00.000Z'],
    ['week', '1969-12-31T00:00:00.000Z', '1969-12-29T00:00:00.000Z'],
    ['month', '2028-02-29T00:00:00.000Z', '2028-02-01T00:00:00.000Z'],
    ['month', '0099-05-31T12:00:00.000Z', '0099-05-01T00:00:00.000Z'],
  ] as const)('of a %s around %s begins at %s', (period, instant, expected) => {
    expect(start(period, instant)).toBe(expected);
  });
});
