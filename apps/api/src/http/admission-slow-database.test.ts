/** Simulates admission with a slow database: one that lacks processor time, and one with a slow disk. */
import type { Tenant } from '@svc/service';
import { numbers } from '@svc/testkit/numbers';
import { sampleOf } from '@svc/testkit/sampled';
import { describe, expect, it } from 'vitest';
import { Admission, type Leaving } from './admission.ts';

const ONE: Tenant = { crowd: 'tenants', org: 'one', subject: 'one' };

/**
 * Two nodes of one org on a database with a tenth of a processor: 2 ms of every 20, shared by all work under way, and
 * blocked by other work for up to 100 ms every two seconds. A node reads for all requests that have come in, then
 * commits them together; two groups of reads and two of commits run at once. Returns the time of each refusal, in
 * seconds, and the number of requests that were answered 200.
 */
describe('Admission with a database with a tenth of a processor', () => {
  type Leave = (nowMs: number, leaving?: Leaving) => void;
  interface Waiting {
    readonly atMs: number;
    readonly leave: Leave;
  }
  interface Job {
    leftMs: number;
    readonly done: (nowMs: number) => void;
  }
  const AT_ONCE = 2;

  class Line {
    readonly waiting: Waiting[] = [];
    #atOnce = 0;

    constructor(
      readonly costMs: (count: number) => number,
      readonly done: (one: Waiting, nowMs: number) => void,
    ) {}

    /** Refuses requests that have waited 400 ms. */
    takeOverdue(nowMs: number): Waiting[] {
      const isOverdue = ({ atMs }: Waiting) => nowMs - atMs > 400;
      const count = this.waiting.findIndex((one) => !isOverdue(one));
      return this.waiting.splice(0, count === -1 ? this.waiting.length : count);
    }

    begin(jobs: Job[]): void {
      while (this.#atOnce < AT_ONCE && this.waiting.length > 0) {
        const batch = this.waiting.splice(0, 64);
        this.#atOnce += 1;
        const done = (nowMs: number) => {
          this.#atOnce -= 1;
          for (const one of batch) this.done(one, nowMs);
        };
        jobs.push({ leftMs: this.costMs(batch.length), done });
      }
    }
  }

  const serve = (
    seed: number,
    phases: readonly { readonly seconds: number; readonly perSecond: number }[],
  ) => {
    const random = numbers(seed);
    const jobs: Job[] = [];
    const missedAtSeconds: number[] = [];
    let answered = 0;
    const nodes = [1, 2].map(() => {
      const commits = new Line(
        (count) => 1 + 0.1 * count,
        ({ leave }, nowMs) => {
          leave(nowMs);
          answered += 1;
        },
      );
      const reads = new Line(
        (count) => 0.4 + 0.03 * count,
        (one, nowMs) => commits.waiting.push({ ...one, atMs: nowMs }),
      );
      return { admission: new Admission(), lines: [reads, commits] as const };
    });
    let shareMs = 0;
    const work = (nowMs: number) => {
      if (nowMs % 20 === 0) shareMs = 2 * (0.7 + 0.6 * random());
      if (nowMs % 2_000 === 0) jobs.push({ leftMs: 40 + 60 * random(), done: () => {} });
      let leftMs = Math.min(1, shareMs);
      shareMs -= leftMs;
      while (leftMs > 1e-9 && jobs.length > 0) {
        const eachMs = leftMs / jobs.length;
        for (const job of [...jobs]) {
          const tookMs = Math.min(eachMs, job.leftMs);
          job.leftMs -= tookMs;
          leftMs -= tookMs;
          if (job.leftMs > 1e-9) continue;
          jobs.splice(jobs.indexOf(job), 1);
          job.done(nowMs);
        }
      }
    };
    let nowMs = 0;
    for (const { seconds, perSecond } of phases) {
      const endsAtMs = nowMs + seconds * 1_000;
      for (let due = 0; nowMs < endsAtMs; nowMs++) {
        for (due += (perSecond / 1_000) * 2 * random(); due >= 1; due--) {
          const { admission, lines } = nodes[random() < 0.5 ? 0 : 1] as (typeof nodes)[0];
          try {
            lines[0].waiting.push({ atMs: nowMs, leave: admission.enter(ONE, nowMs) });
          } catch {
            missedAtSeconds.push(nowMs / 1_000);
          }
        }
        work(nowMs);
        for (const { lines } of nodes)
          for (const line of lines) {
            for (const { leave } of line.takeOverdue(nowMs)) {
              missedAtSeconds.push(nowMs / 1_000);
              leave(nowMs, { decisions: 0, isSample: true, hasStored: false, receivedAtMs: 0 });
            }
            line.begin(jobs);
          }
      }
    }
    return { missedAtSeconds, answered };
  };

  /** Answers a second that 48 clients get, each of which sends its next request when it has its answer. */
  const CARRIED = 175;

  it.each(
    sampleOf(
      Array.from({ length: 40 }, (_, index) => index + 1),
      3,
    ),
  )(
    'answers all requests at half of the capacity from two seconds after a threefold overload (seed %i)',
    (seed) => {
      const { missedAtSeconds, answered } = serve(seed, [
        { seconds: 60, perSecond: 3 * CARRIED },
        { seconds: 20, perSecond: CARRIED / 2 },
      ]);
      expect(answered).toBeGreaterThan(60 * CARRIED * 0.8 + 20 * CARRIED * 0.4);
      expect(missedAtSeconds.filter((second) => second >= 62)).toEqual([]);
    },
  );
});

/**
 * Answers that take 450 ms on a slow disk without a queue; in addition one caller makes a request a second that takes
 * 10 ms.
 */
const besideQuickOnes = (quick: Pick<Leaving, 'hasStored'>) => {
  const admission = new Admission();
  const leaving: (() => void)[][] = [];
  let refused = 0;
  for (let nowMs = 0; nowMs < 60_000; nowMs += 10) {
    for (const leave of leaving[nowMs] ?? []) leave();
    const enter = (org: string, tookMs: number, more: Partial<Leaving>) => {
      try {
        const leave = admission.enter({ crowd: 'tenants', org, subject: org }, nowMs);
        const atMs = nowMs + tookMs;
        leaving[atMs] ??= [];
        leaving[atMs].push(() =>
          leave(atMs, { decisions: 1, isSample: true, hasStored: true, receivedAtMs: 0, ...more }),
        );
      } catch {
        refused += 1;
      }
    };
    enter(`org${nowMs % 70}`, 450, {});
    if (nowMs % 1_000 === 0) enter('hostile', 10, quick);
  }
  return refused;
};

it('Admission is not affected by quick calls that store nothing: slow decisions of others are not refused', () => {
  expect(besideQuickOnes({ hasStored: false })).toBe(0);
  // It would be, if the quick request were taken for a decision.
  expect(besideQuickOnes({ hasStored: true })).toBeGreaterThan(1_000);
});
