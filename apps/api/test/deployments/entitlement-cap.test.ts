/**
 * A cap of n covers exactly n checks, whichever node is asked (interface §Entitlement): concurrent verifications,
 * each with its own Proof, through two nodes. A refused call does not spend the Proof, which is allowed once the cap
 * has room. The same races against a commit whose batches share the org's lock must exceed the cap; otherwise they
 * would prove nothing.
 */
import { randomUUID } from 'node:crypto';
import { isDeep, sampled, sampleOf } from '@svc/testkit/sampled';
import { alterFunction } from '@svc/testkit/store/session';
import { beforeAll, describe, expect, it } from 'vitest';
import { withSeparateNodes } from '../world/deployment.ts';
import {
  type Answer,
  call,
  callUntilSettled,
  issueGrant,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

const PROVISION_KEY = 'provision-key-0123456789-0123456789';
const AT_ONCE = sampled({ quick: 24, deep: 64 });
const CAPS = [1, 1, 2, 5, 13, 32, AT_ONCE - 1];

const deployment = withSeparateNodes({ SVC_ENTITLEMENTS: 'enforce', SVC_PROVISION_KEYS: PROVISION_KEY }, 2);
const urlOf = (i: number) => deployment.processes[i % 2]?.baseUrl ?? '';

const CAP_SINCE = new Date(Date.now() - 60_000).toISOString();

const pushCap = async (orgId: string, checkCap: number, node: number) => {
  const body = {
    production: 'allowed',
    production_until: null,
    check_cap: checkCap,
    cap_since: CAP_SINCE,
    reason: 'trial',
    as_of: new Date().toISOString(),
  };
  const answer = await call(urlOf(node), 'PUT', `/orgs/${orgId}/entitlement`, { key: PROVISION_KEY, body });
  expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('"applied":true') });
};

const getEntitlement = async (orgId: string) => {
  const { text } = await call(urlOf(1), 'GET', `/orgs/${orgId}/entitlement`, { key: PROVISION_KEY });
  return JSON.parse(text) as Record<string, unknown>;
};

/**
 * On a busy machine a node may miss its deadline. The call is then repeated under the same idempotency key, which
 * yields one answer.
 */
const verify = ({ rpKey }: Tenants, body: unknown, i: number, name: string = randomUUID()): Promise<Answer> =>
  callUntilSettled(urlOf(i), 'POST', '/verify', { key: rpKey, body, headers: { 'idempotency-key': name } });

const statuses = (answers: readonly Answer[]) => ({
  allowed: answers.filter((answer) => answer.status === 200 && receiptOf(answer).decision === 'ALLOW').length,
  refused: answers.filter(({ status }) => status === 402).length,
});

const countStored = async ({ rpDid }: Tenants) => {
  const { rows } = await deployment.sql.query('select from receipts where relying_party = $1', [rpDid]);
  return rows.length;
};

const raceAt = async (cap: number) => {
  const orgId = await deployment.createOrg();
  await pushCap(orgId, cap, 0);
  const tenants = await deployment.createTenants({ orgId, rp: { verify_rate_limit_per_minute: 1_000_000 } });
  // One Grant for each node: the first decisions under a Grant are serialised for another reason, since it is bound to
  // its id.
  const grants = [await issueGrant(tenants), await issueGrant(tenants)] as const;
  const bodies = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, i) => verifyBody(tenants, grants[i % 2 === 0 ? 0 : 1])),
  );
  const answers = await Promise.all(bodies.map((body, i) => verify(tenants, body, i)));
  return { orgId, tenants, bodies, answers };
};

describe.each(sampleOf(CAPS, 2))('under a cap of %i', (cap) => {
  it(`${cap} of ${AT_ONCE} are allowed; the Proofs of the others are not spent and are allowed under a higher cap`, async () => {
    const { orgId, tenants, bodies, answers } = await raceAt(cap);
    expect(statuses(answers)).toEqual({ allowed: cap, refused: AT_ONCE - cap });
    expect(await countStored(tenants)).toBe(cap);
    expect(await getEntitlement(orgId)).toMatchObject({
      production_checks_since_cap: cap,
      effective: 'blocked',
      effective_detail: expect.stringContaining(`all ${cap} checks since`),
    });

    const refused = bodies.filter((_, i) => answers[i]?.status === 402);
    const raised = cap + Math.ceil(refused.length / 2);
    await pushCap(orgId, raised, 1);
    const again = await Promise.all(refused.map((body, i) => verify(tenants, body, i)));
    expect(statuses(again)).toEqual({ allowed: raised - cap, refused: AT_ONCE - raised });
    expect(await countStored(tenants)).toBe(raised);
  });
});

it(`${AT_ONCE} requests with one Idempotency-Key count as one check, and all get the same answer`, async () => {
  const orgId = await deployment.createOrg();
  await pushCap(orgId, 1, 0);
  const tenants = await deployment.createTenants({ orgId });
  const body = await verifyBody(tenants, await issueGrant(tenants));
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, i) => verify(tenants, body, i, 'last')),
  );
  expect(statuses(answers)).toEqual({ allowed: AT_ONCE, refused: 0 });
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect((await getEntitlement(orgId)).production_checks_since_cap).toBe(1);
});

describe('with a delay between judging and storing in every commit', () => {
  const STORING = '  perform svc_store(';
  beforeAll(() =>
    alterFunction(
      deployment.databaseUrl,
      'svc_commit_decisions',
      STORING,
      `  perform pg_sleep(0.03);\n${STORING}`,
    ),
  );

  it.each(sampleOf([1, 10], 1))('a cap of %i holds', async (cap) => {
    const { answers } = await raceAt(cap);
    expect(statuses(answers)).toEqual({ allowed: cap, refused: AT_ONCE - cap });
  });

  // In a sample the races at the store show it.
  it.runIf(isDeep)('a cap is exceeded once batches share the lock, so the tests above can fail', async () => {
    await alterFunction(
      deployment.databaseUrl,
      'svc_take_locks',
      '(8, hashtext(d.org_id), d.is_capped)',
      '(8, hashtext(d.org_id), false)',
    );
    let above = 0;
    for (let tries = 0; tries < 20 && above === 0; tries++)
      above = statuses((await raceAt(1)).answers).allowed - 1;
    expect(above).toBeGreaterThan(0);
  });
});
