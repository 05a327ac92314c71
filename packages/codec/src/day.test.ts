import { expect, it } from 'vitest';
import { DAY_MS, dayOf, dayStartMs } from './day.ts';

it('dayOf gives the same day from dayStartMs until the next day starts, also before 1970', () => {
  for (const day of ['2026-11-28', '1970-01-01', '1969-12-31', '2024-02-29']) {
    const startMs = dayStartMs(day);
    expect([dayOf(startMs), dayOf(startMs + DAY_MS - 1)]).toEqual([day, day]);
    expect([dayOf(startMs - 1), dayOf(startMs + DAY_MS)]).not.toContain(day);
  }
});
