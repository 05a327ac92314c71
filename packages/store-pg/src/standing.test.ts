/** Two servers, of which one was replaced and goes on answering: its open sessions count no more, whatever they answer. */
import { type OwnCluster, startOwnCluster } from '@svc/testkit';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openClient } from './client.ts';
import { createStore } from './create-store.ts';

let clusters: OwnCluster[];
beforeAll(async () => {
  clusters = [await startOwnCluster({ durable: false }), await startOwnCluster({ durable: false })];
}, 60_000);
afterAll(async () => {
  for (const cluster of clusters) await cluster.stop();
});

/** The Orgs table stands for any: each server has another name in it. */
const nameIn = ({ url }: OwnCluster, name: string) =>
  runSql(url, `insert into orgs (org_id, slug, name) values ('${ORG}', 'o', '${name}')`);
const ORG = `org_${'0'.repeat(26)}`;

it('sessions with the server that was replaced are used no more, and what is under way on one is not answered', async () => {
  const [replaced, promoted] = clusters as [OwnCluster, OwnCluster];
  await nameIn(replaced, 'replaced');
  await nameIn(promoted, 'promoted');
  const { username, password } = new URL(replaced.url);
  const { host } = new URL(promoted.url);
  await runSql(promoted.adminUrl, `alter role ${username} password '${password}'`);
  const store = createStore({ databaseUrl: replaced.url.replace(/@[^/]+/, (first) => `${first},${host}`) });
  // Opening a connection may take longer than a call waits.
  const read = async (): Promise<string> => {
    for (;;) {
      const org = await store.orgs.find(ORG as never).catch(() => null);
      if (org !== null) return org.name;
    }
  };
  try {
    const first = (await store.lineage.beat(null, 'a'.repeat(32))).server;
    store.lineage.trust(first);
    expect(await read()).toBe('replaced');
    const underWay = store.transaction(async (tx) => {
      await tx.orgs.find(ORG as never);
      store.lineage.doubt(first);
      return 'answered';
    });
    await expect(underWay).rejects.toMatchObject({ kind: 'ambiguous' });
    let second = first;
    while (second === first)
      second = await store.lineage.beat(null, 'b'.repeat(32)).then(
        ({ server }) => server,
        () => first,
      );
    store.lineage.trust(second);
    for (let tried = 0; tried < 20; tried++) expect(await read()).toBe('promoted');
  } finally {
    await store.close();
  }
}, 60_000);

it('a server is known by its start alone, since one may be reached by several addresses', async () => {
  const [first, second] = clusters as [OwnCluster, OwnCluster];
  const startOf = async ({ url }: OwnCluster) =>
    (
      await runSql<{ start: string }>(
        url,
        'select extract(epoch from pg_postmaster_start_time())::text as start',
      )
    )[0]?.start;
  const serverOf = async ({ url }: OwnCluster) => {
    const client = await openClient({ databaseUrl: url });
    await client.end();
    return client.server;
  };
  expect(await serverOf(first)).toBe(await startOf(first));
  expect(await serverOf(second)).toBe(await startOf(second));
  expect(await serverOf(first)).not.toBe(await serverOf(second));
});
