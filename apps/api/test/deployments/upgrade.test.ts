/**
 * A fleet is upgraded node by node (docs/operations.md, "Upgrades"): the API of the last release and this one run on
 * one schema for a while, the released one can start again on it, and neither undoes what the other has answered. The
 * same with a migration that at once drops what the released version needs must break it; otherwise this would prove
 * nothing.
 */
import { createVerifier } from '@svc/sdk-rp';
import { grantService, listMigrations, migrate, migrationOf } from '@svc/store-pg';
import { createDatabase, type DroppableDatabase, SERVICE_ROLE } from '@svc/testkit';
import { isDeep, sampled } from '@svc/testkit/sampled';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ApiNode, type ApiNodes, DOMAIN } from '../world/api-node.ts';
import { type ApiProcess, startApiProcess, startSeparateNodes, stopAtOnce } from '../world/api-process.ts';
import { type ReleasedApi, unpackReleasedApi } from '../world/released-api.ts';
import {
  call,
  callUntilSettled,
  createTenants,
  type HeldGrant,
  issueGrant,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

const CLIENTS = 4;
/** Migrations between two decisions of the last release. */
const STEP = sampled({ quick: 8, deep: 1 });
/** The HTTP request for which `verifyBody` makes Proofs. */
const REQUEST = { method: 'POST', url: 'https://shop.example/orders' };

let released: ReleasedApi;
const databases: DroppableDatabase[] = [];
const running = new Set<ApiProcess>();
const ofThisVersion: ApiNodes[] = [];

beforeAll(() => {
  released = unpackReleasedApi();
});
afterAll(async () => {
  await Promise.all([...running].map(stopAtOnce));
  await Promise.all(ofThisVersion.map((nodes) => nodes.stop()));
  await Promise.all(databases.map((database) => database.drop()));
  released?.remove();
});

/**
 * A database as the last release made it, for the service as a role that owns nothing. Resolves with the URL of its
 * owner.
 */
const createReleasedDatabase = async (): Promise<string> => {
  const admin = inject('databaseAdminUrl');
  const empty = new URL(admin);
  empty.pathname = '/template1';
  const database = await createDatabase(admin, empty.href);
  databases.push(database);
  await migrate(database.url, { migrations: listMigrations().slice(0, released.migrations.length) });
  await grantService(database.url, SERVICE_ROLE);
  return database.url;
};

const start = async (databaseUrl: string, file?: string): Promise<ApiProcess> => {
  const node = await startApiProcess(databaseUrl, {}, file);
  running.add(node);
  return node;
};

const stop = async (node: ApiProcess): Promise<number | null> => {
  running.delete(node);
  return stopAtOnce(node);
};

const outcomeOf = async ({ baseUrl }: ApiNode, tenants: Tenants, body: unknown): Promise<string> =>
  receiptOf(await callUntilSettled(baseUrl, 'POST', '/verify', { key: tenants.rpKey, body })).reason ??
  'ALLOW';

const decide = async (node: ApiNode, tenants: Tenants, grant: HeldGrant): Promise<string> =>
  outcomeOf(node, tenants, await verifyBody(tenants, grant));

const revoke = ({ baseUrl }: ApiNode, { principalKey }: Tenants, { grantId }: HeldGrant) =>
  call(baseUrl, 'POST', '/revoke', { key: principalKey, body: { grant_id: grantId } });

describe('the last release', () => {
  it('has migrations that are unchanged in this version and come first', () => {
    const own = listMigrations();
    for (const name of released.migrations)
      expect(own.find((one) => one.name === name)?.sql, name).toBe(released.readMigration(name));
    expect(own.slice(0, released.migrations.length).map(({ name }) => name)).toEqual(released.migrations);
  });

  it(`continues to decide after ${STEP === 1 ? 'each migration' : `every ${STEP} migrations`} of this version; both versions respect revocations and spent Proofs of each other`, async () => {
    const databaseUrl = await createReleasedDatabase();
    const old = await start(databaseUrl, released.file);
    const tenants = await createTenants(old.baseUrl);
    const [grant, revoked, revokedLater] = [
      await issueGrant(tenants),
      await issueGrant(tenants),
      await issueGrant(tenants),
    ];
    const spent = await verifyBody(tenants, grant);
    const stored = receiptOf(
      await callUntilSettled(old.baseUrl, 'POST', '/verify', { key: tenants.rpKey, body: spent }),
    );
    expect(stored.decision).toBe('ALLOW');
    expect((await revoke(old, tenants, revoked)).status).toBe(200);

    const own = listMigrations();
    for (let count = released.migrations.length; count < own.length; ) {
      count = Math.min(count + STEP, own.length);
      await migrate(databaseUrl, { migrations: own.slice(0, count) });
      expect(await decide(old, tenants, grant), own[count - 1]?.name).toBe('ALLOW');
    }
    // Also runs what `migrate` does after the last migration.
    await migrate(databaseUrl);
    const present = await startSeparateNodes(1, databaseUrl);
    ofThisVersion.push(present);
    const young = present.processes[0] ?? expect.unreachable();
    // In a sample the running node of the released version stands for one that starts again.
    const again = isDeep ? [await start(databaseUrl, released.file)] : [];
    const nodes: ApiNode[] = [old, young, ...again];

    for (const node of nodes) {
      expect(await decide(node, tenants, grant)).toBe('ALLOW');
      expect(await decide(node, tenants, revoked)).toBe('AUTHORITY_REVOKED');
      expect(await outcomeOf(node, tenants, spent)).toBe('PROOF_REPLAYED');
      const found = await call(node.baseUrl, 'GET', `/decisions/${stored.receipt_id}`, {
        key: tenants.rpKey,
      });
      expect(JSON.parse(found.text).receipt.receipt).toBe(stored.receipt);
    }
    const crossing = await verifyBody(tenants, grant);
    expect(await outcomeOf(young, tenants, crossing)).toBe('ALLOW');
    expect(await outcomeOf(old, tenants, crossing)).toBe('PROOF_REPLAYED');
    expect((await revoke(young, tenants, revokedLater)).status).toBe(200);
    for (const node of nodes) expect(await decide(node, tenants, revokedLater)).toBe('AUTHORITY_REVOKED');
    await Promise.all([old, ...again].map(stop));
  });

  it.runIf(isDeep)(
    'is replaced node by node under load: clients with the SDK see no failure, and every answer is stored',
    async () => {
      const databaseUrl = await createReleasedDatabase();
      const fleet = [await start(databaseUrl, released.file), await start(databaseUrl, released.file)];
      const [first] = fleet;
      if (first === undefined) throw new Error('two were started');
      const tenants = await createTenants(first.baseUrl);
      const grant = await issueGrant(tenants);
      let calls = 0;
      /**
       * Does what a proxy does: asks the next node in turn. A node that is gone breaks the connection, and the SDK
       * repeats the call.
       */
      const throughTheFleet: typeof fetch = (input, init) => {
        const node = fleet[calls++ % fleet.length] ?? first;
        return fetch(String(input).replace(first.baseUrl, node.baseUrl), init);
      };
      const verifier = createVerifier({
        baseUrl: first.baseUrl,
        apiKey: tenants.rpKey,
        serviceDid: `did:web:${DOMAIN}`,
        fetch: throughTheFleet,
      });
      const receipts: string[] = [];
      let isOver = false;
      const client = async () => {
        while (!isOver) {
          const verdict = await verifier.verify({ ...(await verifyBody(tenants, grant)), request: REQUEST });
          if (!verdict.allowed) throw new Error(`denied: ${verdict.reason}`);
          receipts.push(verdict.receipt.receipt_id);
        }
      };
      const clients = Promise.all(Array.from({ length: CLIENTS }, client));
      const upgrade = async () => {
        await migrate(databaseUrl);
        for (const old of [...fleet]) {
          fleet[fleet.indexOf(old)] = await start(databaseUrl);
          running.delete(old);
          expect(await old.stop()).toBe(0);
        }
      };
      await Promise.race([clients, upgrade()]).finally(() => {
        isOver = true;
      });
      await clients;
      expect(receipts.length).toBeGreaterThan(2 * CLIENTS);
      const [young] = fleet;
      if (young === undefined) throw new Error('two were started');
      for (const id of receipts.slice(-100))
        expect((await call(young.baseUrl, 'GET', `/decisions/${id}`, { key: tenants.rpKey })).status).toBe(
          200,
        );
      await Promise.all(fleet.map(stop));
    },
    240_000,
  );

  it.runIf(isDeep)(
    'fails with 503 after a migration that removes what it needs, and does not start, so the tests above can fail',
    async () => {
      const databaseUrl = await createReleasedDatabase();
      const old = await start(databaseUrl, released.file);
      const tenants = await createTenants(old.baseUrl);
      const grant = await issueGrant(tenants);
      expect(await decide(old, tenants, grant)).toBe('ALLOW');
      const contraction = migrationOf('9999-contraction', 'alter table receipts rename column agent to who');
      await migrate(databaseUrl, { migrations: [...listMigrations(), contraction] });
      const body = await verifyBody(tenants, grant);
      const { status } = await call(old.baseUrl, 'POST', '/verify', { key: tenants.rpKey, body });
      expect(status).toBe(503);
      await expect(start(databaseUrl, released.file)).rejects.toThrow('start a later version');
      await stop(old);
    },
  );
});
