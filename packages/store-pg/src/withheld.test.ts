/** Grants that a restore withholds (protocol §10), as the operator lists and releases them. */
import { type ReleasedGrants, releaseGrants, type ServiceDeps } from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { createWorld, insertGrant, type World } from '@svc/testkit/store/world';
import { beforeEach, describe, expect, it } from 'vitest';

const stores = withStores();
let world: World;

beforeEach(async () => {
  world = await createWorld(stores.first);
});

const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) };
const deps = () =>
  ({ store: stores.first, clock: { nowMs: () => Date.now() }, random }) as unknown as ServiceDeps;

/** Withholds new Grants and no others. Answers their ids, ascending. */
const withholdNew = async (count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await insertGrant(world)).id);
  const mark = 'update grants set withheld_by = case when id = any ($1) then 1 end';
  await runSql(stores.url, mark, [ids]);
  return ids.sort();
};

const listAll = async (): Promise<string[][]> => {
  const pages: string[][] = [];
  for (let after = ''; ; after = pages.at(-1)?.at(-1) ?? '') {
    const page: string[] = (await stores.first.withheldGrants.list(after, 2)).map(({ id }) => id);
    if (page.length === 0 || pages.length > 50) return pages;
    pages.push(page);
  }
};

it('withheld Grants are listed page by page, each once, and no longer after their release', async () => {
  const ids = await withholdNew(5);
  const later = (await insertGrant(world)).id;
  expect(await listAll()).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  const named = { grantIds: [...ids.slice(0, 1), later] };
  expect(await releaseGrants(deps(), named)).toEqual({ released: 1, missed: [later] });
  expect(await releaseGrants(deps(), named)).toEqual({ released: 0, missed: named.grantIds });
  expect((await listAll()).flat()).toEqual(ids.slice(1));
});

describe.each<[string, () => ReleasedGrants, () => string | null]>([
  ['all', () => ({ all: true }), () => null],
  ['those of a Principal', () => ({ principal: world.principal.did }), () => world.principal.did],
])('a release of %s', (_, which, target) => {
  const listAudited = (principal: string | null) =>
    runSql<{ transaction: string; grants: number }>(
      stores.url,
      `select xmin::text as transaction, (details ->> 'grants')::int as grants from audit_events
       where action = 'restore.release' and target is not distinct from $1 order by occurred_at`,
      [principal],
    );
  const cutOff = (released: number) => {
    if (released > 0) throw new Error('cut off');
  };

  it('is done in steps and continues after it was cut off, with each Grant in the audit log once', async () => {
    const ids = await withholdNew(7);
    const before = await listAudited(target());
    for (const left of [4, 1]) {
      const cut = releaseGrants(deps(), which(), { step: 3, onProgress: cutOff });
      await expect(cut).rejects.toThrow('cut off');
      expect((await listAll()).flat()).toEqual(ids.slice(-left));
    }
    const told: number[] = [];
    const onProgress = (released: number) => told.push(released);
    expect(await releaseGrants(deps(), which(), { step: 3, onProgress })).toEqual({
      released: 1,
      missed: [],
    });
    expect(told.at(-1)).toBe(1);
    expect(await listAll()).toEqual([]);
    const audited = (await listAudited(target())).slice(before.length);
    expect(audited.map(({ grants }) => grants)).toEqual([3, 3, 1]);
    expect(new Set(audited.map(({ transaction }) => transaction)).size).toBe(3);
  });
});
