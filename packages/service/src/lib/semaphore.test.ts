import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Turnstile } from './semaphore.ts';

describe('the turnstile', () => {
  it('lets so many in at once, in the order of their coming, whatever becomes of them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.boolean(), { maxLength: 20 }),
        fc.scheduler(),
        async (atOnce, fates, scheduler) => {
          const turnstile = new Turnstile(atOnce, 20);
          const begun: number[] = [];
          let inside = 0;
          let most = 0;
          const works = fates.map((fails, i) =>
            turnstile.run(async () => {
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

  it('turns away whom it could not serve, and takes others once there is room', async () => {
    const turnstile = new Turnstile(1, 1);
    let finish = () => {};
    const first = turnstile.run(() => new Promise<void>((resolve) => (finish = resolve)));
    const second = turnstile.run(async () => 'second');
    await expect(turnstile.run(async () => 'third')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    finish();
    await first;
    expect(await second).toBe('second');
    expect(await turnstile.run(async () => 'fourth')).toBe('fourth');
  });
});
