/**
 * Steps of real clocks, under libfaketime: of the database's machine only, of the node's only, of both; ahead by 26
 * hours and back by five minutes. Tests without the library cover the decisions that depend on them (store-pg,
 * clock-steps.test.ts; service, clock/).
 */
import { checkDatabase } from '@svc/fsck';
import { type OwnCluster, startOwnCluster } from '@svc/testkit/own-cluster';
import { createSteppedClock, findFaketime, type SteppedClock } from '@svc/testkit/process/stepped-clock';
import { sampleOf } from '@svc/testkit/sampled';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { type ApiProcess, type ApiProcesses, startApiProcesses } from '../world/api-process.ts';
import {
  type Answer,
  call,
  createTenants,
  type HeldGrant,
  issueGrant,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

const library = findFaketime();
if (library === null)
  console.warn(
    'SKIPPED: steps of real clocks. libfaketime is not installed (Debian: apt-get install faketime)',
  );

const AHEAD_S = 26 * 3_600;
const BACK_S = -300;
/** Allows for a beat of 5 s on a loaded machine. */
const NOTICED = { timeout: 20_000, interval: 250 };

describe.skipIf(library === null)('a step of a real clock', () => {
  let database: SteppedClock;
  let node: SteppedClock;
  let cluster: OwnCluster;
  let processes: ApiProcesses;
  let tenants: Tenants;
  let grant: HeldGrant;
  beforeAll(async () => {
    database = createSteppedClock(library ?? '');
    node = createSteppedClock(library ?? '');
    cluster = await startOwnCluster({ durable: false, env: database.env });
    processes = await startApiProcesses(1, cluster.url, node.env);
    tenants = await createTenants(api().baseUrl);
    grant = await issueGrant(tenants);
  }, 60_000);
  afterAll(async () => {
    await processes?.stop();
    await cluster?.stop();
    for (const clock of [database, node]) clock?.remove();
  });
  afterEach(async () => {
    setClocks(0, 0);
    await expect.poll(isReady, NOTICED).toBe(true);
  });

  const api = (): ApiProcess => {
    const [process] = processes.processes;
    if (process === undefined) throw new Error('no process');
    return process;
  };
  const setClocks = (databaseSeconds: number, nodeSeconds: number) => {
    database.set(databaseSeconds);
    node.set(nodeSeconds);
  };
  const readyz = () => call(api().adminUrl, 'GET', '/readyz');
  const isReady = async () => (await readyz()).status === 200;
  const verify = async (held = grant): Promise<Answer> =>
    call(api().baseUrl, 'POST', '/verify', { key: tenants.rpKey, body: await verifyBody(tenants, held) });
  /** Milliseconds by which the Receipt's date differs from the present; null where nothing was decided. */
  const datedOffMs = ({ status, text }: Answer): number | null =>
    status === 200 ? Math.abs(Date.parse(JSON.parse(text).evaluated_at) - Date.now()) : null;
  const closedDays = () => runSql(cluster.url, 'select day from closed_days where day >= current_date');
  const faults = async () => {
    const found: string[] = [];
    await checkDatabase({
      databaseUrl: cluster.url,
      onFault: ({ check, where, problem }) => found.push(`${check}: ${where}: ${problem}`),
    });
    return found;
  };

  const STEPS: [string, number][] = [
    ['ahead by 26 hours', AHEAD_S],
    ['back by five minutes', BACK_S],
  ];
  const seen = STEPS.flatMap(([step, seconds]): [string, string, number, number][] => [
    [step, 'the database alone', seconds, 0],
    [step, 'both machines', seconds, seconds],
  ]);
  it.each(sampleOf(seen, 1))(
    '%s, of %s: no decision, date or closed day uses the wrong time, and fsck finds nothing afterwards',
    async (_, _machines, databaseS, nodeS) => {
      const revoked = await issueGrant(tenants);
      expect((await verify(revoked)).status).toBe(200);
      setClocks(databaseS, nodeS);
      const answers: Answer[] = [];
      await expect
        .poll(async () => {
          answers.push(await verify());
          return isReady();
        }, NOTICED)
        .toBe(false);
      answers.push(await verify());
      for (const off of answers.map(datedOffMs)) expect(off ?? 0).toBeLessThan(5_000);
      expect(answers.at(-1)?.status).toBe(503);
      expect(JSON.parse((await readyz()).text).checks.clock).toContain("the database's clock is");

      const closing = await call(api().baseUrl, 'POST', '/checkpoints/close', { key: ADMIN_TOKEN });
      expect(closing.status).toBe(503);
      await tenants.principal.grants.revoke(revoked.grantId);

      setClocks(0, 0);
      await expect.poll(isReady, NOTICED).toBe(true);
      expect(datedOffMs(await verify())).toBeLessThan(5_000);
      expect(await closedDays()).toEqual([]);
      expect(await faults()).toEqual([]);
    },
    90_000,
  );

  it.each(sampleOf(STEPS, 1))(
    '%s, of the node alone: decisions continue with the right time',
    async (_, seconds) => {
      setClocks(0, seconds);
      for (let i = 0; i < 5; i++) expect(datedOffMs(await verify())).toBeLessThan(5_000);
      await expect.poll(isReady, NOTICED).toBe(true);
      expect(await faults()).toEqual([]);
    },
    60_000,
  );
});
