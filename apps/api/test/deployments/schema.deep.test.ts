/**
 * A schema that differs from the migrated one: production does not start on it; fsck names each object, and reports
 * what was never migrated.
 */
import { spawnSync } from 'node:child_process';
import { grantService } from '@svc/store-pg';
import { type OwnCluster, startOwnCluster } from '@svc/testkit';
import { execute } from '@svc/testkit/database';
import { programFile } from '@svc/testkit/process/program-file';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApiProcess } from '../world/api-process.ts';
import { productionEnv } from '../world/production.ts';

/** A durable server, since production accepts no other. */
let cluster: OwnCluster;
const production = productionEnv();
const SERVICE = 'svc_of_its_own';
beforeAll(async () => {
  cluster = await startOwnCluster({ durable: true });
  await execute(cluster.url, `create role ${SERVICE} login password 'p'`);
  await grantService(cluster.url, SERVICE);
}, 60_000);
afterAll(() => cluster?.stop(), 60_000);

const serviceUrl = () => Object.assign(new URL(cluster.url), { username: SERVICE, password: 'p' }).href;
const fsck = (databaseUrl: string, ...parameters: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [programFile('apps/admin'), 'fsck', ...parameters],
    { encoding: 'utf8', timeout: 30_000, env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl } },
  );
  return { status, out: stdout, err: stderr };
};

it('production starts with an added index, and the log and fsck name it', async () => {
  await execute(cluster.url, 'create index of_ours on receipts (agent)');
  const node = await startApiProcess(serviceUrl(), production);
  const differs = node.log.find((line) => line.includes('schema.differs')) ?? '{}';
  expect(JSON.parse(differs)).toMatchObject({ level: 40, added: ['index receipts.of_ours'] });
  await node.stop();
  const found = fsck(serviceUrl());
  expect([found.status, found.out]).toEqual([
    0,
    expect.stringContaining('without harm: index receipts.of_ours'),
  ]);
});

it('production does not start with a disabled append-only trigger; the error and fsck name it', async () => {
  await execute(cluster.url, 'alter table evidence disable trigger refuse_change');
  await expect(startApiProcess(serviceUrl(), production)).rejects.toThrow(
    /schema of the database is not .*trigger evidence\.refuse_change is not as migrated/,
  );
  const { status, err } = fsck(serviceUrl());
  expect([status, err]).toEqual([1, 'schema: trigger evidence.refuse_change: is not as migrated\n']);
  await execute(cluster.url, 'alter table evidence enable trigger refuse_change');
});

it('fsck names missing tables, and still checks the others', async () => {
  await execute(cluster.url, 'alter table content_checks rename to elsewhere');
  await execute(cluster.url, 'alter table attestations rename to lost');
  const { faults, checks } = JSON.parse(fsck(serviceUrl(), '--json').out);
  await execute(cluster.url, 'alter table elsewhere rename to content_checks');
  await execute(cluster.url, 'alter table lost rename to attestations');
  const objects = faults.map(
    ({ where, problem }: { where: string; problem: string }) => `${where} ${problem}`,
  );
  expect(objects).toEqual(
    expect.arrayContaining(['table attestations is missing', 'table content_checks is missing']),
  );
  expect(checks.find(({ name }: { name: string }) => name === 'chain')).toMatchObject({ faults: 0 });
});

it('fsck explains in one sentence that a database was never migrated or has an earlier version', async () => {
  await execute(cluster.adminUrl, 'create database empty template template0');
  const empty = fsck(Object.assign(new URL(cluster.adminUrl), { pathname: '/empty' }).href);
  expect([empty.status, empty.err]).toEqual([2, expect.stringMatching(/never been migrated.*DATABASE_URL/)]);
  await execute(cluster.url, `delete from migrations where name > '0006'`);
  expect(fsck(cluster.url)).toMatchObject({
    status: 2,
    err: expect.stringContaining('run svc-admin migrate first'),
  });
});
