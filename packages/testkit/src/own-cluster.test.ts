import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OwnCluster, startOwnCluster } from './own-cluster.ts';

let cluster: OwnCluster;
beforeAll(async () => {
  cluster = await startOwnCluster({ durable: true });
});
afterAll(() => cluster?.stop());

it('an own cluster is durable: committed rows exist after SIGKILL and a restart', async () => {
  expect(await ask('SHOW fsync')).toEqual([{ fsync: 'on' }]);
  await ask('CREATE TABLE kept AS SELECT 1 AS one');
  const { pid, url } = cluster;
  cluster.signal('SIGKILL');
  await cluster.restart();
  expect(cluster.pid).not.toBe(pid);
  expect(cluster.url).toBe(url);
  expect(await ask('SELECT one FROM kept')).toEqual([{ one: 1 }]);
});

it('an own cluster does not answer after SIGSTOP, and answers after SIGCONT', async () => {
  cluster.signal('SIGSTOP');
  await expect(ask('SELECT 1 AS one')).rejects.toThrow(/timeout/);
  cluster.signal('SIGCONT');
  expect(await ask('SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

async function ask(sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: cluster.url, connectionTimeoutMillis: 1_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
