/** `GET /decisions/{receipt_id}` (interface §Decisions): the Receipt as it was answered, and who may read it. */
import { encodeUlid } from '@svc/protocol';
import { beforeAll, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { withDeployment } from '../../world/deployment.ts';
import { issueGrant, receiptOf, type Tenants, verifyBody } from '../../world/tenants.ts';

const deployment = withDeployment();
let orgId: string;
let own: Tenants;
let foreign: Tenants;
let answered: string;
let receiptId: string;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  own = await deployment.createTenants({ orgId });
  foreign = await deployment.createTenants({ orgId: await deployment.createOrg() });
  const body = await verifyBody(own, await issueGrant(own));
  const answer = await deployment.call('POST', '/verify', { key: own.rpKey, body });
  answered = answer.text;
  receiptId = receiptOf(answer).receipt_id;
});

const get = (id: string, key: string, query = '') =>
  deployment.call('GET', `/decisions/${id}${query}`, { key });
const absentId = () => `drc_${encodeUlid(Date.now(), new Uint8Array(10).fill(7))}`;

it('GET /decisions/{receipt_id} returns to the relying party, its org and the operator the Receipt byte for byte', async () => {
  const keys = [own.rpKey, ADMIN_TOKEN];
  for (const role of ['org:read', 'org:admin'] as const) keys.push(await deployment.createKey(role, orgId));
  for (const key of keys) {
    const { status, text } = await get(receiptId, key);
    expect([status, text]).toEqual([200, `{"receipt":${answered},"outcomes":[]}`]);
  }
});

it('GET /decisions/{receipt_id} returns a DENY like an ALLOW', async () => {
  const body = { grant: '', proof: '', action: {} };
  const denied = await deployment.call('POST', '/verify', { key: own.rpKey, body });
  const { text } = await get(receiptOf(denied).receipt_id, own.rpKey);
  expect(text).toBe(`{"receipt":${denied.text},"outcomes":[]}`);
});

it('GET /decisions/{receipt_id} answers 404 for another’s decision exactly as for one that does not exist', async () => {
  const absent = absentId();
  for (const key of [foreign.rpKey, await deployment.createKey('org:read', await deployment.createOrg())]) {
    const seen = await get(receiptId, key);
    const none = await get(absent, key);
    expect([seen.status, seen.text.replaceAll(receiptId, '')]).toEqual([
      404,
      none.text.replaceAll(absent, ''),
    ]);
  }
});

it('GET /decisions/{receipt_id}?rp answers 404 if the decision is of another relying party, and 400 to a malformed rp', async () => {
  const org = await deployment.createKey('org:read', orgId);
  for (const key of [own.rpKey, org, ADMIN_TOKEN]) {
    expect((await get(receiptId, key, `?rp=${own.rpDid}`)).status).toBe(200);
    expect((await get(receiptId, key, `?rp=${foreign.rpDid}`)).status).toBe(404);
  }
  expect((await get(receiptId, ADMIN_TOKEN, '?rp=shop')).status).toBe(400);
});

it.each([
  'x',
  'drc_',
  `drc_${'I'.repeat(26)}`,
  `drc_${'8'.repeat(26)}`,
  `oat_${'0'.repeat(26)}`,
  `drc_${'0'.repeat(26)}`,
  `drc_7${'Z'.repeat(25)}`,
])('GET /decisions/%s is 404', async (id) => {
  expect((await get(id, ADMIN_TOKEN)).json.error).toBe('NOT_FOUND');
});
