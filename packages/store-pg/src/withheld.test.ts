/** Grants that a restore withholds (protocol §10), as the operator lists and releases them. */
import { withStores } from '@svc/testkit/store/open-store';
import { createWorld, insertGrant } from '@svc/testkit/store/world';
import { expect, it } from 'vitest';

const stores = withStores();

it('are listed page by page, each once, and no more once they are released', async () => {
  const { restores } = stores.first;
  const world = await createWorld(stores.first);
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push((await insertGrant(world)).id);
  const atMs = Date.now();
  await restores.insert({
    ...{ epoch: 1, lostFromMs: atMs, lostUntilMs: atMs, quarantinedUntilMs: atMs },
    ...{ reinstatedDays: [], leastListNumber: 1, statement: 'a.b.c' },
  });
  await restores.withholdGrants(1);
  const later = (await insertGrant(world)).id;
  const listAll = async () => {
    const pages: string[][] = [];
    for (let after = ''; ; after = pages.at(-1)?.at(-1) ?? '') {
      const page = (await restores.listWithheld(after, 2)).map(({ id }) => id);
      if (page.length === 0 || pages.length > 5) return pages;
      pages.push(page);
    }
  };
  const sorted = ids.sort();
  expect(await listAll()).toEqual([sorted.slice(0, 2), sorted.slice(2, 4), sorted.slice(4)]);
  expect(sorted).not.toContain(later);
  const released = { grantIds: [...sorted.slice(0, 1), later], principal: null };
  expect(await restores.releaseGrants(released)).toEqual(sorted.slice(0, 1));
  expect(await restores.releaseGrants(released)).toEqual([]);
  expect((await listAll()).flat()).toEqual(sorted.slice(1));
});
