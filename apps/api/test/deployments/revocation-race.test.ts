/**
 * A revocation's 200 is a promise: no ALLOW of that Grant is committed after it, and none is dated after
 * `revoked_at` (protocol §9, §10). Raced over real sockets at two processes; the same races against a commit without
 * its lock must break the promise, or they would prove nothing.
 */
import { withDatabase } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import { alterFunction } from '@svc/testkit/store/session';
import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ApiProcesses, startApiProcesses } from '../world/api-process.ts';
import {
  call,
  callUntilSettled,
  createTenants,
  issueGrant,
  receiptOf,
  receiptUnlessRefused,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

const RACES = sampled({ quick: 20, deep: 300 });
/** Races between two looks at what they have found, and how long commits dawdle in them: a longer gap needs fewer. */
const BATCH = sampled({ quick: 10, deep: 20 });
const GAP_S = 0.1;
const MOST_RACES = 800;
const RACES_AT_ONCE = 10;
const VERIFIES_PER_RACE = 6;
/** Two calls each, under the 120 a minute that a key may make. */
const RACES_PER_PRINCIPAL = 50;

const database = withDatabase();
let api: ApiProcesses;
let sql: Pool;

beforeAll(async () => {
  sql = new Pool({ connectionString: database.url });
  // Its database is dropped under it in the end; an idle connection then breaks.
  sql.on('error', () => {});
  sql.on('connect', (client) => client.on('error', () => {}));
  // Sessions notice an altered function at their next call of it.
  api = await startApiProcesses(2, database.url);
});
afterAll(async () => {
  await api?.stop();
  await sql?.end();
});

interface Race {
  /** ALLOWs that became visible only after the 200. */
  readonly late: number;
  /** ALLOWs dated after `revoked_at`. */
  readonly postdated: number;
  readonly allowed: number;
  readonly denied: number;
}

const allowsOf = async (grantId: string) => {
  const { rows } = await sql.query<{ receipt_id: string; at: number }>(
    "select receipt_id, (extract(epoch from evaluated_at) * 1000)::float8 as at from receipts where grant_id = $1 and decision = 'ALLOW'",
    [grantId],
  );
  return rows.map((row) => Number(row.at));
};

const race = async (tenants: Tenants): Promise<Race> => {
  const grant = await issueGrant(tenants);
  const bodies = await Promise.all(
    Array.from({ length: VERIFIES_PER_RACE }, () => verifyBody(tenants, grant)),
  );
  const verifies = bodies.map((body, i) =>
    call(api.processes[i % 2]?.baseUrl ?? '', 'POST', '/verify', { key: tenants.rpKey, body }),
  );
  const { status, text } = await callUntilSettled(api.processes[0]?.baseUrl ?? '', 'POST', '/revoke', {
    key: tenants.principalKey,
    body: { grant_id: grant.grantId },
  });
  const atOnce = (await allowsOf(grant.grantId)).length;
  expect(status).toBe(200);
  const revokedAtMs = Date.parse((JSON.parse(text) as { revoked_at: string }).revoked_at);
  const receipts = (await Promise.all(verifies)).map(receiptUnlessRefused);
  const inTheEnd = await allowsOf(grant.grantId);
  const after = receiptOf(
    await callUntilSettled(api.processes[1]?.baseUrl ?? '', 'POST', '/verify', {
      key: tenants.rpKey,
      body: await verifyBody(tenants, grant),
    }),
  );
  expect(after.reason).toBe('AUTHORITY_REVOKED');
  return {
    late: inTheEnd.length - atOnce,
    postdated: inTheEnd.filter((at) => at > revokedAtMs).length,
    allowed: receipts.filter((receipt) => receipt?.decision === 'ALLOW').length,
    denied: receipts.filter((receipt) => receipt?.reason === 'AUTHORITY_REVOKED').length,
  };
};

const runRaces = async (count: number): Promise<Race> => {
  const totals = { late: 0, postdated: 0, allowed: 0, denied: 0 };
  let tenants = await createTenants(api.processes[0]?.baseUrl ?? '');
  for (let done = 0; done < count; done += RACES_AT_ONCE) {
    if (done > 0 && done % RACES_PER_PRINCIPAL === 0)
      tenants = await createTenants(api.processes[0]?.baseUrl ?? '');
    const current = tenants;
    for (const one of await Promise.all(Array.from({ length: RACES_AT_ONCE }, () => race(current))))
      for (const key of Object.keys(totals) as (keyof Race)[]) totals[key] += one[key];
  }
  return totals;
};

const JUDGED = '  if v_any.caps then\n    v_outcomes := svc_judge_caps';
const originals: string[] = [];
/** Replaces a part of a function of the commit, until the end of the test. */
const alter = async (name: string, part: string, replacement: string): Promise<void> => {
  originals.push(await alterFunction(database.url, name, part, replacement));
};
/** Widens the gap between judging a decision and committing it, the same for both variants. */
const slowDown = () => alter('svc_commit_decisions', JUDGED, `  perform pg_sleep(${GAP_S});\n${JUDGED}`);
const takeNoPrincipalLock = () => alter('svc_take_locks', '(1, hashtext(d.used_principal), false),', '');

describe('revocations against verifies at two processes', () => {
  afterEach(async () => {
    for (const source of originals.splice(0).reverse()) await sql.query(source);
  });

  it(`${RACES} races: no ALLOW after the 200, none dated after revoked_at`, async () => {
    const { late, postdated, allowed, denied } = await runRaces(RACES);
    expect({ late, postdated }).toEqual({ late: 0, postdated: 0 });
    expect(allowed).toBeGreaterThan(0);
    expect(denied).toBeGreaterThan(0);
  }, 300_000);

  it('the promise holds when every commit dawdles between judging and storing', async () => {
    await slowDown();
    const { late, postdated } = await runRaces(BATCH);
    expect({ late, postdated }).toEqual({ late: 0, postdated: 0 });
  }, 120_000);

  it('the same races break it without the lock: the test can fail', async () => {
    await slowDown();
    await takeNoPrincipalLock();
    let late = 0;
    for (let done = 0; done < MOST_RACES && late === 0; done += BATCH) late += (await runRaces(BATCH)).late;
    expect(late).toBeGreaterThan(0);
  }, 300_000);
});
