/**
 * `GET /metrics` (interface §Metrics): public and aggregated; self-test tenants are separate, and Principals are named
 * only by consent.
 */
import { randomBytes } from 'node:crypto';
import { DAY_MS, dayOf, encodeUlid } from '@svc/protocol';
import { awayFromMidnight } from '@svc/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { newOrgId, randomSlug, withOwnDeployment } from '../../world/deployment.ts';

const selfTest = newOrgId();
const deployment = withOwnDeployment({ SVC_SELF_TEST_ORGS: selfTest });
await awayFromMidnight();
const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;

const subjects: string[] = [];
let named: string;
let domain: string;

const insertOrg = (orgId: string) =>
  deployment.sql.query(`insert into orgs (org_id, slug, name) values ($1, $2, 'An org')`, [
    orgId,
    randomSlug('org'),
  ]);

beforeAll(async () => {
  const customer = newOrgId();
  for (const orgId of [selfTest, customer]) {
    await insertOrg(orgId);
    const { principalDid, rpDid } = await deployment.createTenants({ orgId });
    subjects.push(principalDid, rpDid, orgId);
    for (const [daysAgo, reason] of [
      [0, null],
      [0, 'GRANT_EXPIRED'],
      [5, null],
      [40, null],
    ] as const)
      await decide(rpDid, daysAgo, reason);
    if (orgId === customer) await decide(rpDid, 1, null);
  }
  domain = `${randomSlug('named')}.example`;
  named = `did:web:${domain}`;
  const hidden = `did:web:${randomSlug('hidden')}.example`;
  for (const did of [named, hidden]) await deployment.register('/principals', { kind: 'hosted', did });
  await deployment.sql.query('update principals set may_be_named = true where did <> $1', [hidden]);
  await deployment.sql.query(
    `update principals set verification_state = 'verified', last_proven_at = now() where did = $1`,
    [named],
  );
});

const decide = async (rp: string, daysAgo: number, reason: string | null) => {
  const atMs = today - daysAgo * DAY_MS;
  await deployment.sql.query(`select svc_ensure_receipt_partitions(current_date - ${daysAgo}, current_date)`);
  await deployment.sql.query(
    `insert into receipts (receipt_id, relying_party, decision, reason, evaluated_at, jws, content_hash)
     values ($1, $2, $3, $4, to_timestamp($5 / 1000.0), 'x', sha256('x'))`,
    [`drc_${encodeUlid(atMs, randomBytes(10))}`, rp, reason === null ? 'ALLOW' : 'DENY', reason, atMs],
  );
};

const metrics = async (days?: number) => {
  const { status, json, text, headers } = await deployment.call(
    'GET',
    days === undefined ? '/metrics' : `/metrics?days=${days}`,
  );
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return { json, text, headers };
};

it('GET /metrics counts customers, and self-test tenants separately', async () => {
  const { json } = await metrics();
  const managed = `did:web:svc.test:org:`;
  expect(json).toMatchObject({
    service_did: 'did:web:svc.test',
    env: 'development',
    principals: { verified: 2, hosted_verified: 1, hosted_unverified: 1, managed: 1 },
    relying_parties: 1,
    organizations: 1,
    receipts_total: 5,
    transparency: {},
    named_principals: [
      { did: named, domain, kind: 'hosted' },
      { did: expect.stringContaining(managed), domain: 'svc.test', kind: 'managed' },
    ],
    self_test: { principals: 1, relying_parties: 1, organizations: 1 },
  });
});

it.each([undefined, 1, 2, 6, 366])(
  'GET /metrics with a window of %s days lists each day, also those without decisions',
  async (days) => {
    const { json } = await metrics(days);
    const window = days ?? 30;
    const counts = (daysAgo: number) =>
      [
        { verifies: 2, allow: 1, deny: 1 },
        { verifies: 1, allow: 1, deny: 0 },
      ][daysAgo] ??
      ([5, 40].includes(daysAgo) ? { verifies: 1, allow: 1, deny: 0 } : { verifies: 0, allow: 0, deny: 0 });
    const ago = Array.from({ length: window }, (_, index) => window - 1 - index);
    const sum = (name: 'verifies' | 'allow' | 'deny') =>
      ago.reduce((total, one) => total + counts(one)[name], 0);
    expect(json.verifies).toEqual({
      window_days: window,
      since: new Date(today - (window - 1) * DAY_MS).toISOString(),
      until: new Date(today + DAY_MS).toISOString(),
      ...{ verifies: sum('verifies'), allow: sum('allow'), deny: sum('deny') },
      per_day: ago.map((one) => ({ day: dayOf(today - one * DAY_MS), ...counts(one) })),
    });
  },
);

it('GET /metrics names only tenants that consented', async () => {
  const { text, json } = await metrics(366);
  const consented = (json.named_principals as { did: string }[]).map(({ did }) => did);
  for (const subject of subjects.filter((one) => !consented.includes(one)))
    expect(text).not.toContain(subject);
});

it('GET /metrics is cacheable for 5 s', async () => {
  expect((await metrics()).headers['cache-control']).toBe('public, max-age=5');
});

describe('GET /metrics refuses a bad window with 400', () => {
  it.each(['days=0', 'days=367', 'days=-1', 'days=1.5', 'days=', 'days=x', 'window=1'])(
    '%s',
    async (query) => {
      expect((await deployment.call('GET', `/metrics?${query}`)).status).toBe(400);
    },
  );
});
