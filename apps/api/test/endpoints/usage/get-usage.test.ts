/**
 * `GET /usage` (interface §Usage, §GET /usage): every caller's view of the same decisions, before and after they are
 * aggregated.
 */
import { randomBytes } from 'node:crypto';
import { DAY_MS, encodeUlid } from '@svc/protocol';
import { awayFromMidnight } from '@svc/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { randomSlug, withOwnDeployment } from '../../world/deployment.ts';

const deployment = withOwnDeployment();
await awayFromMidnight();
const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;

interface Decision {
  readonly atMs: number;
  readonly rp: string;
  readonly principal: string | null;
  readonly keyId: string | null;
  readonly reason: string | null;
}

const [shop, branch, elsewhere] = ['shop', 'branch', 'elsewhere'].map(
  (name) => `did:web:${randomSlug(name)}.example`,
) as [string, string, string];
const [member, stranger] = ['member', 'stranger'].map((name) => `did:web:${randomSlug(name)}.example`) as [
  string,
  string,
];
const [key1, key2, key3] = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'] as const;

const decisions: readonly Decision[] = [
  [-40, 12, shop, member, key1, null],
  [-29, 0, shop, member, key1, null],
  [-29, 23.9, branch, stranger, key2, 'GRANT_EXPIRED'],
  [-3, 0, shop, null, null, 'GRANT_MALFORMED'],
  [-3, 12, shop, member, key1, 'PROOF_EXPIRED'],
  [-3, 12, shop, member, key1, 'PROOF_EXPIRED'],
  [-3, 18, elsewhere, member, key3, null],
  [-1, 6, shop, stranger, key1, null],
  [-1, 6, branch, member, key2, null],
  [0, 0, elsewhere, stranger, key3, 'AMOUNT_EXCEEDS_AUTHORITY'],
  [0, 0, shop, member, null, null],
].map(([day, hour, rp, principal, keyId, reason]) => ({
  atMs: today + Number(day) * DAY_MS + Number(hour) * 3_600_000,
  rp: String(rp),
  principal: principal as string | null,
  keyId: keyId as string | null,
  reason: reason as string | null,
}));

const keys: Record<string, string> = { admin: ADMIN_TOKEN };

beforeAll(async () => {
  const { sql } = deployment;
  const orgId = await deployment.createOrg();
  const hosted = (did: string, org?: string) => ({
    kind: 'hosted',
    did,
    ...(org === undefined ? {} : { org_id: org }),
  });
  await deployment.register('/principals', hosted(stranger));
  keys.principal = (await deployment.register('/principals', hosted(member, orgId))).key;
  keys.rp = (await deployment.register('/relying-parties', hosted(shop, orgId))).key;
  await deployment.register('/relying-parties', hosted(branch, orgId));
  await deployment.register('/relying-parties', hosted(elsewhere));
  keys.org = await deployment.createKey('org:read', orgId);
  keys.observer = await deployment.createKey('observer', 'did:web:svc.test');
  keys.emptyOrg = await deployment.createKey('org:admin', await deployment.createOrg());
  // Decisions before its DID was registered would belong to another holder.
  await sql.query(`update principals set created_at = now() - interval '60 days' where did = $1`, [member]);
  await sql.query('select svc_ensure_receipt_partitions(current_date - 41, current_date)');
  for (const one of decisions) await insert(one);
});

const insert = ({ atMs, rp, principal, keyId, reason }: Decision) =>
  deployment.sql.query(
    `insert into receipts (receipt_id, relying_party, principal, key_id, decision, reason, evaluated_at, jws, content_hash)
     values ($1, $2, $3, $4, $5, $6, to_timestamp($7 / 1000.0), 'x', sha256('x'))`,
    [
      `drc_${encodeUlid(atMs, randomBytes(10))}`,
      rp,
      principal,
      keyId,
      reason === null ? 'ALLOW' : 'DENY',
      reason,
      atMs,
    ],
  );

const iso = (ms: number) => new Date(ms).toISOString();
const dayOf = (ms: number) => iso(ms).slice(0, 10);

interface Range {
  readonly sinceMs: number;
  readonly untilMs: number;
}
const DEFAULT: Range = { sinceMs: today - 29 * DAY_MS, untilMs: today + DAY_MS };

const countsOf = (some: readonly Decision[]) => {
  const allow = some.filter(({ reason }) => reason === null).length;
  return { verifies: some.length, allow, deny: some.length - allow };
};
const groupBy = (some: readonly Decision[], nameOf: (one: Decision) => string | null) => {
  const groups: Record<string, Decision[]> = {};
  for (const one of some) {
    const name = nameOf(one);
    if (name !== null) groups[name] = [...(groups[name] ?? []), one];
  }
  return groups;
};

/** The answer, with its counts summed by the test. */
const usageOf = (
  isMeant: (one: Decision) => boolean,
  { sinceMs, untilMs }: Range = DEFAULT,
  byKey = false,
) => {
  const meant = decisions.filter((one) => isMeant(one) && one.atMs >= sinceMs && one.atMs < untilMs);
  const days = [];
  for (let ms = Math.floor(sinceMs / DAY_MS) * DAY_MS; ms < untilMs; ms += DAY_MS) {
    const some = meant.filter(({ atMs }) => dayOf(atMs) === dayOf(ms));
    const reasons = groupBy(some, ({ reason }) => reason);
    const byKeys = groupBy(some, ({ keyId }) => keyId ?? 'unknown');
    days.push({
      day: dayOf(ms),
      ...countsOf(some),
      reasons: Object.fromEntries(Object.entries(reasons).map(([reason, of]) => [reason, of.length])),
      ...(byKey
        ? { keys: Object.fromEntries(Object.entries(byKeys).map(([id, of]) => [id, countsOf(of)])) }
        : {}),
    });
  }
  return { since: iso(sinceMs), until: iso(untilMs), totals: countsOf(meant), days };
};

const usage = async (who: string, query: Readonly<Record<string, string>> = {}) => {
  const path = `/usage?${new URLSearchParams(query)}`;
  const { status, json, text } = await deployment.call('GET', path, { key: keys[who] ?? '' });
  if (status !== 200) throw new Error(`${who} ${path}: ${status} ${text}`);
  return json;
};

const WHOLE = { since: iso(today - 50 * DAY_MS), until: iso(today + DAY_MS) };
const WHOLE_MS = { sinceMs: today - 50 * DAY_MS, untilMs: today + DAY_MS };
const ODD = { since: iso(today - 3 * DAY_MS + 1), until: iso(today - DAY_MS + 6 * 3_600_000 + 1) };
const ODD_MS = { sinceMs: Date.parse(ODD.since), untilMs: Date.parse(ODD.until) };
const NOON = { since: iso(today - 3 * DAY_MS + DAY_MS / 2), until: iso(today - 3 * DAY_MS + 0.75 * DAY_MS) };
const NOON_MS = { sinceMs: Date.parse(NOON.since), untilMs: Date.parse(NOON.until) };

describe.each([
  ['no day is summed', ''],
  ['some days are summed', 'select svc_count_usage(5)'],
  ['all sealed days are summed', 'select svc_seal_ledger(svc_ms(svc_now())), svc_count_usage(1000)'],
])('GET /usage while %s', (_, work) => {
  beforeAll(async () => {
    if (work !== '') await deployment.sql.query(work);
  });

  it('counts for an RP key its own verifications', async () => {
    expect(await usage('rp')).toEqual({ ...usageOf(({ rp }) => rp === shop), rp: shop });
    expect(await usage('rp', { rp: shop, principal: member, key_id: key1, ...WHOLE })).toEqual({
      ...usageOf((one) => one.rp === shop && one.principal === member && one.keyId === key1, WHOLE_MS),
      ...{ rp: shop, principal: member, key_id: key1 },
    });
  });

  it('counts for a Principal key the verifications of its Grants, at any relying party', async () => {
    const mine = ({ principal }: Decision) => principal === member;
    expect(await usage('principal')).toEqual({ ...usageOf(mine), principal: member });
    expect(await usage('principal', { by: 'key', ...WHOLE })).toEqual({
      ...usageOf(mine, WHOLE_MS, true),
      principal: member,
    });
    expect(await usage('principal', { rp: elsewhere })).toEqual({
      ...usageOf((one) => mine(one) && one.rp === elsewhere),
      ...{ principal: member, rp: elsewhere },
    });
  });

  it('counts for an org key all its relying parties, one of them, or the Grants of a member', async () => {
    const rps = [shop, branch].sort();
    expect(await usage('org', WHOLE)).toEqual({ ...usageOf(({ rp }) => rp !== elsewhere, WHOLE_MS), rps });
    expect(await usage('org', { rp: branch })).toEqual({
      ...usageOf(({ rp }) => rp === branch),
      ...{ rp: branch, rps: [branch] },
    });
    expect(await usage('org', { principal: member })).toEqual({
      ...usageOf(({ principal }) => principal === member),
      principal: member,
    });
    expect(await usage('org', { principal: member, rp: shop })).toEqual({
      ...usageOf((one) => one.principal === member && one.rp === shop),
      ...{ principal: member, rp: shop, rps: [shop] },
    });
  });

  it('counts nothing for an org without relying parties', async () => {
    expect(await usage('emptyOrg')).toEqual({ ...usageOf(() => false), rps: [] });
  });

  it.each(['admin', 'observer'])(
    'counts for the %s all verifications, or any filtered part of them',
    async (who) => {
      expect(await usage(who)).toEqual(usageOf(() => true));
      expect(await usage(who, { by: 'key' })).toEqual(usageOf(() => true, DEFAULT, true));
      expect(await usage(who, { key_id: key3, ...WHOLE })).toEqual({
        ...usageOf(({ keyId }) => keyId === key3, WHOLE_MS),
        key_id: key3,
      });
      expect(await usage(who, { rp: elsewhere, by: 'key' })).toEqual({
        ...usageOf(({ rp }) => rp === elsewhere, DEFAULT, true),
        rp: elsewhere,
      });
      expect(await usage(who, { principal: stranger, by: 'key', key_id: key1 })).toEqual({
        ...usageOf((one) => one.principal === stranger && one.keyId === key1, DEFAULT, true),
        ...{ principal: stranger, key_id: key1 },
      });
    },
  );

  it('counts from and to any instant, with partial days', async () => {
    expect(await usage('admin', ODD)).toEqual(usageOf(() => true, ODD_MS));
    expect(await usage('rp', NOON)).toEqual({ ...usageOf(({ rp }) => rp === shop, NOON_MS), rp: shop });
    expect(await usage('org', { ...ODD, by: 'key' })).toMatchObject(
      usageOf(({ rp }) => rp !== elsewhere, ODD_MS, true),
    );
  });
});

it('GET /usage counts a decision as soon as /verify has answered', async () => {
  const before = await usage('rp');
  const body = { grant: '', proof: '', action: {} };
  const { status } = await deployment.call('POST', '/verify', { key: keys.rp ?? '', body });
  expect(status).toBe(200);
  const { verifies, allow, deny } = before.totals as Record<string, number>;
  expect((await usage('rp')).totals).toEqual({
    verifies: Number(verifies) + 1,
    allow,
    deny: Number(deny) + 1,
  });
});

describe('GET /usage checks its query', () => {
  it.each([
    { since: iso(today), until: iso(today) },
    { since: iso(today), until: iso(today - 1) },
    { since: iso(today + 2 * DAY_MS) },
    { until: iso(today - 29 * DAY_MS) },
    { since: iso(today - 366 * DAY_MS), until: iso(today + 1) },
    { since: 'yesterday' },
    { since: '2026-02-30T00:00:00Z' },
    { until: '2026-11-20' },
    { by: 'rp' },
    { key_id: 'AAAAAAAAAAAA' },
    { rp: 'shop' },
    { principal: '' },
    { limit: '1' },
  ])('%o is refused with 400', async (query) => {
    const path = `/usage?${new URLSearchParams(query as Record<string, string>)}`;
    expect((await deployment.call('GET', path, { key: ADMIN_TOKEN })).status).toBe(400);
  });

  it('a period of 366 days is accepted', async () => {
    const days = { since: iso(today - 366 * DAY_MS), until: iso(today) };
    expect((await usage('admin', days)).days).toHaveLength(366);
  });

  it.each(['0000-01-01T00:00:00Z', '1969-06-01T12:00:00Z', '9998-12-31T00:00:00Z'])(
    'a period in the distant past or future is accepted and counts nothing: %s',
    async (since) => {
      const until = iso(Date.parse(since) + DAY_MS);
      expect((await usage('admin', { since, until })).totals).toEqual({ verifies: 0, allow: 0, deny: 0 });
    },
  );
});
