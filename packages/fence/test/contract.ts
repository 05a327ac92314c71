/** Guarantees of every store of the fence, whatever its implementation. */
import type { FenceStore } from '@svc/service';
import { describe, expect, it } from 'vitest';

const WRITERS = 8;
const ROUNDS = 20;
/** More states of an object than any store keeps. */
const OVERTAKEN = 25;

export const describeFenceStore = (name: string, open: () => FenceStore): void => {
  describe(name, () => {
    it('has nothing at first, and what was put from then on', async () => {
      const fenceStore = open();
      expect(await fenceStore.find('a/one')).toBeNull();
      expect(await fenceStore.list('a')).toEqual([]);
      expect(await fenceStore.put('a/one', 'first', null)).toBe(true);
      expect(await fenceStore.find('a/one')).toMatchObject({ text: 'first' });
      expect(await fenceStore.put('b/two', 'ü', null)).toBe(true);
      expect(await fenceStore.list('a')).toEqual(['a/one']);
      expect(await fenceStore.find('b/two')).toMatchObject({ text: 'ü' });
    });

    it('sets only what is as it was read: an older tag, and none where there is one, change nothing', async () => {
      const fenceStore = open();
      await fenceStore.put('head', '1', null);
      const first = await fenceStore.find('head');
      expect(await fenceStore.put('head', '2', first?.tag ?? '')).toBe(true);
      expect(await fenceStore.put('head', 'x', first?.tag ?? '')).toBe(false);
      expect(await fenceStore.put('head', 'x', null)).toBe(false);
      expect(await fenceStore.find('head')).toMatchObject({ text: '2' });
    });

    it('refuses a writer that was overtaken many times, and keeps what is there', async () => {
      const fenceStore = open();
      await fenceStore.put('head', '0', null);
      const late = await fenceStore.find('head');
      for (let step = 1; step <= OVERTAKEN; step++) {
        const found = await fenceStore.find('head');
        expect(await fenceStore.put('head', String(step), found?.tag ?? null)).toBe(true);
      }
      expect(await fenceStore.put('head', 'late', late?.tag ?? '')).toBe(false);
      expect(await fenceStore.put('head', 'late', null)).toBe(false);
      expect(await fenceStore.find('head')).toMatchObject({ text: String(OVERTAKEN) });
    });

    it('lets one of many at once through, each time, and loses none of them', async () => {
      const fenceStore = open();
      await fenceStore.put('head', '0', null);
      let through = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const found = await fenceStore.find('head');
        const writers = Array.from({ length: WRITERS }, (_, i) =>
          fenceStore.put('head', `${round} ${i}`, found?.tag ?? null),
        );
        const won = (await Promise.all(writers)).flatMap((didWin, i) => (didWin ? [i] : []));
        expect(won.length).toBeLessThanOrEqual(1);
        through += won.length;
        if (won.length === 1)
          expect(await fenceStore.find('head')).toMatchObject({ text: `${round} ${won[0]}` });
      }
      expect(through).toBeGreaterThan(0);
    });

    it('counts up by compare-and-set without losing a step', async () => {
      const fenceStore = open();
      await fenceStore.put('head', '0', null);
      const countUp = async () => {
        for (let done = 0; done < 5; ) {
          const found = await fenceStore.find('head');
          if (await fenceStore.put('head', String(Number(found?.text) + 1), found?.tag ?? null)) done++;
        }
      };
      await Promise.all(Array.from({ length: 4 }, countUp));
      expect(await fenceStore.find('head')).toMatchObject({ text: '20' });
    });
  });
};
