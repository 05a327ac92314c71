import { afterEach, describe, expect, it, vi } from 'vitest';
import { StoreError } from '../ports/store.ts';
import { DatabaseClock } from './database-clock.ts';

const DATABASE_MS = Date.parse('2026-11-20T10:00:00.000Z');
const log = { warn: () => {}, error: () => {} };

const started: DatabaseClock[] = [];
const start = async (now: () => Promise<number>) => {
  const clock = await DatabaseClock.start({ now }, log);
  started.push(clock);
  return clock;
};

afterEach(() => {
  for (const clock of started.splice(0)) clock.stop();
  vi.useRealTimers();
});

describe("a process's time", () => {
  it("is the database's, whatever the machine's wall clock says", async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance', 'setInterval'] });
    const clock = await start(async () => DATABASE_MS);
    vi.setSystemTime(DATABASE_MS + 3_600_000);
    expect(clock.nowMs()).toBe(DATABASE_MS);
  });

  it('goes on between readings, and never counts the way of the answer as passed time', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval'] });
    const clock = await start(async () => {
      const answeredMs = DATABASE_MS;
      vi.advanceTimersByTime(40);
      return answeredMs;
    });
    expect(clock.nowMs()).toBe(DATABASE_MS);
    vi.advanceTimersByTime(250);
    expect(clock.nowMs()).toBe(DATABASE_MS + 250);
  });

  it('follows the database when that was set back', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval'] });
    let databaseMs = DATABASE_MS;
    const clock = await start(async () => databaseMs);
    databaseMs -= 900;
    await clock.resync();
    expect(clock.nowMs()).toBe(DATABASE_MS - 900);
  });

  it('keeps the last reading while the database cannot be asked', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval'] });
    let isUp = true;
    const clock = await start(async () => {
      if (!isUp) throw new StoreError('unavailable', 'down');
      return DATABASE_MS;
    });
    isUp = false;
    await clock.resync();
    vi.advanceTimersByTime(1_000);
    expect(clock.nowMs()).toBe(DATABASE_MS + 1_000);
  });
});
