import type { ObjectStore } from '@svc/service';
import { expect, it } from 'vitest';
import { namesBelow } from './stored-names.ts';

it('a listing without end is refused, and one of a thousand pages is read to its end', async () => {
  const pages = (count: number): Pick<ObjectStore, 'list'> => {
    let listed = 0;
    return {
      list: async (folder) => {
        listed += 1;
        const name = `${folder}/${String(listed).padStart(9, '0')}`;
        return { names: [name], next: listed < count ? name : null };
      },
    };
  };
  const count = async (objects: Pick<ObjectStore, 'list'>): Promise<number> => {
    let names = 0;
    for await (const _ of namesBelow(objects, '2026-01-01/manifests')) names += 1;
    return names;
  };
  expect(await count(pages(1_000))).toBe(1_000);
  await expect(count(pages(Number.POSITIVE_INFINITY))).rejects.toMatchObject({ kind: 'wrong-bytes' });
});
