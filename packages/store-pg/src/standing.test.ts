/** Two servers, one of which was replaced and still answers: answers of its open sessions are no longer used. */
import type { ReceiptId } from '@svc/protocol';
import { type OwnCluster, startOwnCluster } from '@svc/testkit';
import { PATIENT } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openClient } from './client.ts';
import { createStore } from './create-store.ts';
import { Standing } from './standing.ts';

const clusters: OwnCluster[] = [];
/** Databases on both servers, with one password. */
const urls = { replaced: '', promoted: '' };
beforeAll(async () => {
  const [replaced, promoted] = [
    await startOwnCluster({ durable: false }),
    await startOwnCluster({ durable: false }),
  ];
  clusters.push(replaced, promoted);
  const { username, password } = new URL(replaced.url);
  await runSql(promoted.adminUrl, `alter role ${username} password '${password}'`);
  urls.replaced = replaced.url;
  urls.promoted = replaced.url.replace(hostOf(replaced.url), hostOf(promoted.url));
}, 60_000);
afterAll(async () => {
  for (const cluster of clusters) await cluster.stop();
});

const hostOf = (url: string) => new URL(url).host;
/** The Orgs table stands for any table: each server has another name in it. */
const nameIn = (url: string, name: string) =>
  runSql(url, `insert into orgs (org_id, slug, name) values ('${ORG}', 'o', '${name}')`);
const ORG = `org_${'0'.repeat(26)}`;
const WRITTEN = `org_${'1'.repeat(26)}`;

it('sessions with a replaced server are not used again, and work under way on one is ambiguous', async () => {
  await nameIn(urls.replaced, 'replaced');
  await nameIn(urls.promoted, 'promoted');
  const both = urls.replaced.replace(/@[^/]+/, (first) => `${first},${hostOf(urls.promoted)}`);
  const store = createStore({ databaseUrl: both });
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
    // Two connections for administration, so that one is idle when the server is replaced.
    await Promise.all([1, 2].map(() => store.transaction((tx) => tx.orgs.find(ORG as never))));
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
    const write = () =>
      store
        .transaction((tx) => tx.orgs.insert({ orgId: WRITTEN as never, slug: 'w', name: 'w' }))
        .then(
          () => true,
          () => false,
        );
    while (!(await write()));
    const written = `select name from orgs where org_id = '${WRITTEN}'`;
    expect([await runSql(urls.replaced, written), await runSql(urls.promoted, written)]).toEqual([
      [],
      [{ name: 'w' }],
    ]);
  } finally {
    await store.close();
  }
}, 60_000);

it.each([
  ['is used once that server is trusted', null],
  ['is closed when another server is trusted', 'another one'],
])('a session with an unknown server triggers a lineage check, and %s', async (_, trusted) => {
  const store = createStore({ databaseUrl: urls.promoted, deadlines: PATIENT });
  try {
    store.lineage.trust('the one before');
    const { server } = await store.lineage.beat(null, 'd'.repeat(32));
    let asked = 0;
    store.lineage.onUnknown(() => {
      asked += 1;
      void store.lineage.beat(null, 'e'.repeat(32)).then(() => store.lineage.trust(trusted ?? server));
    });
    const name = await store.orgs.find(ORG as never).then(
      (org) => org?.name,
      ({ kind }) => kind,
    );
    expect([name, asked > 0]).toEqual([trusted === null ? 'promoted' : 'unavailable', true]);
  } finally {
    await store.close();
  }
});

it('a session is judged by the next check that began after it was opened, and each unknown server triggers one check', async () => {
  const standing = new Standing();
  let asked = 0;
  standing.onUnknown(() => {
    asked += 1;
  });
  standing.trust('old');
  standing.beginLook();
  const met = standing.settles('new');
  // The result of the look before.
  standing.trust('old');
  standing.beginLook();
  standing.trust('new');
  expect([await met, asked]).toEqual([true, 1]);
  const replaced = standing.settles('old');
  standing.beginLook();
  standing.trust('new');
  expect([await replaced, await standing.settles('old'), asked]).toEqual([false, false, 2]);
  standing.trust('old');
  expect(await standing.settles('old')).toBe(true);
});

it('a check that reached another server does not decide about the server of a session', async () => {
  const standing = new Standing();
  let asked = 0;
  standing.onUnknown(() => {
    asked += 1;
  });
  standing.trust('old');
  const met = standing.settles('new');
  // That look reached the replaced server, and found it behind.
  standing.beginLook();
  standing.doubt('old');
  standing.beginLook();
  // Opened during the look that will trust its server.
  const metLater = standing.settles('new');
  standing.trust('new');
  expect([await met, await metLater, asked]).toEqual([true, true, 2]);
});

it('the look-up after a lost answer refuses the answer of a replaced server', async () => {
  const store = createStore({ databaseUrl: urls.replaced });
  try {
    const { server } = await store.lineage.beat(null, 'c'.repeat(32));
    store.lineage.trust(server);
    const find = () => store.verify.findStored([`drc_${'0'.repeat(26)}` as ReceiptId]);
    await expect.poll(() => find().catch(() => null)).toEqual(new Set());
    store.lineage.doubt(server);
    await expect(find()).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('replaced'),
    });
  } finally {
    await store.close();
  }
});

it('a server is identified by its start time only, whatever its address', async () => {
  const known = async (databaseUrl: string) => {
    const client = await openClient({ databaseUrl });
    try {
      return {
        known: client.server,
        started: (await client.query<{ started: string }>(STARTED)).rows[0]?.started,
      };
    } finally {
      await client.end();
    }
  };
  const [replaced, promoted] = [await known(urls.replaced), await known(urls.promoted)];
  for (const server of [replaced, promoted]) expect(server.known).toBe(server.started);
  expect(replaced.known).not.toBe(promoted.known);
});
const STARTED = 'select extract(epoch from pg_postmaster_start_time())::text as started';
