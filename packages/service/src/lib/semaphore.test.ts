import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Semaphore } from './semaphore.ts';

const full = () => new Error('full');

describe('a semaphore', () => {
  it('runs at most the given number of calls at once, in order of arrival, whether they succeed or fail', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.boolean(), { maxLength: 20 }),
        fc.scheduler(),
        async (atOnce, fates, scheduler) => {
          const semaphore = new Semaphore({ atOnce, maxWaiting: 20, full });
          const begun: number[] = [];
          let inside = 0;
          let most = 0;
          const works = fates.map((fails, i) =>
            semaphore.run(async () => {
              begun.push(i);
              most = Math.max(most, ++inside);
              await scheduler.schedule(Promise.resolve());
              inside--;
              if (fails) throw new Error('failed');
              return i;
            }),
          );
          const settled = Promise.allSettled(works);
          await scheduler.waitFor(settled);
          expect((await settled).map(({ status }) => status === 'rejected')).toEqual(fates);
          expect(begun).toEqual(fates.map((_, i) => i));
          expect(most).toBeLessThanOrEqual(atOnce);
        },
      ),
    );
  });

  it('refuses work that finds the queue full, and accepts more once there is room', async () => {
    const semaphore = new Semaphore({ atOnce: 1, maxWaiting: 1, full });
    let finish = () => {};
    const first = semaphore.run(() => new Promise<void>((resolve) => (finish = resolve)));
    const second = semaphore.run(async () => 'second');
    await expect(semaphore.run(async () => 'third')).rejects.toThrow('full');
    finish();
    await first;
    expect(await second).toBe('second');
    expect(await semaphore.run(async () => 'fourth')).toBe('fourth');
  });

  it('frees the place of an aborted wait and of failed work', async () => {
    const semaphore = new Semaphore({ atOnce: 1, maxWaiting: 1, full });
    let fail = (_: Error) => {};
    const first = semaphore.run(() => new Promise<never>((_, reject) => (fail = reject)));
    const controller = new AbortController();
    const second = semaphore.run(async () => 'second', controller.signal);
    controller.abort(new Error('too late'));
    await expect(second).rejects.toThrow('too late');
    const third = semaphore.run(async () => 'third');
    fail(new Error('first'));
    await expect(first).rejects.toThrow('first');
    expect(await third).toBe('third');
  });

  it('starts no work whose signal is already aborted, whether a place is free or not', async () => {
    const semaphore = new Semaphore({ atOnce: 1, maxWaiting: 1, full });
    const late = () => semaphore.run(async () => 'late', AbortSignal.abort(new Error('too late')));
    await expect(late()).rejects.toThrow('too late');
    let finish = () => {};
    const first = semaphore.run(() => new Promise<void>((resolve) => (finish = resolve)));
    await expect(late()).rejects.toThrow('too late');
    finish();
    await first;
    expect(await semaphore.run(async () => 'second')).toBe('second');
  });
});
