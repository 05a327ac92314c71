/** `svc-admin config check` reports what a start would refuse. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { encodeMultikey } from '@svc/protocol';
import { tamper, withDatabase } from '@svc/testkit';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, describe, expect, it } from 'vitest';
import { DOMAIN, nodeEnv, startApiNodes } from '../world/api-node.ts';
import { startSeparateNodes } from '../world/api-process.ts';
import { productionEnv } from '../world/production.ts';
import { runAdmin } from '../world/run-admin.ts';
import { runProgram } from '../world/run-program.ts';
import { call } from '../world/tenants.ts';

const database = withDatabase();
const production = productionEnv();
const configCheck = (env: Readonly<Record<string, string>>, ...more: readonly string[]) =>
  runAdmin(['config', 'check', ...more], env);

it('svc-admin config check reports every fault of the environment and of the database settings', async () => {
  const faulty = runProgram('apps/admin', ['config', 'check'], { SVC_ENV: 'production', SVC_PROT: '1' });
  expect([faulty.status, faulty.out]).toEqual([
    1,
    expect.stringMatching(/SVC_PROT.*SVC_PORT\?[\s\S]*DATABASE_URL is required/),
  ]);
  const well = nodeEnv(database.url, production);
  // The tests' server is not durable, which production refuses.
  const found = await configCheck(well);
  expect(found).toMatchObject({ status: 1, out: expect.stringContaining('Set fsync = on') });
  // A server was reached, so all other checks of it ran.
  expect(found.out).toMatch(/^(ok {5}|warning )connections/m);
});

it.runIf(isDeep)(
  'svc-admin config check --offline uses no database, and --program worker checks the settings of the worker',
  async () => {
    const offline = await configCheck(nodeEnv(database.url, production), '--offline');
    expect([offline.status, offline.out]).toEqual([0, 'ok     configuration\nok     keys\nIt can start.\n']);
    const development = await configCheck(nodeEnv(database.url, {}), '--program', 'worker');
    expect(development).toMatchObject({ status: 0, out: expect.stringContaining('ok     database') });
  },
);

it('svc-admin config check reports an unreachable database once, and skips the checks that need it', async () => {
  const env = {
    ...nodeEnv(database.url, {}),
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/svc',
    SVC_FENCE: `file://${join(tmpdir(), `svc-fence-${process.pid}`)}`,
  };
  const { status, out } = await configCheck(env);
  expect([status, out.match(/ECONNREFUSED/g)?.length]).toEqual([1, 1]);
  expect(out).toMatch(/^- +fence: not checked, since the database was not reached$/m);
});

it('svc-admin config check only warns of an unreachable replica and of a missing SVC_COLD folder', async () => {
  const away = {
    ...nodeEnv(database.url, {}),
    SVC_COLD: `file://${join(tmpdir(), `svc-no-such-${process.pid}`)}`,
    DATABASE_READ_URL: 'postgres://nobody@127.0.0.1:1/svc',
  };
  const { status, out } = await configCheck(away);
  expect([status, out]).toEqual([0, expect.stringMatching(/^warning cold days:$[\s\S]*is it mounted\?/m)]);
  expect(out).toMatch(/^warning replica:$/m);
  expect(out).toMatch(/It can start in development mode: SVC_ENV is not production\.\n$/);
});

it('svc-admin config check and a starting node warn of a store without the last packed day, and the node is ready', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-other-store-'));
  // The folder is a store, and without its mount not a mount point.
  mkdirSync(join(folder, '.drafts'));
  const cold = { SVC_COLD: pathToFileURL(folder).href };
  const sentence = 'the store has no manifest of 2026-01-01, which was packed last';
  const check = async () => (await configCheck(nodeEnv(database.url, cold))).out;
  const before = await check();
  await tamper(
    database.url,
    `insert into cold_days (day, state, manifest, manifest_hash) values ('2026-01-01', 'recorded', 'a.b.c', $1)`,
    [`sha256:${'0'.repeat(64)}`],
  );
  try {
    const nodes = await startSeparateNodes(1, database.url, cold);
    const { baseUrl = '', adminUrl = '' } = nodes.processes[0] ?? {};
    // The start begins a check of the store.
    await expect.poll(() => nodes.processes[0]?.log.join('\n')).toContain('"cold.another_store"');
    const [ready, metrics, health] = await Promise.all([
      call(adminUrl, 'GET', '/readyz'),
      call(adminUrl, 'GET', '/metrics'),
      call(baseUrl, 'GET', '/healthz'),
    ]);
    const log = nodes.processes[0]?.log.join('\n');
    await nodes.stop();
    expect([ready.status, health.status]).toEqual([200, 200]);
    expect(JSON.parse(ready.text).checks['cold-store']).toContain(sentence);
    expect(metrics.text).toMatch(/^svc_cold_store_known -1$/m);
    expect(log).toContain('"cold.another_store"');
    expect(before).toMatch(/^ok {5}packed days$/m);
    expect(await check()).toMatch(new RegExp(`^warning packed days:\n.*${sentence}`, 'm'));
  } finally {
    await tamper(database.url, 'delete from cold_days');
    rmSync(folder, { recursive: true });
  }
});

describe('svc-admin config check reports as a fault', () => {
  const check = () => configCheck(nodeEnv(database.url, { SVC_FENCE: 'none' }));
  const start = () => startApiNodes(1, database.url, { SVC_FENCE: 'none' });

  it.each([
    [
      'a missing SVC_FENCE where the database has a fence',
      `insert into fence_beats (seq, nonce, at) values (1, repeat('0', 32), svc_now())`,
      'delete from fence_beats',
      /^FAULT {2}fence:\n {7}SVC_FENCE is none, and this database has a fence/m,
    ],
    [
      'a missing SVC_COLD where a day is packed',
      `insert into cold_days (day, state, manifest, manifest_hash, detached_at)
       values ('2026-01-01', 'cold', 'a.b.c', 'sha256:${'0'.repeat(64)}', svc_now())`,
      'delete from cold_days',
      /^FAULT {2}packed days:\n {7}SVC_COLD is not set, and a day of this database/m,
    ],
  ])('%s', async (_, begin, end, fault) => {
    expect(await check()).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^ok {5}packed days\nok {5}fence$/m),
    });
    await tamper(database.url, begin);
    try {
      await expect(start()).rejects.toThrow(/this database/);
      expect(await check()).toMatchObject({ status: 1, out: expect.stringMatching(fault) });
    } finally {
      await tamper(database.url, end);
    }
  });

  it('missing migrations that the role may not run, and a schema that needs a later version', async () => {
    const name = `unmigrated_${process.pid}`;
    const role = `svc_role_${process.pid}`;
    const asRole = { pathname: `/${name}`, username: role, password: 'p' };
    const unmigrated = Object.assign(new URL(database.url), asRole).href;
    await runSql(database.url, `create database ${name} template template0`);
    await runSql(database.url, `create role ${role} login password 'p'`);
    const later = `insert into migrations (name, sha256, runs_from) values ('9999-later', 'x', '9999-later')`;
    try {
      const { status, out } = await configCheck(nodeEnv(unmigrated, { SVC_FENCE: 'none' }));
      expect([status, out]).toEqual([
        1,
        expect.stringMatching(/^FAULT {2}database:\n.*migrations are missing/m),
      ]);
      expect(out).toMatch(/^- {6}fence: not compared with the database/m);
      await runSql(database.url, later);
      await expect(start()).rejects.toThrow('start a later version');
      expect(await check()).toMatchObject({
        status: 1,
        out: expect.stringContaining('start a later version'),
      });
    } finally {
      await runSql(database.url, `delete from migrations where name = '9999-later'`);
      await runSql(database.url, `drop database ${name} with (force)`);
      await runSql(database.url, `drop role ${role}`);
    }
  });

  const env = () => nodeEnv(database.url, production);
  const kid = `did:web:${DOMAIN}#status-1`;
  /** Makes this key the only one that was ever published. */
  const publish = async (key: string): Promise<void> => {
    await tamper(database.url, 'delete from service_key_ends');
    await tamper(database.url, 'delete from service_keys');
    await tamper(database.url, 'insert into service_keys (kid, public_key) values ($1, $2)', [kid, key]);
  };
  afterAll(async () => {
    await tamper(database.url, 'delete from service_key_ends');
    await tamper(database.url, 'delete from service_keys');
  });

  it.each(['retired', 'compromised'])('a key that is first in its set although it is %s', async (state) => {
    const { x } = JSON.parse(readFileSync(production.SVC_STATUS_KEYS ?? '', 'utf8')).keys[0];
    await publish(encodeMultikey(new Uint8Array(Buffer.from(x, 'base64url'))));
    expect((await configCheck(env())).out).toMatch(/^ok {5}published keys$/m);
    await tamper(database.url, 'insert into service_key_ends (kid, state) values ($1, $2)', [kid, state]);
    for (const program of sampleOf(['worker', 'api'], 1))
      expect(await configCheck(env(), '--program', program)).toMatchObject({
        status: 1,
        out: expect.stringMatching(
          `FAULT  published keys:\n *${kid}: it is first in its set, but has ended: .*, ${state} `,
        ),
      });
  });

  it('a kid that was published with another key', async () => {
    const key = 'z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK';
    await publish(key);
    expect((await configCheck(env())).out).toMatch(
      new RegExp(`^FAULT {2}published keys:\n *${kid}: its public key was ${key} and is now z6Mk`, 'm'),
    );
  });
});

it('svc-admin config check reports a trigger that was dropped after the start; /healthz of the node stays 200', async () => {
  const nodes = await startSeparateNodes(1, database.url);
  const check = () => configCheck(nodeEnv(database.url, {}));
  const [trigger] = await runSql<{ definition: string }>(
    database.url,
    `select pg_get_triggerdef(oid) as definition from pg_trigger
     where tgrelid = 'audit_events'::regclass and tgname = 'refuse_change'`,
  );
  await runSql(database.url, 'drop trigger refuse_change on audit_events');
  const without = await check();
  const health = await call(nodes.processes[0]?.baseUrl ?? '', 'GET', '/healthz');
  await runSql(database.url, trigger?.definition ?? '');
  const restored = await check();
  await nodes.stop();
  expect(without).toMatchObject({
    status: 1,
    out: expect.stringContaining('trigger audit_events.refuse_change is missing'),
  });
  expect(health.status).toBe(200);
  expect(restored.status).toBe(0);
});
