import type { Exclusive } from '@svc/service';
import { describe, expect, it } from 'vitest';
import { type Job, pauseMsAfter, type Round, runRound, startMaintenance } from './loop.ts';

/** A lock with one holder at a time, which the test can make lost. */
const oneLock = () => {
  const held = new Map<string, AbortController>();
  return {
    lose: (name: string) => held.get(name)?.abort(LOST),
    async exclusive<T>(name: string, work: (lost: AbortSignal) => Promise<T>): Promise<Exclusive<T>> {
      if (held.has(name)) return { held: false };
      const lost = new AbortController();
      held.set(name, lost);
      try {
        return { held: true, value: await work(lost.signal) };
      } finally {
        held.delete(name);
      }
    },
  };
};

const LOST = new Error('the lock is lost');

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

const clock = { resync: async () => {} };
const atEase = { clock, holds: { list: () => [] } };

/** Runs until it is told to stop, then resolves with 1. */
const patientJob = (name: string): Job => ({
  name,
  everyMs: 1,
  run: async (stop) => {
    await aborted(stop);
    return { stopped: 1 };
  },
});

describe('a round of a job', () => {
  it('runs on one node at a time', async () => {
    const store = oneLock();
    const stop = new AbortController();
    const first = runRound({ store, ...atEase }, patientJob('a'), stop.signal);
    expect(await runRound({ store, ...atEase }, patientJob('a'), stop.signal)).toEqual({
      job: 'a',
      outcome: 'elsewhere',
    });
    stop.abort();
    expect(await first).toMatchObject({ job: 'a', outcome: 'done', result: { stopped: 1 } });
  });

  it('waits for all holds except those under which its job may run', async () => {
    const round = async (isSettling: boolean, job: Partial<Job>) => {
      const holds = { list: () => [{ name: 'fence', reason: 'why', isSettling } as const] };
      const run = async () => ({});
      const { signal } = new AbortController();
      return (
        await runRound({ store: oneLock(), clock, holds }, { name: 'a', everyMs: 1, run, ...job }, signal)
      ).outcome;
    };
    expect(await round(true, {})).toBe('held');
    expect(await round(true, { evenSettling: true })).toBe('done');
    expect(await round(false, { evenSettling: true })).toBe('held');
    expect(await round(false, { evenHeld: true })).toBe('done');
  });

  it('is aborted when its lock is lost, and then counts as failed, whatever it resolves with', async () => {
    const store = oneLock();
    const { run, ...job } = patientJob('a');
    // The lock is lost once the round has begun.
    const round = runRound(
      { store, ...atEase },
      {
        ...job,
        run: (stop) => {
          const done = run(stop);
          store.lose('job:a');
          return done;
        },
      },
      new AbortController().signal,
    );
    expect(await round).toMatchObject({ outcome: 'failed', error: LOST });
  });

  it('reports a failure instead of throwing it', async () => {
    const error = new Error('no');
    const job: Job = { name: 'a', everyMs: 1, run: () => Promise.reject(error) };
    const round = await runRound({ store: oneLock(), ...atEase }, job, new AbortController().signal);
    expect(round).toMatchObject({ job: 'a', outcome: 'failed', error });
  });
});

describe('while decisions are held', () => {
  const hold = { name: 'clock', reason: 'it jumped' } as const;
  const held = { store: oneLock(), clock, holds: { list: () => [hold] } };
  const countingJob = (evenHeld: boolean) => {
    const job = { name: 'a', everyMs: 1, evenHeld, rounds: 0, run: async () => ({ rounds: ++job.rounds }) };
    return job;
  };

  it('a job does not run, and its round names the holds', async () => {
    const job = countingJob(false);
    const round = await runRound(held, job, new AbortController().signal);
    expect(round).toEqual({ job: 'a', outcome: 'held', holds: [hold] });
    expect(job.rounds).toBe(0);
  });

  it('a job that may run under holds (evenHeld) runs', async () => {
    const round = await runRound(held, countingJob(true), new AbortController().signal);
    expect(round).toMatchObject({ outcome: 'done', result: { rounds: 1 } });
  });
});

it('after a round that failed, was held or left work, the next one follows within 15 s, else when the job is due', () => {
  const hourly = { everyMs: 3_600_000 };
  const done = (result: Record<string, number>) =>
    pauseMsAfter({ job: 'a', outcome: 'done', durationMs: 1, result }, hourly);
  expect([done({ removed: 3 }), done({ removed: 3, left: 0 }), done({ removed: 3, left: 1 })]).toEqual([
    3_600_000, 3_600_000, 15_000,
  ]);
  expect(pauseMsAfter({ job: 'a', outcome: 'elsewhere' }, hourly)).toBe(3_600_000);
  expect(pauseMsAfter({ job: 'a', outcome: 'failed', durationMs: 1, error: null }, hourly)).toBe(15_000);
  expect(pauseMsAfter({ job: 'a', outcome: 'held', holds: [] }, hourly)).toBe(15_000);
  expect(pauseMsAfter({ job: 'a', outcome: 'held', holds: [] }, { everyMs: 1 })).toBe(1);
});

describe('maintenance', () => {
  it('continues after a failed round, and jobs do not wait for each other', async () => {
    let rounds = 0;
    let enough = () => {};
    const isEnough = new Promise<void>((resolve) => {
      enough = resolve;
    });
    const failing: Job = {
      name: 'failing',
      everyMs: 1,
      run: async () => {
        rounds += 1;
        if (rounds === 3) enough();
        throw new Error('no');
      },
    };
    const reported: Round[] = [];
    const maintenance = startMaintenance(
      { store: oneLock(), ...atEase, report: (round) => void reported.push(round) },
      [patientJob('patient'), failing],
    );
    await isEnough;
    await maintenance.stop();
    expect(reported.filter(({ job }) => job === 'failing').length).toBeGreaterThanOrEqual(3);
    expect(reported).toContainEqual(
      expect.objectContaining({ job: 'patient', outcome: 'done', result: { stopped: 1 } }),
    );
  });

  it('starts no round after it was stopped', async () => {
    let rounds = 0;
    const job: Job = {
      name: 'a',
      everyMs: 1,
      run: async () => {
        rounds += 1;
        return {};
      },
    };
    const maintenance = startMaintenance({ store: oneLock(), ...atEase, report: () => {} }, [job]);
    await maintenance.stop();
    const atStop = rounds;
    await new Promise((resolve) => setImmediate(resolve));
    expect(rounds).toBe(atStop);
  });
});
