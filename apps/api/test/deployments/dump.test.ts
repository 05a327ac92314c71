/**
 * A database that `pg_dump` or `pg_upgrade` moved to another server works with the service: spent Proofs stay spent,
 * revocations stay in force, every Receipt is there, fsck finds nothing, and no object of the schema differs, which
 * production would refuse. There is no fence, which would hold a restored database until `svc-admin restore`.
 */
import { checkDatabase, type Fault } from '@svc/fsck';
import { databaseUrl, execute } from '@svc/testkit/database';
import { isDeep } from '@svc/testkit/sampled';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { ApiNode, ApiNodes } from '../world/api-node.ts';
import { startSeparateNodes } from '../world/api-process.ts';
import {
  type DebianPostgres,
  debianVersions,
  startDebianPostgres,
  upgradePath,
} from '../world/debian-postgres.ts';
import {
  call,
  callUntilSettled,
  createTenants,
  issueGrant,
  receiptOf,
  verifyBody,
} from '../world/tenants.ts';

/** Milliseconds for a test: PostgreSQL's programs read and write a whole cluster on a busy machine. */
const TOOLS_MS = 240_000;
const [oldest] = debianVersions;
if (oldest === undefined)
  console.warn(
    'SKIPPED: pg_dump and restore, because no PostgreSQL of Debian with pg_dump and psql is installed',
  );
else if (upgradePath === null)
  console.warn('SKIPPED: pg_upgrade, because no PostgreSQL of Debian has it here');
else if (upgradePath.from === upgradePath.to)
  console.warn(
    `pg_upgrade goes from ${oldest} to ${oldest}: a newer PostgreSQL with pg_upgrade is not installed`,
  );

describe.skipIf(oldest === undefined)(
  'a database moved to another server keeps decisions, spent Proofs and revocations',
  () => {
    let server: DebianPostgres;
    const running: ApiNodes[] = [];
    beforeEach(async () => {
      server = await startDebianPostgres(oldest);
    });
    afterEach(async () => {
      await stopAll();
      server?.stop();
    });

    const start = async (url: string): Promise<ApiNode> => {
      // Connects as the owner, since permissions of roles are not moved.
      const nodes = await startSeparateNodes(1, url, { DATABASE_URL: url });
      running.push(nodes);
      return nodes.processes[0] ?? expect.unreachable();
    };
    const stopAll = () => Promise.all(running.splice(0).map((nodes) => nodes.stop()));

    /** `carry` resolves with the URL of the moved database. */
    const decidesAsBefore = async (from: string, carry: () => Promise<string>): Promise<void> => {
      const first = await start(from);
      const tenants = await createTenants(first.baseUrl);
      const decide = async ({ baseUrl }: ApiNode, body: unknown) =>
        receiptOf(await callUntilSettled(baseUrl, 'POST', '/verify', { key: tenants.rpKey, body }));
      const [grant, revoked] = [await issueGrant(tenants), await issueGrant(tenants)];
      const spent = await verifyBody(tenants, grant);
      const stored = await decide(first, spent);
      expect(stored.decision).toBe('ALLOW');
      await tenants.principal.grants.revoke(revoked.grantId);
      await stopAll();

      const to = await carry();
      const second = await start(to);
      expect((await decide(second, spent)).reason).toBe('PROOF_REPLAYED');
      expect((await decide(second, await verifyBody(tenants, revoked))).reason).toBe('AUTHORITY_REVOKED');
      expect((await decide(second, await verifyBody(tenants, grant))).decision).toBe('ALLOW');
      const path = `/decisions/${stored.receipt_id}`;
      const found = JSON.parse((await call(second.baseUrl, 'GET', path, { key: tenants.rpKey })).text);
      expect(found.receipt.receipt).toBe(stored.receipt);
      expect(second.log.filter((line) => line.includes('schema.differs'))).toEqual([]);
      await stopAll();

      const faults: Fault[] = [];
      await checkDatabase({ databaseUrl: to, onFault: (fault) => faults.push(fault) });
      expect(faults).toEqual([]);
    };

    it(
      'by pg_dump, to the same version',
      async () => {
        const [from, to] = [await server.createDatabase('dumped'), await server.createDatabase('restored')];
        await decidesAsBefore(from, async () => {
          await server.dumpInto(from, to);
          return to;
        });
      },
      TOOLS_MS,
    );

    it.runIf(isDeep)(
      'by pg_dump, to the embedded PostgreSQL',
      async () => {
        const from = await server.createDatabase('dumped');
        const adminUrl = inject('databaseAdminUrl');
        const name = `restored_${process.pid}`;
        await execute(adminUrl, `create database ${name} template template0`);
        try {
          await decidesAsBefore(from, async () => {
            await server.dumpInto(from, databaseUrl(adminUrl, name));
            return databaseUrl(adminUrl, name);
          });
        } finally {
          await execute(adminUrl, `drop database ${name} with (force)`);
        }
      },
      TOOLS_MS,
    );

    it.runIf(isDeep && upgradePath !== null)(
      'by pg_upgrade',
      async () => {
        const from = await server.createDatabase('upgraded');
        await decidesAsBefore(from, async () => {
          server.upgradeTo(upgradePath?.to ?? 0);
          return from;
        });
      },
      TOOLS_MS,
    );
  },
);
