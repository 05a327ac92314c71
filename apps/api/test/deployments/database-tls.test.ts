/**
 * What `sslmode` in DATABASE_URL does with a PostgreSQL that accepts TLS: the certificate is verified, and each mode
 * does what it requires.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkServer, migrate } from '@svc/store-pg';
import { createAuthority } from '@svc/testkit/outbound/certificates';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSeparateNodes } from '../world/api-process.ts';
import { type DebianPostgres, debianVersions, startDebianPostgres } from '../world/debian-postgres.ts';
import { call, createTenants, issueGrant, receiptOf, verifyBody } from '../world/tenants.ts';

const [oldest] = debianVersions;
if (oldest === undefined)
  console.warn('SKIPPED: TLS to the database, because no PostgreSQL of Debian is installed');

describe.skipIf(oldest === undefined)('a database with TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-database-tls-'));
  const [ours, another] = [join(folder, 'ours.pem'), join(folder, 'another.pem')];
  let server: DebianPostgres;
  let url: URL;
  beforeAll(async () => {
    server = await startDebianPostgres(oldest);
    const [authority, other] = [await createAuthority(), await createAuthority()];
    await server.takeTls(await authority.issue(['localhost']));
    writeFileSync(ours, authority.ca);
    writeFileSync(another, other.ca);
    url = new URL(await server.createDatabase('encrypted'));
  }, 60_000);
  afterAll(() => {
    server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const asked = (host: string, query: string) => {
    const to = new URL(`${url.href}?${query}`);
    to.hostname = host;
    return to.href;
  };
  const open = (host: string, query: string) => checkServer(asked(host, query), { mustBeDurable: false });

  it('gets only encrypted sessions from a node with sslmode=verify-full', async () => {
    const encrypted = asked('localhost', `sslmode=verify-full&sslrootcert=${ours}`);
    await migrate(encrypted);
    const nodes = await startSeparateNodes(1, encrypted);
    const baseUrl = nodes.processes[0]?.baseUrl ?? '';
    const tenants = await createTenants(baseUrl);
    const body = await verifyBody(tenants, await issueGrant(tenants));
    const decided = receiptOf(await call(baseUrl, 'POST', '/verify', { key: tenants.rpKey, body }));
    const [sessions] = await runSql<{ plain: string }>(
      url.href,
      `select count(*) as plain from pg_stat_ssl join pg_stat_activity using (pid)
       where datname = 'encrypted' and not ssl and pid <> pg_backend_pid()`,
    );
    await nodes.stop();
    expect([decided.decision, sessions?.plain]).toEqual(['ALLOW', '0']);
  });

  it.each(['require', 'verify-ca', 'verify-full'])(
    'is refused with sslmode=%s if its certificate is of another authority',
    async (mode) => {
      await expect(open('localhost', `sslmode=${mode}&sslrootcert=${another}`)).rejects.toThrow(
        /certificate/,
      );
    },
  );

  it('is refused with sslmode=verify-full under another name, and accepted with sslmode=no-verify', async () => {
    await expect(open('127.0.0.1', `sslmode=verify-full&sslrootcert=${ours}`)).rejects.toThrow(
      /altnames|IP/i,
    );
    await open('127.0.0.1', 'sslmode=no-verify');
  });
});
