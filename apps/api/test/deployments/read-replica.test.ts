/**
 * Reports read from a streaming replica (DATABASE_READ_URL): a caller that got a Receipt from any node finds it in all
 * reports, whatever the state of the replica, and no decision depends on the replica.
 */
import { type OwnCluster, startOwnCluster, startStandby } from '@svc/testkit';
import { isDeep } from '@svc/testkit/sampled';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiNodes, type InnerNode, startApiNodes } from '../world/api-node.ts';
import { debianVersions, startDebianPostgres } from '../world/debian-postgres.ts';
import {
  call,
  callJson,
  createTenants,
  issueGrant,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

/** Two nodes, of which the second reads reports on the replica. The first may be one that runs already. */
const startNodes = async (databaseUrl: string, replicaUrl: string, running?: InnerNode) => {
  const started: ApiNodes<InnerNode>[] = [];
  const startOne = async (env: Readonly<Record<string, string>>) => {
    const nodes = await startApiNodes(1, databaseUrl, env);
    started.push(nodes);
    return nodes.processes[0] as InnerNode;
  };
  const plain = running ?? (await startOne({}));
  const reporting = await startOne({ DATABASE_READ_URL: replicaUrl });
  return { plain, reporting, stop: () => Promise.all(started.map((one) => one.stop())) };
};
type Nodes = Awaited<ReturnType<typeof startNodes>>;

const faultOf = ({ service }: InnerNode) => service.store.describeReplica()?.fault ?? null;
const untilInStep = (node: InnerNode) => expect.poll(() => faultOf(node)).toBeNull();

/** Has the first node decide, and finds the decision in every report of the second as soon as it is answered. */
const decideAndFind = async (
  { plain, reporting }: Nodes,
  tenants: Tenants,
  decided: string[],
): Promise<void> => {
  const body = await verifyBody(tenants, await issueGrant(tenants));
  const { receipt_id } = receiptOf(
    await call(plain.baseUrl, 'POST', '/verify', { key: tenants.rpKey, body }),
  );
  decided.unshift(receipt_id);
  const get = (path: string, key = tenants.rpKey) => callJson<Body>(reporting.baseUrl, 'GET', path, { key });
  const [list, stats, usage, exported] = await Promise.all([
    get('/decisions?limit=200'),
    get('/decisions/stats'),
    get('/usage', tenants.principalKey),
    call(reporting.baseUrl, 'GET', '/decisions/export', { key: tenants.rpKey }),
  ]);
  expect(list.decisions?.map((one) => one.receipt_id)).toEqual(decided);
  expect([stats.totals?.verifies, usage.totals?.verifies]).toEqual([decided.length, decided.length]);
  const rows = exported.text.trimEnd().split('\n');
  expect(rows.map((row) => (JSON.parse(row) as { receipt_id: string }).receipt_id)).toEqual(decided);
};
interface Body {
  readonly decisions?: readonly { readonly receipt_id: string }[];
  readonly totals?: { readonly verifies: number };
}

const metricOf = async ({ adminUrl }: InnerNode, name: string): Promise<number> => {
  const { text } = await call(adminUrl, 'GET', '/metrics');
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1] ?? Number.NaN,
  );
};
const READS = 'svc_report_reads_total';

describe('with a standby', () => {
  let primary: OwnCluster;
  let standby: OwnCluster;
  let nodes: Nodes;
  let tenants: Tenants;
  const decided: string[] = [];
  beforeAll(async () => {
    primary = await startOwnCluster({ durable: false });
    standby = await startStandby(primary);
    nodes = await startNodes(primary.url, standby.url);
    tenants = await createTenants(nodes.plain.baseUrl);
  }, 120_000);
  afterAll(async () => {
    await nodes?.stop();
    await standby?.stop();
    await primary?.stop();
  }, 60_000);

  it('reports are read from it and contain every earlier decision of any node; metrics show the server and its delay', async () => {
    await untilInStep(nodes.reporting);
    for (let round = 0; round < 3; round++) await decideAndFind(nodes, tenants, decided);
    const metrics = await callJson<{ receipts_total: number }>(nodes.reporting.baseUrl, 'GET', '/metrics');
    expect(metrics.receipts_total).toBe(decided.length);
    expect(await metricOf(nodes.reporting, `${READS}{server="replica"}`)).toBeGreaterThan(0);
    expect(await metricOf(nodes.reporting, 'svc_replica_behind_seconds')).toBeLessThan(60);
    expect(await metricOf(nodes.plain, 'svc_replica_behind_seconds')).toBeNaN();
    expect(nodes.reporting.log.join()).toContain('"replica.in_step"');
  });

  it('that is frozen, decisions and revocations work, reports are read from the primary, and the node stays ready', async () => {
    const { reporting } = nodes;
    const grant = await issueGrant(tenants);
    const verify = async () => {
      const body = await verifyBody(tenants, grant);
      return receiptOf(await call(reporting.baseUrl, 'POST', '/verify', { key: tenants.rpKey, body }));
    };
    standby.signal('SIGSTOP');
    try {
      const first = await verify();
      decided.unshift(first.receipt_id);
      expect(first.decision).toBe('ALLOW');
      await decideAndFind(nodes, tenants, decided);
      await tenants.principal.grants.revoke(grant.grantId);
      const second = await verify();
      decided.unshift(second.receipt_id);
      expect(second.reason).toBe('AUTHORITY_REVOKED');
      await expect.poll(() => faultOf(reporting)).not.toBeNull();
      const ready = await call(reporting.adminUrl, 'GET', '/readyz');
      expect(JSON.parse(ready.text)).toMatchObject({ ok: true, checks: { replica: faultOf(reporting) } });
      await decideAndFind(nodes, tenants, decided);
    } finally {
      standby.signal('SIGCONT');
    }
    await untilInStep(reporting);
    const before = await metricOf(reporting, `${READS}{server="replica"}`);
    await decideAndFind(nodes, tenants, decided);
    expect(await metricOf(reporting, `${READS}{server="replica"}`)).toBeGreaterThan(before);
  });

  it('that is unreachable, a node starts and reads reports from the primary', async () => {
    const url = new URL(standby.url);
    const away = await startNodes(primary.url, standby.url.replace(url.host, '127.0.0.1:1'), nodes.plain);
    try {
      await decideAndFind(away, tenants, decided);
      expect(away.reporting.log.join()).toContain('"replica.not_reached"');
      expect(await metricOf(away.reporting, `${READS}{server="replica"}`)).toBe(0);
    } finally {
      await away.stop();
    }
  });

  it('a read-only role is sufficient for the reports', async () => {
    await runSql(primary.adminUrl, `create role reports login password 'reports'`);
    await runSql(primary.adminUrl, 'grant pg_read_all_data to reports');
    const url = Object.assign(new URL(standby.url), { username: 'reports', password: 'reports' });
    const other = await startNodes(primary.url, url.href, nodes.plain);
    try {
      await untilInStep(other.reporting);
      await decideAndFind(other, tenants, decided);
      expect(await metricOf(other.reporting, `${READS}{server="primary"}`)).toBe(0);
    } finally {
      await other.stop();
    }
  });
});

const [debian] = debianVersions;
it.runIf(isDeep && debian !== undefined)(
  'reports are complete with a Debian PostgreSQL standby, also while its replay is paused',
  async () => {
    const server = await startDebianPostgres(debian);
    try {
      const primary = await server.createDatabase('svc');
      const standby = await server.startStandby('svc');
      const nodes = await startNodes(primary, standby);
      try {
        const tenants = await createTenants(nodes.plain.baseUrl);
        const decided: string[] = [];
        for (const change of ['select 1', 'select pg_wal_replay_pause()', 'select pg_wal_replay_resume()']) {
          await untilInStep(nodes.reporting);
          await runSql(standby, change);
          for (let round = 0; round < 3; round++) await decideAndFind(nodes, tenants, decided);
          if (change.includes('pause')) {
            await expect.poll(() => faultOf(nodes.reporting)).toContain('behind');
            await runSql(standby, 'select pg_wal_replay_resume()');
          }
        }
        for (const which of ['replica', 'primary'])
          expect(await metricOf(nodes.reporting, `${READS}{server="${which}"}`)).toBeGreaterThan(0);
      } finally {
        await nodes.stop();
      }
    } finally {
      server.stop();
    }
  },
);
