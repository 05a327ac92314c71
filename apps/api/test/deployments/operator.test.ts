/** What a new operator uses first: versions, help, the log and its level. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '@svc/process';
import { generatePrincipalKey } from '@svc/sdk-principal';
import { withDatabase } from '@svc/testkit';
import { findFreePorts } from '@svc/testkit/process/free-ports';
import { programFile } from '@svc/testkit/process/program-file';
import { startProgram } from '@svc/testkit/process/start-program';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import { hasPgBouncer, startPgBouncer } from '@svc/testkit/store/pgbouncer';
import { runSql } from '@svc/testkit/store/session';
import { startTcpProxy } from '@svc/testkit/store/tcp-proxy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeEnv } from '../world/api-node.ts';
import { type ApiProcess, startApiProcess, stopAtOnce } from '../world/api-process.ts';
import { svcAdmin } from '../world/fence.ts';
import { productionEnv } from '../world/production.ts';
import { runAdmin } from '../world/run-admin.ts';
import { runProgram as run, runProgramBeside } from '../world/run-program.ts';
import { call, createTenants, issueGrant, receiptOf, verifyBody } from '../world/tenants.ts';

const database = withDatabase();
/** A database that belongs to no service yet. */
const unclaimed = withDatabase();
const production = productionEnv();
let node: ApiProcess;
beforeAll(async () => {
  node = await startApiProcess(database.url);
});
afterAll(async () => {
  if (node !== undefined) await stopAtOnce(node);
});

/** A proxy in front of PostgreSQL that forwards data containing the marker after a delay. */
const startSlowProxy = async (databaseUrl: string, marker: string, delayMs: number) => {
  let delayed = 0;
  const proxy = await startTcpProxy(databaseUrl, {
    handle: ({ server }) => ({
      fromClient(chunk) {
        if (!chunk.includes(marker)) return void server.write(chunk);
        delayed += 1;
        setTimeout(() => server.write(chunk), delayMs);
      },
    }),
  });
  return { ...proxy, delayed: () => delayed };
};

it.runIf(isDeep).each(['apps/admin', 'apps/api'])('%s prints its version', (app) => {
  expect(run(app, ['--version'])).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  });
});

it('SVC_PROCESSES with several processes is refused without DATABASE_URL', async () => {
  const env = { SVC_PROCESSES: '2', DATABASE_URL: '' };
  const refused = 'SVC_PROCESSES needs DATABASE_URL';
  expect(() => readConfig(nodeEnv('', env))).toThrow(refused);
  if (isDeep) await expect(startApiProcess('', env)).rejects.toThrow(refused);
});

describe('svc-admin', () => {
  // In a sample apps/admin, program.test.ts, tests this without processes.
  it.runIf(isDeep)('prints the help of one command only, and the list of commands for an unknown one', () => {
    const { status, out } = run('apps/admin', ['keys', 'rotate', '--help']);
    expect([status, out]).toEqual([0, expect.stringContaining('svc-admin keys rotate KID')]);
    expect(out).not.toMatch(/fsck|keys create/);
    // program.test.ts tests the misspellings of other words.
    expect(run('apps/admin', ['kesy'])).toMatchObject({
      status: 2,
      err: expect.stringMatching(/there is no command kesy[\s\S]*svc-admin keys rotate KID/),
    });
  });

  it.runIf(isDeep)('prints the commands of a group for its --help and for an unknown command in it', () => {
    expect(run('apps/admin', ['keys', '--help']).out).toMatch(/svc-admin keys rotate KID/);
    expect(run('apps/admin', ['keys', 'rotate', 'receipt-1', '--help']).out).not.toMatch(
      /keys create PURPOSE/,
    );
    expect(run('apps/admin', ['keys', 'new', 'receipt'])).toMatchObject({
      status: 2,
      err: expect.stringMatching(
        /^svc-admin: there is no command keys new receipt\n\n(?: {2}svc-admin keys.*\n)+\nsvc-admin COMMAND/,
      ),
    });
  });

  it.each(sampleOf([['fsck'], ['migrate'], ['keys'], ['clock'], ['restore']], 1))(
    'in production refuses a remote database without TLS: %s',
    async (...words) => {
      const DATABASE_URL = 'postgres://svc:secret@db.internal/svc';
      const { status, err } = await runAdmin(words, {
        ...production,
        SVC_ENV: 'production',
        DATABASE_URL,
      });
      expect([status, err]).toEqual([
        2,
        expect.stringMatching(/^svc-admin: DATABASE_URL reaches db\.internal without TLS/),
      ]);
      expect(err).not.toContain('secret');
    },
  );

  it.each(sampleOf(['nonsense', 'mysql://x', 'db.internal/svc'], 1))(
    'explains the form of DATABASE_URL for the value %s',
    (DATABASE_URL) => {
      expect(run('apps/admin', ['fsck'], { DATABASE_URL })).toEqual({
        status: 2,
        out: '',
        err: 'svc-admin: DATABASE_URL must be a postgres:// or postgresql:// address\nTry svc-admin --help.\n',
      });
    },
  );
});

describe('svc-admin with an SVC_COLD folder that does not exist', () => {
  const typo = join(tmpdir(), `svc-no-such-${process.pid}`);
  const env = () => ({ ...nodeEnv(database.url, {}), SVC_COLD: `file://${typo}` });

  it.runIf(isDeep)('ledger status reports that the folder is missing, and does not create it', () => {
    const asked = env();
    expect(run('apps/admin', ['ledger', 'status'], asked)).toMatchObject({
      status: 1,
      err: expect.stringContaining('SVC_COLD: the folder of the objects is not there: is it mounted?'),
    });
    expect(existsSync(typo)).toBe(false);
  });

  it.runIf(isDeep)('ledger verify reports that there is nothing to prove, and does not create it', () => {
    expect(run('apps/admin', ['ledger', 'verify'], env())).toMatchObject({
      status: 0,
      out: 'No day is packed: there is nothing to check.\n',
    });
    expect(existsSync(typo)).toBe(false);
  });
});

describe('svc-admin on a running service', () => {
  const admin = async (...parameters: readonly string[]) =>
    runProgramBeside('apps/admin', [...parameters, '--api', node.baseUrl], nodeEnv(database.url, {}));

  it('registers an org, an org key and a relying party that work', async () => {
    const org = JSON.parse((await admin('org', 'create', 'acme', '--name', 'Acme')).out);
    const settings = ['--profile', 'svc-base-v2', '--proof-window', '90', '--verify-rate-limit', '1200'];
    const create = async (...parameters: readonly string[]) =>
      JSON.parse((await runAdmin([...parameters, '--api', node.baseUrl], nodeEnv(database.url, {}))).out);
    const key = await create('org', 'key', org.org_id);
    const shop = await create(
      'relying-party',
      'create',
      '--slug',
      'shop-1',
      '--org',
      org.org_id,
      ...settings,
    );
    const members = await call(node.baseUrl, 'GET', `/orgs/${org.org_id}`, { key: key.api_key });
    const me = await call(node.baseUrl, 'GET', '/me', { key: shop.api_key });
    const own = await call(node.baseUrl, 'GET', `/relying-parties/${encodeURIComponent(shop.did)}`, {
      key: shop.api_key,
    });
    expect(JSON.parse(own.text)).toMatchObject({
      ...{ profile: 'svc-base-v2', proof_window_seconds: 90, verify_rate_limit_per_minute: 1200 },
    });
    expect(JSON.parse(members.text).members).toMatchObject([{ did: shop.did }]);
    expect(me.status).toBe(200);
  });

  it.runIf(isDeep)(
    'registers a Principal of an org, and reports 409 for an org slug that is taken',
    async () => {
      const org = JSON.parse((await admin('org', 'create', 'beta', '--name', 'Beta')).out);
      const { publicKeyMultibase } = await generatePrincipalKey();
      const given = ['--slug', 'payer-1', '--key', publicKeyMultibase, '--org', org.org_id];
      const payer = JSON.parse((await admin('principal', 'create', ...given)).out);
      const key = JSON.parse((await admin('org', 'key', org.org_id)).out);
      const members = await call(node.baseUrl, 'GET', `/orgs/${org.org_id}`, { key: key.api_key });
      expect(JSON.parse(members.text).members).toMatchObject([{ did: payer.did }]);
      const taken = await admin('org', 'create', 'beta', '--name', 'Beta');
      expect([taken.status, taken.err]).toEqual([1, expect.stringContaining('answered 409')]);
    },
  );

  // In a sample apps/admin, tenants.test.ts, tests this without processes.
  it.runIf(isDeep)(
    'refuses to register without a token, over plain http, or if the service does not answer',
    () => {
      const env = nodeEnv(database.url, {});
      const late = ['org', 'create', 'late', '--name', 'Late', '--api', 'http://127.0.0.1:1'];
      expect(run('apps/admin', late, env)).toMatchObject({
        status: 2,
        err: expect.stringContaining('did not answer'),
      });
      const plain = ['org', 'create', 'x', '--name', 'X', '--api', 'http://svc.example'];
      expect(run('apps/admin', plain, env)).toMatchObject({
        status: 2,
        err: expect.stringContaining('must be https'),
      });
      expect(run('apps/admin', ['org', 'create', 'x', '--name', 'X'])).toMatchObject({
        status: 2,
        err: expect.stringContaining('SVC_ADMIN_TOKEN'),
      });
    },
  );

  it('keys check compares the key files with the database', async () => {
    const place = { SVC_DOMAIN: 'keys.test', SVC_BASE_URL: 'https://keys.test' };
    const env = nodeEnv(unclaimed.url, { ...production, ...place });
    const ok = expect.stringMatching(/ok {5}did:web:keys\.test#receipt-1/);
    if (isDeep) expect(run('apps/admin', ['keys', 'check'], env)).toMatchObject({ status: 0, out: ok });
    const keys = 'insert into service_keys (kid, public_key) values ($1, $2) on conflict do nothing';
    await runSql(unclaimed.url, keys, ['did:web:keys.test#receipt-1', 'z6Mkother']);
    expect(await runAdmin(['keys', 'check'], env)).toMatchObject({
      status: 1,
      out: expect.stringMatching(
        /FAULT {2}did:web:keys\.test#receipt-1 {2}its public key was z6Mk[\s\S]*ok {5}did:web:keys\.test#status-1/,
      ),
    });
  });

  it.runIf(isDeep)('keys check refuses a database of another service', () => {
    const place = { SVC_DOMAIN: 'keys.test', SVC_BASE_URL: 'https://keys.test' };
    const env = nodeEnv(database.url, { ...production, ...place });
    expect(run('apps/admin', ['keys', 'check'], env)).toMatchObject({
      status: 2,
      err: expect.stringMatching(
        /^svc-admin: the database belongs to did:web:svc\.test, .* is for did:web:keys\.test: correct SVC_DOMAIN/,
      ),
    });
  });

  const slowAnswers: [string, string[], string][] = [
    ['from service_keys', ['keys'], 'receipt-1'],
    ['from pauses where', ['pause', 'show'], 'The service is not paused.'],
  ];
  it.runIf(isDeep).each(slowAnswers)(
    'waits for a slow database answer (%s) longer than a request does',
    async (statement, command, said) => {
      // Longer than the 700 ms for which a request waits for a read.
      const slow = await startSlowProxy(database.url, statement, 900);
      try {
        const asked = await svcAdmin(slow.url, {}, ...command);
        expect(asked).toMatchObject({ code: 0, text: expect.stringContaining(said) });
        expect(slow.delayed()).toBe(1);
      } finally {
        await slow.close();
      }
    },
  );

  it.skipIf(!hasPgBouncer)('migrate refuses a pooler that shares sessions, and says why', async () => {
    const pooler = await startPgBouncer(unclaimed.url, 'transaction');
    try {
      expect(await svcAdmin(pooler.url, {}, 'migrate')).toMatchObject({
        code: 2,
        text: expect.stringContaining('pool_mode = session'),
      });
    } finally {
      await pooler.stop();
    }
  });

  it('completion bash completes commands, second words and options', () => {
    const { out } = run('apps/admin', ['completion', 'bash']);
    const lines = [['fs'], ['keys', 'ro'], ['keys', 'rotate', '--n'], ['fsck', '--a']];
    const asked = lines.map(
      (words) => `COMP_WORDS=(svc-admin ${words.join(' ')}); COMP_CWORD=${words.length}
_svc_admin; printf '%s ' "\${COMPREPLY[@]}"; echo`,
    );
    const { stdout } = spawnSync('bash', ['-c', [out, ...asked].join('\n')], { encoding: 'utf8' });
    expect(stdout.trim().split(/ *\n/)).toEqual(['fsck', 'rotate', '--now', '--all']);
  });
});

describe('the log', () => {
  it('has the client address, Receipt id, decision and process id in the line of a verification', async () => {
    const tenants = await createTenants(node.baseUrl);
    const body = await verifyBody(tenants, await issueGrant(tenants));
    const receipt = receiptOf(await call(node.baseUrl, 'POST', '/verify', { key: tenants.rpKey, body }));
    const metrics = (await call(node.adminUrl, 'GET', '/metrics')).text;
    const line = await node.line(receipt.receipt_id);
    expect(JSON.parse(line)).toMatchObject({
      msg: 'request',
      route: 'verify',
      clientIp: '127.0.0.1',
      receiptId: receipt.receipt_id,
      decision: 'ALLOW',
      reason: null,
      processId: node.pid,
    });
    expect(metrics).toMatch(/svc_build_info\{version="\d+\.\d+\.\d+",node="v\d+/);
    expect(metrics).toMatch(/svc_storage_connections\{pool="reads",state="idle"\} \d/);
    expect(metrics).toContain('svc_authentication_failures_total{problem="unknown or revoked"} 0');
  });

  it.runIf(isDeep)('has revocations but no requests at SVC_LOG_LEVEL=warn', async () => {
    const [port, adminPort] = await findFreePorts(2);
    const env = { SVC_PORT: String(port), SVC_ADMIN_PORT: String(adminPort), SVC_LOG_LEVEL: 'warn' };
    const quiet = startProgram(programFile('apps/api'), { ...env, ...nodeEnv(database.url, {}) });
    const baseUrl = `http://127.0.0.1:${port}`;
    await expect
      .poll(() =>
        fetch(`${baseUrl}/healthz`).then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200);
    const tenants = await createTenants(baseUrl);
    const { grantId } = await issueGrant(tenants);
    await tenants.principal.grants.revoke(grantId);
    expect(await quiet.stop()).toBe(0);
    const events = quiet.log.map((line) => JSON.parse(line).msg);
    expect(events.filter((event) => ['request', 'listening'].includes(event))).toEqual([]);
    expect(quiet.log.filter((line) => line.includes('"revocation"')).join()).toContain(grantId);
  });
});
