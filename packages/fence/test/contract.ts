/** Guarantees of every store of the fence, whatever its implementation. */
import type { FenceStore } from '@svc/service';
import { describe, expect, it } from 'vitest';

const WRITERS = 8;
const ROUNDS = 20;
/** More states of an object than any store keeps. */
const OVERTAKEN = 25;

export const describeFenceStore = (name: string, open: () => FenceStore): void => {
  describe(name, () => {
    it('finds nothing at first, and each object once it is put', async () => {
      const fenceStore = open();
      expect(await fenceStore.find('a/one')).toBeNull();
      expect(await fenceStore.list('a')).toEqual([]);
      expect(await fenceStore.put('a/one', 'first', null)).toBe(true);
      expect(await fenceStore.find('a/one')).toMatchObject({ text: 'first' });
      expect(await fenceStore.put('b/two', 'ü', null)).toBe(true);
      expect(await fenceStore.list('a')).toEqual(['a/one']);
      expect(await fenceStore.find('b/two')).toMatchObject({ text: 'ü' });
    });

    it('puts an object only with its current tag: an older tag, or none if the object exists, changes nothing', async () => {
      const fenceStore = open();
      await fenceStore.put('head', '1', null);
      const first = await fenceStore.find('head');
      expect(await fenceStore.put('head', '2', first?.tag ?? '')).toBe(true);
      expect(await fenceStore.put('head', 'x', first?.tag ?? '')).toBe(false);
      expect(await fenceStore.put('head', 'x', null)).toBe(false);
      expect(await fenceStore.find('head')).toMatchObject({ text: '2' });
    });

    it('refuses a put with a tag that is many versions old, and keeps the present object', async () => {
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

    it('lets at most one of several concurrent puts succeed, and stores that one', async () => {
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

    it('loses no step when concurrent writers count up by compare-and-set', async () => {
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
