/**
 * The role of the conformance runner (docs/operations.md): it may use the queue of runs, and nothing else of the
 * database.
 */

import { randomBytes } from 'node:crypto';
import type { Sha256 } from '@svc/protocol';
import { withDatabase } from '@svc/testkit';
import { openStore } from '@svc/testkit/store/open-store';
import { runSql, withSession } from '@svc/testkit/store/session';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkServer } from './check-server.ts';
import { createRunStore } from './create-run-store.ts';
import { grantRunner, migrate } from './migrate.ts';
import { claimDatabase } from './service-did.ts';

const database = withDatabase();
const role = `svc_runner_${randomBytes(4).toString('hex')}`;
const roleUrl = () => Object.assign(new URL(database.url), { username: role, password: 'p' }).href;

beforeAll(async () => {
  await runSql(database.url, `create role ${role} login password 'p'`);
  // Rights that were granted to the role before are revoked.
  await runSql(database.url, `grant select on receipts to ${role}`);
  await grantRunner(database.url, role);
});
afterAll(async () => {
  await runSql(database.url, `drop owned by ${role}`);
  await runSql(database.url, `drop role ${role}`);
});

const asRole = (sql: string) => withSession(roleUrl(), (session) => session.query(sql));
const DENIED = { code: '42501' };

describe('the role of the conformance runner', () => {
  it('starts on a migrated database, takes a run, prolongs it and finishes it', async () => {
    const sha256 = `sha256:${'0'.repeat(64)}` as Sha256;
    const vectors = { sha256, conformanceVersion: '1.0.0' };
    const store = openStore(database.url);
    const tenant = { crowd: 'tenants', org: 'org_1' } as const;
    const run = { runId: 'cfr_1', account: 'rp', keyId: 'key', endpoint: 'https://engine.example/', vectors };
    await store.conformanceRuns.insert({ ...run, tenant });
    await checkServer(roleUrl(), { mustBeDurable: false });
    await migrate(roleUrl());
    await claimDatabase(roleUrl(), { did: 'did:web:svc.example', mayPin: false });
    const { runs, isReachable, close } = createRunStore({ databaseUrl: roleUrl(), onError: () => {} });
    try {
      expect(await isReachable()).toBe(true);
      const taken = await runs.take('lease', vectors);
      if (taken === null) throw new Error('no run waits');
      expect(await runs.prolong(taken, 1)).toBe(true);
      const ended = { status: 'failed', requests: 1, error: null, reportText: null } as const;
      expect(await runs.finish(taken, ended)).toBe(true);
      expect(await runs.endInterrupted(Date.now())).toBe(0);
      expect(await store.conformanceRuns.find('cfr_1')).toMatchObject({ status: 'failed', requests: 1 });
    } finally {
      await Promise.all([close(), store.close()]);
    }
  });

  it('may read no other table, and may not change the queue otherwise', async () => {
    const tables = await runSql<{ name: string }>(
      database.url,
      `select c.oid::regclass::text as name from pg_class as c
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S')
         and c.relname not in ('conformance_runs', 'migrations', 'service_dids')`,
    );
    expect(tables.length).toBeGreaterThan(20);
    for (const { name } of tables) await expect(asRole(`table ${name}`), name).rejects.toMatchObject(DENIED);
    for (const sql of [
      'delete from conformance_runs',
      `update conformance_runs set endpoint = 'https://inside.example/'`,
      `update conformance_runs set account = 'another'`,
      `insert into conformance_runs (run_id, account, key_id, endpoint, vectors_sha256, conformance_version)
       values ('r', 'a', 'k', 'e', 'v', 'c')`,
      `insert into migrations (name, sha256, runs_from) values ('x', 'x', 'x')`,
      `insert into service_dids (number, did) values (1, 'did:web:x.example')`,
      'create table mine (x integer)',
    ])
      await expect(asRole(sql), sql).rejects.toMatchObject(DENIED);
  });
});
