/**
 * A budget of n allows exactly n, whichever node is asked (interface §Consumable Grants): concurrent verifications,
 * each with its own Proof, through two nodes. The same races against a commit that reads and then writes must overdraw;
 * otherwise they would prove nothing.
 */
import { randomBytes } from 'node:crypto';
import type { Action, Capability } from '@svc/protocol';
import { SERVICE_ROLE } from '@svc/testkit';
import { sampled, sampleOf } from '@svc/testkit/sampled';
import { alterFunction } from '@svc/testkit/store/session';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import {
  awayFromTheEndOf,
  bodyFor,
  buy,
  CALL,
  countAnswers,
  issueBudget,
  perPeriodOf,
  totalOf,
  usesOf,
} from '../world/budgets.ts';
import { withSeparateNodes } from '../world/deployment.ts';
import { type Answer, callUntilSettled, type HeldGrant, receiptOf, type Tenants } from '../world/tenants.ts';

const AT_ONCE = sampled({ quick: 32, deep: 64 });
const deployment = withSeparateNodes({}, 2);
const urlOf = (i: number) => deployment.processes[i % 2]?.baseUrl ?? '';

const V2 = { profile: 'svc-base-v2', verify_rate_limit_per_minute: 1_000_000 };
let tenants: Tenants;
beforeAll(async () => {
  tenants = await deployment.createTenants({ rp: V2 });
});

/**
 * On a busy machine a node may miss its deadline. The call is then repeated under the same idempotency key, which
 * yields one answer.
 */
const verify = (
  body: unknown,
  i: number,
  headers: Record<string, string> = { 'idempotency-key': randomBytes(16).toString('hex') },
  key = tenants.rpKey,
): Promise<Answer> => callUntilSettled(urlOf(i), 'POST', '/verify', { key, body, headers });

const race = async (capability: Capability, action: Action, nodeOf = (i: number) => i) => {
  const grant = await issueBudget(tenants, capability);
  const bodies = await Promise.all(Array.from({ length: AT_ONCE }, () => bodyFor(tenants, grant, action)));
  return { grant, bodies, answers: await Promise.all(bodies.map((body, i) => verify(body, nodeOf(i)))) };
};

const expectedOf = (allowed: number) => ({
  ...(allowed === 0 ? {} : { ALLOW: allowed }),
  ...(allowed === AT_ONCE ? {} : { AMOUNT_EXCEEDS_AUTHORITY: AT_ONCE - allowed }),
});

const logOf = async ({ grantId }: HeldGrant) => {
  const { rows } = await deployment.sql.query<{ events: string; receipts: string; uses: string | null }>(
    `select (select count(*) from consumption_events where grant_id = $1) as events,
       (select count(*) from receipts where grant_id = $1 and decision = 'ALLOW') as receipts,
       (select uses_spent from consumption_balances where grant_id = $1) as uses`,
    [grantId],
  );
  return {
    events: Number(rows[0]?.events),
    receipts: Number(rows[0]?.receipts),
    uses: Number(rows[0]?.uses ?? 0),
  };
};

describe(`${AT_ONCE} concurrent verifications on two nodes`, () => {
  it.each(
    sampleOf(
      Array.from({ length: AT_ONCE }, (_, n) => n),
      2,
    ),
  )('with %i uses get exactly that number of ALLOWs', async (n) => {
    const { grant, answers } = await race(usesOf(n), CALL);
    expect(countAnswers(answers)).toEqual(expectedOf(n));
    expect(await logOf(grant)).toEqual({ events: n, receipts: n, uses: n });
  });

  it.each(sampleOf([1_050, 0, 99, 100, 3_199, 6_300], 1))(
    'of amount 100 with a total of %i get floor(total / 100) ALLOWs',
    async (total) => {
      const { grant, answers } = await race(totalOf(total), buy(100));
      const n = Math.floor(total / 100);
      expect(countAnswers(answers)).toEqual(expectedOf(n));
      expect(await logOf(grant)).toEqual({ events: n, receipts: n, uses: n });
    },
  );

  const windows = [
    ['hour', 700],
    ['day', 2_499],
    ['week', 0],
    ['month', 6_300],
  ] as const;
  it.each(sampleOf(windows, 1))(
    'of amount 100 with a limit for each %s of %i get floor(limit / 100) ALLOWs',
    async (period, most) => {
      await awayFromTheEndOf(period, 10_000);
      const { answers } = await race(perPeriodOf(most, period), buy(100));
      expect(countAnswers(answers)).toEqual(expectedOf(Math.floor(most / 100)));
    },
  );

  it('are all allowed where the budget suffices, and each Receipt names another version', async () => {
    const { answers } = await race(usesOf(AT_ONCE), CALL);
    const versions = answers.map((answer) => receiptOf(answer).evidence.consumption?.version ?? -1);
    expect(versions.toSorted((a, b) => a - b)).toEqual(Array.from({ length: AT_ONCE }, (_, i) => i));
  });

  it('of the same request consume one use, with and without an Idempotency-Key', async () => {
    const grant = await issueBudget(tenants, usesOf(30));
    const body = await bodyFor(tenants, grant, CALL);
    const replays = await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => verify(body, i)));
    expect(countAnswers(replays)).toEqual({ ALLOW: 1, PROOF_REPLAYED: AT_ONCE - 1 });
    const other = await bodyFor(tenants, grant, CALL);
    const named = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, i) =>
        verify(other, i, { 'idempotency-key': grant.grantId.slice(-26) }),
      ),
    );
    expect(countAnswers(named)).toEqual({ ALLOW: AT_ONCE });
    expect(new Set(named.map(({ text }) => text)).size).toBe(1);
    expect(await logOf(grant)).toMatchObject({ events: 2, uses: 2 });
  });

  const USES = AT_ONCE / 4;
  it(`that are each sent twice consume the budget only once, so all ${USES} uses are allowed`, async () => {
    const grant = await issueBudget(tenants, usesOf(USES));
    const bodies = await Promise.all(
      Array.from({ length: AT_ONCE / 2 }, () => bodyFor(tenants, grant, CALL)),
    );
    const answers = await Promise.all([...bodies, ...bodies].map((body, i) => verify(body, i)));
    const { ALLOW, 503: unavailable } = countAnswers(answers);
    expect([ALLOW, unavailable]).toEqual([USES, undefined]);
  });
});

it('no request of the tests above was refused because of lost races', () => {
  const lines = deployment.processes.flatMap(({ log }) => log.filter((line) => line.includes('not settled')));
  expect(lines).toEqual([]);
});

it('during a change of profile each decision follows one profile or the other, and only ALLOWs consume', async () => {
  const other = await deployment.createTenants({ rp: V2 });
  const mine = { ...tenants, rpDid: other.rpDid, rpKey: other.rpKey };
  const grant = await issueBudget(tenants, usesOf((AT_ONCE * 5) / 8));
  const bodies = await Promise.all(Array.from({ length: AT_ONCE }, () => bodyFor(mine, grant, CALL)));
  const [answers] = await Promise.all([
    Promise.all(bodies.map((body, i) => verify(body, i, undefined, mine.rpKey))),
    deployment.call('PATCH', `/relying-parties/${mine.rpDid}`, {
      key: ADMIN_TOKEN,
      body: { profile: 'svc-base-v1' },
    }),
  ]);
  for (const answer of answers) {
    const { decision, reason, protocol } = receiptOf(answer);
    if (protocol.profile === 'svc-base-v1') expect(reason).toBe('UNKNOWN_CONSTRAINT');
    else expect(reason ?? decision).toMatch(/^(ALLOW|AMOUNT_EXCEEDS_AUTHORITY)$/);
  }
  const { ALLOW = 0 } = countAnswers(answers);
  expect(await logOf(grant)).toEqual({ events: ALLOW, receipts: ALLOW, uses: ALLOW });
});

describe('with commits that read and then write', () => {
  const alter = (name: string, part: string, replacement: string) =>
    alterFunction(deployment.databaseUrl, name, part, replacement);
  beforeAll(async () => {
    await deployment.sql.query(
      `create sequence any_version; grant usage on sequence any_version to ${SERVICE_ROLE}`,
    );
    await alter('svc_lock_balances', 'svc_take_lock(9, v_wanted.key, true, v_deadline)', 'true');
    await alter('svc_try_balances', 'pg_try_advisory_xact_lock(9, v_key)', 'true');
    await alter(
      'svc_judge_budgets',
      'not (p.holds and p.ordinal <= coalesce(p.first_lost, p.ordinal))',
      'false',
    );
    await alter('svc_is_within', 'p_spent + p_delta <= p_limit', 'true');
    await alter('svc_log_consumption', 'd.balances_version + 1', "nextval('any_version')");
  });

  it('budgets are overdrawn, so the tests above can fail', async () => {
    let above = 0;
    for (let tries = 0; tries < 20 && above === 0; tries++) {
      const { answers } = await race(usesOf(8), CALL);
      above = (countAnswers(answers).ALLOW ?? 0) - 8;
    }
    expect(above).toBeGreaterThan(0);
  });
});
