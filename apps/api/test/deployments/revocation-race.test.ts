/**
 * A revocation's 200 is a promise: no ALLOW of that Grant is committed after it, and none is dated after `revoked_at`
 * (protocol §9, §10). Raced over real sockets at two nodes. The same races against a commit without its lock must break
 * the promise; otherwise they would prove nothing.
 */
import { withDatabase } from '@svc/testkit';
import { isDeep, sampled } from '@svc/testkit/sampled';
import { alterFunction } from '@svc/testkit/store/session';
import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ApiNodes } from '../world/api-node.ts';
import { startSeparateNodes } from '../world/api-process.ts';
import {
  addRaces,
  DAWDLE,
  NO_PRINCIPAL_LOCK,
  NO_RACE,
  type Race,
  raceAgainst,
} from '../world/take-away-race.ts';
import { createTenants, type Tenants } from '../world/tenants.ts';

const RACES = sampled({ quick: 2, deep: 300 });
/**
 * Races between two checks of their results, and the delay of commits in them: with a longer delay fewer races are
 * enough.
 */
const BATCH = 20;
const GAP_S = 0.1;
const MAX_RACES = 800;
/** In a sample one, so that the call is sent while a commit of its own race is delayed. */
const RACES_AT_ONCE = sampled({ quick: 1, deep: 10 });
/** Each makes two calls, below the limit of 120 a minute of a key. */
const RACES_PER_PRINCIPAL = 50;

const database = withDatabase();
let api: ApiNodes;
let sql: Pool;

beforeAll(async () => {
  sql = new Pool({ connectionString: database.url });
  // The database is dropped at the end, which breaks idle connections.
  sql.on('error', () => {});
  sql.on('connect', (client) => client.on('error', () => {}));
  // Sessions use an altered function from their next call of it.
  api = await startSeparateNodes(2, database.url);
});
afterAll(async () => {
  await api?.stop();
  await sql?.end();
});

const race = (tenants: Tenants): Promise<Race> =>
  raceAgainst(
    api,
    sql,
    tenants,
    ({ grantId }) => ({
      ...{ path: '/revoke', key: tenants.principalKey, body: { grant_id: grantId } },
      ...{ at: 'revoked_at', reason: 'AUTHORITY_REVOKED' },
    }),
    originals.length > 0,
  );

const runRaces = async (count: number): Promise<Race> => {
  let totals = NO_RACE;
  let tenants = await createTenants(api.processes[0]?.baseUrl ?? '');
  for (let done = 0; done < count; done += RACES_AT_ONCE) {
    if (done > 0 && done % RACES_PER_PRINCIPAL === 0)
      tenants = await createTenants(api.processes[0]?.baseUrl ?? '');
    const current = tenants;
    const raced = await Promise.all(Array.from({ length: RACES_AT_ONCE }, () => race(current)));
    totals = raced.reduce(addRaces, totals);
  }
  return totals;
};

const isDecidedBothWays = ({ allowed, denied }: Race): boolean => allowed > 0 && denied > 0;

const originals: string[] = [];
/** Replaces a part of a function of the commit until the end of the test. */
const alter = async (name: string, part: string, replacement: string): Promise<void> => {
  originals.push(await alterFunction(database.url, name, part, replacement));
};
/** Widens the gap between judging a decision and committing it, the same for both variants. */
const slowDown = () => alter(...DAWDLE(GAP_S));
const takeNoPrincipalLock = () => alter(...NO_PRINCIPAL_LOCK);

describe('revocations against verifies at two nodes', () => {
  afterEach(async () => {
    for (const source of originals.splice(0).reverse()) await sql.query(source);
  });

  // In a sample they are those of the next test too.
  it(`${RACES} races: no ALLOW is stored after the 200 or dated after revoked_at`, async () => {
    if (!isDeep) await slowDown();
    let totals = await runRaces(RACES);
    // Which side wins depends on the machine: the races continue until each has won once.
    for (let more = RACES; more < MAX_RACES && !isDecidedBothWays(totals); more += RACES_AT_ONCE)
      totals = addRaces(totals, await runRaces(RACES_AT_ONCE));
    const { late, postdated } = totals;
    expect({ late, postdated }).toEqual({ late: 0, postdated: 0 });
    expect(isDecidedBothWays(totals)).toBe(true);
  }, 300_000);

  it.runIf(isDeep)(
    'no late or postdated ALLOW occurs with a delay between judging and storing in every commit',
    async () => {
      await slowDown();
      const { late, postdated } = await runRaces(BATCH);
      expect({ late, postdated }).toEqual({ late: 0, postdated: 0 });
    },
    120_000,
  );

  // In a sample the races at the store show it.
  it.runIf(isDeep)(
    'late ALLOWs occur without the lock, so the tests above can fail',
    async () => {
      await slowDown();
      await takeNoPrincipalLock();
      let late = 0;
      for (let done = 0; done < MAX_RACES && late === 0; done += BATCH) late += (await runRaces(BATCH)).late;
      expect(late).toBeGreaterThan(0);
    },
    300_000,
  );
});
