/**
 * A `pg_dump` restores into a service that decides: what was spent stays spent, what was revoked stays revoked, every Receipt
 * is there, and fsck finds nothing. Without a fence, which would hold a restored database until `svc-admin restore`.
 */
import { spawnSync } from 'node:child_process';
import { programFile } from '@svc/testkit/process/program-file';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiProcess, startApiProcess } from '../world/api-process.ts';
import { type DebianPostgres, hasDebianPostgres, startDebianPostgres } from '../world/debian-postgres.ts';
import { call, createTenants, issueGrant, receiptOf, verifyBody } from '../world/tenants.ts';

if (!hasDebianPostgres)
  console.warn('SKIPPED: pg_dump and restore, because there is no PostgreSQL 15 of Debian');

describe.skipIf(!hasDebianPostgres)('a dump', () => {
  let server: DebianPostgres;
  const running: ApiProcess[] = [];
  beforeAll(async () => {
    server = await startDebianPostgres();
  });
  afterAll(async () => {
    await Promise.all(running.map((node) => node.stop()));
    server?.stop();
  });

  const start = async (databaseUrl: string): Promise<ApiProcess> => {
    const node = await startApiProcess(databaseUrl);
    running.push(node);
    return node;
  };

  it('restores into a database that decides as the first one did, and in which fsck finds nothing', async () => {
    const [from, to] = [await server.createDatabase('dumped'), await server.createDatabase('restored')];
    const first = await start(from);
    const tenants = await createTenants(first.baseUrl);
    const decide = async ({ baseUrl }: ApiProcess, body: unknown) =>
      receiptOf(await call(baseUrl, 'POST', '/verify', { key: tenants.rpKey, body }));
    const [grant, revoked] = [await issueGrant(tenants), await issueGrant(tenants)];
    const spent = await verifyBody(tenants, grant);
    const stored = await decide(first, spent);
    expect(stored.decision).toBe('ALLOW');
    await tenants.principal.grants.revoke(revoked.grantId);
    await first.stop();

    await server.dumpInto(from, to);
    const second = await start(to);
    expect((await decide(second, spent)).reason).toBe('PROOF_REPLAYED');
    expect((await decide(second, await verifyBody(tenants, revoked))).reason).toBe('AUTHORITY_REVOKED');
    expect((await decide(second, await verifyBody(tenants, grant))).decision).toBe('ALLOW');
    const path = `/decisions/${stored.receipt_id}`;
    const found = JSON.parse((await call(second.baseUrl, 'GET', path, { key: tenants.rpKey })).text);
    expect(found.receipt.receipt).toBe(stored.receipt);
    await second.stop();

    const fsck = spawnSync(process.execPath, [programFile('apps/admin'), 'fsck'], {
      encoding: 'utf8',
      timeout: 30_000,
      env: { PATH: process.env.PATH, DATABASE_URL: to },
    });
    expect([fsck.status, fsck.stderr]).toEqual([0, '']);
  });
});
