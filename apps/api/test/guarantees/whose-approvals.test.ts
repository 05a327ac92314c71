/** The new holder of a DID does not get the requests that the former holder was asked (protocol §16, decision 74). */
import { afterAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import {
  approve,
  ask,
  askAbout,
  askedOf,
  insertDue,
  read,
  reject,
  signApproval,
  statusOf,
  verifyAction,
} from '../world/approvals.ts';
import { randomSlug, withOwnDeployment } from '../world/deployment.ts';
import { createHostedTenants, proveDomain } from '../world/hosted-tenants.ts';
import { startPrincipalHost } from '../world/principal-host.ts';
import { issueGrant } from '../world/tenants.ts';

const host = await startPrincipalHost();
afterAll(() => host.close());
const domain = { host, name: `${randomSlug('host')}.example` };
const deployment = withOwnDeployment({ SVC_OUTBOUND_MAP: JSON.stringify({ [domain.name]: host.url }) });
const newOrg = async () => {
  const orgId = await deployment.createOrg();
  return { orgId, key: await deployment.createKey('org:admin', orgId) };
};

const createTenants = async (orgKey: string) => {
  const shop = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
  return createHostedTenants(deployment, domain, orgKey, shop);
};

it('pending requests of a transferred DID expire; the new holder and its org can neither read nor reject them', async () => {
  const [former, next] = [await newOrg(), await newOrg()];
  const tenants = await createTenants(former.key);
  const { principalDid: did } = tenants;
  const held = await issueGrant(tenants);
  const { id: answered } = await ask(deployment, tenants, held, {
    ...{ type: 'commerce:purchase', resource: 'order/9', amount: 90_000, currency: 'USD' },
  });
  await reject(deployment, tenants, answered);
  const { id } = await ask(deployment, tenants, held);
  const due = await insertDue(deployment, id);
  const unasked = await verifyAction(deployment, tenants, held, {
    ...{ type: 'commerce:purchase', resource: 'order/8', amount: 90_000, currency: 'USD' },
  });
  const list = async (key: string, query = '') => {
    const answer = await deployment.call('GET', `/principals/${did}/access-requests${query}`, { key });
    const listed = answer.json.requests as { task: { id: string } }[];
    return listed.map(({ task }) => task.id);
  };
  expect((await list(former.key)).sort()).toEqual([answered, id, due].sort());

  const body = { kind: 'principal', org_id: next.orgId };
  const path = `/claims/${encodeURIComponent(did)}/transfer`;
  expect((await deployment.call('POST', path, { key: ADMIN_TOKEN, body })).status).toBe(200);

  const audit = await deployment.call('GET', `/audit?target=${answered}`, { key: former.key });
  expect((audit.json.events as { action: string }[]).map(({ action }) => action)).toEqual([
    'approval.reject',
  ]);

  const issued = await deployment.call('POST', `/api-keys?subject=${did}`, { key: next.key, body: {} });
  const principalKey = String(issued.json.api_key);
  await proveDomain(deployment, domain, did, next.key);
  for (const key of [principalKey, next.key]) {
    for (const query of ['', '?status=pending', '?status=expired'])
      expect(await list(key, query)).toEqual([]);
    for (const one of [id, due]) {
      const got = await deployment.call('GET', `/principals/${did}/access-requests/${one}`, { key });
      expect(got.status).toBe(404);
      const rejected = await reject(deployment, { ...tenants, principalKey: key }, one);
      expect(rejected.status).toBe(404);
    }
  }
  expect(statusOf(await read(deployment, tenants, id))).toBe('expired');
  const late = await askAbout(deployment, tenants, unasked.receipt_id);
  expect([late.status, late.json.message]).toEqual([409, expect.stringContaining('another holder')]);

  // The new holder gets requests about denials from now on, whichever Grant they concern.
  const again = await ask(deployment, tenants, held);
  for (const key of [principalKey, next.key]) expect(await list(key)).toEqual([again.id]);
  expect(statusOf(await reject(deployment, { ...tenants, principalKey }, again.id))).toBe('denied');
});

it('a Principal with an unproven domain can neither read nor approve its requests (403), but can reject them', async () => {
  const { key: orgKey } = await newOrg();
  const tenants = await createTenants(orgKey);
  const { principalDid: did, principalKey } = tenants;
  const { id, capability } = await ask(deployment, tenants, await issueGrant(tenants));
  const { grant } = await signApproval(tenants, capability);
  await deployment.sql.query(
    `update principals set verification_state = 'unverified', version = version + 1 where did = $1`,
    [did],
  );
  const path = `/principals/${did}/access-requests`;
  const get = (at: string, key: string) => deployment.call('GET', at, { key });
  const refused = [
    await get(path, principalKey),
    await get(path, orgKey),
    await get(`${path}/${id}`, principalKey),
    await approve(deployment, tenants, id, grant),
  ];
  for (const { status, json } of refused)
    expect([status, json.message]).toEqual([403, expect.stringContaining('Rejecting goes on meanwhile')]);
  expect(statusOf(await read(deployment, tenants, id))).toBe('pending');

  const first = await reject(deployment, tenants, id);
  expect(statusOf(first)).toBe('denied');
  expect((await reject(deployment, { ...tenants, principalKey: orgKey }, id)).text).toBe(first.text);
  expect(statusOf(await read(deployment, tenants, id))).toBe('denied');
});

describe('a transfer of the DID during a request for approval', () => {
  const scene = async () => {
    const [former, next] = [await newOrg(), await newOrg()];
    const tenants = await createTenants(former.key);
    const { receipt_id: receiptId } = await verifyAction(deployment, tenants, await issueGrant(tenants));
    const asking = () => askAbout(deployment, tenants, receiptId);
    const path = `/claims/${encodeURIComponent(tenants.principalDid)}/transfer`;
    const body = { kind: 'principal', org_id: next.orgId };
    const transfer = () => deployment.call('POST', path, { key: ADMIN_TOKEN, body });
    const listed = async () => {
      await proveDomain(deployment, domain, tenants.principalDid, next.key);
      const path = `/principals/${tenants.principalDid}/access-requests`;
      return (await deployment.call('GET', path, { key: next.key })).json.requests;
    };
    return { tenants, asking, transfer, listed };
  };

  it('that commits after the denial was read and before the request is recorded makes the request a 409, and nothing is recorded', async () => {
    const { tenants, asking, transfer, listed } = await scene();
    await deployment.sql.query('begin');
    // The row that the recording transaction locks first.
    await deployment.sql.query('select from api_keys where subject = $1 for update', [tenants.rpDid]);
    const asked = asking();
    await deployment.untilWaiting(1);
    expect((await transfer()).status).toBe(200);
    await deployment.sql.query('commit');
    const { status, json } = await asked;
    expect([status, json.message]).toEqual([409, expect.stringContaining('another holder')]);
    expect(await listed()).toEqual([]);
  });

  it('that starts later waits until the request is recorded; the request then expires', async () => {
    const { tenants, asking, transfer, listed } = await scene();
    await deployment.sql.query('begin');
    // A request waits here after it has locked the Principal's row; a transfer waits for that lock.
    await deployment.sql.query('lock table approval_receipts in share mode');
    const asked = asking();
    await deployment.untilWaiting(1);
    const transferred = transfer();
    await deployment.untilWaiting(2);
    await deployment.sql.query('commit');
    const { id } = askedOf(await asked);
    expect((await transferred).status).toBe(200);
    expect(statusOf(await read(deployment, tenants, id))).toBe('expired');
    expect(await listed()).toEqual([]);
  });
});
