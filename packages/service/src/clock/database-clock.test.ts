import { afterEach, describe, expect, it, vi } from 'vitest';
import { Holds } from '../lib/holds.ts';
import type { ClockMark } from '../ports/clock.ts';
import { StoreError } from '../ports/store.ts';
import { DatabaseClock } from './database-clock.ts';

const DATABASE_MS = Date.parse('2026-11-20T10:00:00.000Z');
const HOUR = 3_600_000;
const log = { info: () => {}, warn: () => {}, error: () => {} };

/** A database whose clock runs with the fake timers, and can be stepped. */
const createDatabase = () => {
  const database = {
    offsetMs: 0,
    isUp: true,
    wayBackMs: 0,
    mark: null as ClockMark | null,
    nowMs: () => Date.now() + database.offsetMs,
    clock: {
      read: async () => {
        if (!database.isUp) throw new StoreError('unavailable', 'down');
        const databaseMs = database.nowMs();
        vi.advanceTimersByTime(database.wayBackMs);
        return { databaseMs, mark: database.mark };
      },
      advanceMark: async (atMs: number) => {
        if (atMs > (database.mark?.atMs ?? 0)) database.mark = { atMs, resets: database.mark?.resets ?? 0 };
      },
    },
  };
  return database;
};

const started: DatabaseClock[] = [];
const start = async (database = createDatabase()) => {
  const holds = new Holds(log);
  const clock = await DatabaseClock.start({ store: { clock: database.clock }, holds, log });
  started.push(clock);
  return { database, clock, holds, heldFor: () => holds.list().map(({ name }) => name) };
};

const fakeTime = () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] });
  vi.setSystemTime(DATABASE_MS);
};

afterEach(() => {
  for (const clock of started.splice(0)) clock.stop();
  vi.useRealTimers();
});

describe("a process's time", () => {
  it("is the database's time, whatever the node's wall clock says", async () => {
    fakeTime();
    const { clock, heldFor, database } = await start();
    database.offsetMs = -HOUR;
    vi.setSystemTime(DATABASE_MS + HOUR);
    await clock.resync();
    expect([clock.nowMs(), heldFor()]).toEqual([DATABASE_MS, []]);
  });

  it('advances between readings, and never counts the transit of the answer as passed time', async () => {
    fakeTime();
    const database = createDatabase();
    database.wayBackMs = 40;
    const { clock } = await start(database);
    expect(clock.nowMs()).toBe(database.nowMs() - 40);
    vi.advanceTimersByTime(250);
    expect(clock.nowMs()).toBe(database.nowMs() - 40);
  });

  it('is never ahead of the database, and slow answers, first or later, set it back by at most 22 ms', async () => {
    fakeTime();
    const database = createDatabase();
    database.wayBackMs = 900;
    const { read } = database.clock;
    // The first reading is slow, the second is quick.
    database.clock.read = async () => {
      const reading = await read();
      database.wayBackMs = 1;
      return reading;
    };
    const { clock } = await start(database);
    expect(database.nowMs() - clock.nowMs()).toBeLessThanOrEqual(1);
    for (const slowMs of [1_000, 1_400, 20]) {
      database.wayBackMs = slowMs;
      await vi.advanceTimersByTimeAsync(5_000);
      const behindMs = database.nowMs() - clock.nowMs();
      expect(behindMs).toBeGreaterThanOrEqual(0);
      expect(behindMs).toBeLessThanOrEqual(22);
    }
  });

  it('is taken from the first reading if the further ones, for precision, fail', async () => {
    fakeTime();
    const database = createDatabase();
    database.wayBackMs = 40;
    const { read } = database.clock;
    database.clock.read = async () => {
      const reading = await read();
      database.isUp = false;
      return reading;
    };
    const { clock, heldFor } = await start(database);
    expect([clock.nowMs(), heldFor()]).toEqual([database.nowMs() - 40, []]);
  });

  it('is never ahead of a database whose clock is slower than the node’s by 500 ppm', async () => {
    fakeTime();
    const { clock, database } = await start();
    for (let i = 0; i < 100; i++) {
      database.wayBackMs = i % 3 === 0 ? 700 : 2;
      database.offsetMs -= 2.5;
      await vi.advanceTimersByTimeAsync(5_000);
      expect(clock.nowMs()).toBeLessThanOrEqual(database.nowMs());
    }
  });

  it('is set to a requested reading (resync) without a correction', async () => {
    fakeTime();
    const { clock, database } = await start();
    database.wayBackMs = 500;
    database.offsetMs = -200;
    await clock.resync();
    expect(clock.nowMs()).toBe(database.nowMs() - 500);
  });

  it('follows the database if that is set back by 900 ms', async () => {
    fakeTime();
    const { clock, database, heldFor } = await start();
    database.offsetMs = -900;
    await clock.resync();
    expect([clock.nowMs(), heldFor()]).toEqual([DATABASE_MS - 900, []]);
  });

  it('continues from the last reading while the database does not answer', async () => {
    fakeTime();
    const { clock, database } = await start();
    database.isUp = false;
    await clock.resync();
    vi.advanceTimersByTime(1_000);
    expect(clock.nowMs()).toBe(DATABASE_MS + 1_000);
  });

  it('is not taken from an answer that took 3 s', async () => {
    fakeTime();
    const { clock, database, heldFor } = await start();
    database.wayBackMs = 3_000;
    await clock.resync();
    expect([clock.nowMs(), heldFor()]).toEqual([DATABASE_MS + 3_000, []]);
  });
});

describe("a step of the database's clock", () => {
  it.each([26 * HOUR, 30_000, -30_000, -300_000])(
    'by %d ms is not followed: decisions are held within 5.1 s, and continue once it is undone',
    async (stepMs) => {
      fakeTime();
      const { clock, database, heldFor } = await start();
      database.offsetMs = stepMs;
      await vi.advanceTimersByTimeAsync(5_100);
      expect([clock.nowMs(), heldFor()]).toEqual([DATABASE_MS + 5_100, ['clock']]);
      database.offsetMs = 0;
      await vi.advanceTimersByTimeAsync(1_100);
      expect([clock.nowMs(), heldFor()]).toEqual([DATABASE_MS + 6_200, []]);
    },
  );

  it('is not shared with other processes: the mark keeps the accepted time', async () => {
    fakeTime();
    const { database } = await start();
    await vi.advanceTimersByTimeAsync(5_100);
    expect(database.mark?.atMs).toBe(DATABASE_MS + 5_000);
    database.offsetMs = 26 * HOUR;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(database.mark?.atMs).toBe(DATABASE_MS + 5_000);
  });

  it('before the start of the process holds decisions from the start until it is undone', async () => {
    fakeTime();
    const database = createDatabase();
    database.offsetMs = 26 * HOUR;
    const { heldFor, database: stepped } = await start(database);
    expect(heldFor()).toEqual(['clock']);
    stepped.offsetMs = 0;
    await vi.advanceTimersByTimeAsync(1_100);
    expect(heldFor()).toEqual([]);
  });
});
