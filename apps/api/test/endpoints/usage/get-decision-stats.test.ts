/** `GET /decisions/stats` (interface §DecisionStats): decisions by Principal, and the outcomes that were reported. */
import { randomBytes } from 'node:crypto';
import { DAY_MS, encodeUlid } from '@svc/protocol';
import { awayFromMidnight } from '@svc/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { randomSlug, withOwnDeployment } from '../../world/deployment.ts';

const deployment = withOwnDeployment();
await awayFromMidnight();
const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const iso = (ms: number) => new Date(ms).toISOString();

const [acme, bolt] = ['acme', 'bolt'].map((name) => `did:web:${name}-${randomSlug('x')}.example`) as [
  string,
  string,
];
let shop: { did: string; key: string };
let branch: { did: string; key: string };
let orgKey: string;

beforeAll(async () => {
  const orgId = await deployment.createOrg();
  orgKey = await deployment.createKey('org:admin', orgId);
  const register = (org?: string) =>
    deployment.register('/relying-parties', {
      kind: 'managed',
      slug: randomSlug('r'),
      ...(org === undefined ? {} : { org_id: org }),
    });
  shop = await register(orgId);
  branch = await register();
  await deployment.sql.query('select svc_ensure_receipt_partitions(current_date - 40, current_date)');

  const allowed = await decide(shop.did, { daysAgo: 3, principal: acme });
  const mistaken = await report(shop.key, allowed, {
    type: 'loss_reported',
    loss_amount: 999,
    currency: 'USD',
  });
  await report(shop.key, allowed, {
    ...{ type: 'loss_reported', loss_amount: 500, currency: 'EUR' },
    correction_of: mistaken,
  });
  // An amount with another type is stored, but is not counted as a loss.
  await report(shop.key, allowed, { type: 'dispute_opened', loss_amount: 7_000, currency: 'EUR' });
  await report(shop.key, await decide(shop.did, { daysAgo: 2, principal: acme }), {
    ...{ type: 'loss_reported', loss_amount: 250, currency: 'EUR' },
  });
  await decide(shop.did, { daysAgo: 2, principal: acme });
  await report(shop.key, await decide(shop.did, { daysAgo: 1, principal: acme, reason: 'GRANT_EXPIRED' }), {
    type: 'cancelled',
  });
  await decide(shop.did, { daysAgo: 1, principal: null, reason: 'GRANT_MALFORMED' });
  // The issuer of this Grant was not shown to be acme.
  await report(
    shop.key,
    await decide(shop.did, { daysAgo: 1, principal: acme, reason: 'ISSUER_UNVERIFIED' }),
    {
      ...{ type: 'loss_reported', loss_amount: 5_000, currency: 'GBP' },
    },
  );
  await report(shop.key, await decide(shop.did, { daysAgo: 35, principal: acme }), { type: 'fulfilled' });
  await report(branch.key, await decide(branch.did, { daysAgo: 1, principal: bolt }), { type: 'fulfilled' });
});

const decide = async (
  rp: string,
  {
    daysAgo,
    principal,
    reason = null,
  }: { daysAgo: number; principal: string | null; reason?: string | null },
): Promise<string> => {
  const atMs = today - daysAgo * DAY_MS + 1;
  const receiptId = `drc_${encodeUlid(atMs, randomBytes(10))}`;
  await deployment.sql.query(
    `insert into receipts (receipt_id, relying_party, principal, decision, reason, evaluated_at, jws, content_hash)
     values ($1, $2, $3, $4, $5, to_timestamp($6 / 1000.0), 'x', sha256('x'))`,
    [receiptId, rp, principal, reason === null ? 'ALLOW' : 'DENY', reason, atMs],
  );
  return receiptId;
};

const report = async (key: string, receiptId: string, event: object): Promise<string> => {
  const body = { occurred_at: iso(today), ...event };
  const { status, json, text } = await deployment.call('POST', `/decisions/${receiptId}/outcomes`, {
    key,
    body,
  });
  if (status !== 201) throw new Error(`${status}: ${text}`);
  return String(json.attestation_id);
};

const stats = async (key: string, query: Readonly<Record<string, string>> = {}) => {
  const path = `/decisions/stats?${new URLSearchParams(query)}`;
  const { status, json, text } = await deployment.call('GET', path, { key });
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return json;
};

const range = { since: iso(today - 29 * DAY_MS), until: iso(today + DAY_MS) };
const ofAcme = {
  principal: acme,
  ...{ verifies: 4, allow: 3, deny: 1 },
  reasons: { GRANT_EXPIRED: 1 },
  outcomes: { loss_reported: 2, dispute_opened: 1, cancelled: 1 },
  losses: { EUR: 750 },
  allow_with_outcome: 2,
};
const ofNobody = {
  principal: null,
  ...{ verifies: 2, allow: 0, deny: 2 },
  reasons: { GRANT_MALFORMED: 1, ISSUER_UNVERIFIED: 1 },
  ...{ outcomes: { loss_reported: 1 }, losses: { GBP: 5_000 }, allow_with_outcome: 0 },
};
const ofBolt = {
  principal: bolt,
  ...{ verifies: 1, allow: 1, deny: 0 },
  reasons: {},
  ...{ outcomes: { fulfilled: 1 }, losses: {}, allow_with_outcome: 1 },
};
const ofShop = () => ({
  ...range,
  rps: [shop.did],
  totals: { verifies: 6, allow: 3, deny: 3, allow_with_outcome: 2 },
  principals: [ofAcme, ofNobody],
});
const ofAll = {
  ...range,
  totals: { verifies: 7, allow: 4, deny: 3, allow_with_outcome: 3 },
  principals: [ofAcme, ofBolt, ofNobody],
};

describe.each([
  ['before', 'select 1'],
  ['after', 'select svc_seal_ledger(svc_ms(svc_now())), svc_count_usage(1000)'],
])('GET /decisions/stats %s the decisions are summed', (_, work) => {
  beforeAll(() => deployment.sql.query(work));

  it('covers for RP and org keys their relying parties; a corrected outcome record counts only as corrected', async () => {
    expect(await stats(shop.key)).toEqual(ofShop());
    expect(await stats(orgKey)).toEqual(ofShop());
    expect(await stats(orgKey, { rp: shop.did })).toEqual(ofShop());
  });

  it('covers for the operator and an observer everything, or one relying party', async () => {
    for (const key of [ADMIN_TOKEN, await deployment.createKey('observer', 'did:web:svc.test')]) {
      expect(await stats(key)).toEqual(ofAll);
      expect(await stats(key, { rp: shop.did })).toEqual(ofShop());
    }
  });

  it('filters by one Principal; one without decisions gives an empty list', async () => {
    const { principals, totals } = await stats(shop.key, { principal: acme });
    expect({ principals, totals }).toEqual({
      principals: [ofAcme],
      totals: { verifies: 4, allow: 3, deny: 1, allow_with_outcome: 2 },
    });
    expect(await stats(shop.key, { principal: bolt })).toMatchObject({ principals: [] });
  });

  it('counts outcomes on the day of their decision', async () => {
    const query = { since: iso(today - 36 * DAY_MS), until: iso(today - 30 * DAY_MS) };
    expect((await stats(shop.key, query)).principals).toEqual([
      {
        ...ofAcme,
        verifies: 1,
        allow: 1,
        deny: 0,
        reasons: {},
        outcomes: { fulfilled: 1 },
        losses: {},
        allow_with_outcome: 1,
      },
    ]);
    const part = { since: iso(today - 3 * DAY_MS + 1), until: iso(today - 2 * DAY_MS + 1) };
    expect((await stats(shop.key, part)).principals).toEqual([
      {
        ...{ principal: acme, verifies: 1, allow: 1, deny: 0, reasons: {} },
        ...{ outcomes: { loss_reported: 1, dispute_opened: 1 }, losses: { EUR: 500 }, allow_with_outcome: 1 },
      },
    ]);
  });
});

it('GET /decisions/stats caps a sum beyond the safe integers at the largest safe integer', async () => {
  const receiptId = await decide(branch.did, { daysAgo: 20, principal: acme });
  for (let i = 0; i < 2; i++) {
    const loss_amount = Number.MAX_SAFE_INTEGER;
    await report(branch.key, receiptId, { type: 'loss_reported', loss_amount, currency: 'JPY' });
  }
  const query = { since: iso(today - 21 * DAY_MS), until: iso(today - 19 * DAY_MS) };
  expect((await stats(ADMIN_TOKEN, query)).principals).toMatchObject([
    { losses: { JPY: Number.MAX_SAFE_INTEGER } },
  ]);
});

it.each([
  { since: iso(today), until: iso(today) },
  { since: iso(today - 366 * DAY_MS), until: iso(today + 1) },
  { principal: 'acme' },
  { key_id: 'aaaaaaaaaaaa' },
  { by: 'key' },
])('GET /decisions/stats refuses %o with 400', async (query) => {
  const path = `/decisions/stats?${new URLSearchParams(query as Record<string, string>)}`;
  expect((await deployment.call('GET', path, { key: ADMIN_TOKEN })).status).toBe(400);
});
