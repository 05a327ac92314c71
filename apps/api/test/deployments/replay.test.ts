/** One Proof is allowed once, whatever is sent to which node and when (protocol §7, "Spending"). */
import { randomUUID } from 'node:crypto';
import { withDatabase } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ADMIN_TOKEN, type ApiNodes } from '../world/api-node.ts';
import { startSeparateNodes } from '../world/api-process.ts';
import {
  call,
  callUntilSettled,
  createTenants,
  issueGrant,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

const database = withDatabase();
let api: ApiNodes;
let tenants: Tenants;

beforeAll(async () => {
  api = await startSeparateNodes(2, database.url);
  tenants = await createTenants(api.processes[0]?.baseUrl ?? '');
});
afterAll(() => api?.stop());

const ROUNDS = sampled({ quick: 2, deep: 10 });
const urlOf = (i: number) => api.processes[i % 2]?.baseUrl ?? '';

it('one Proof sent 64 times concurrently to two nodes gives one ALLOW and 63 PROOF_REPLAYED', async () => {
  const grant = await issueGrant(tenants);
  for (let round = 0; round < ROUNDS; round++) {
    const body = await verifyBody(tenants, grant);
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, i) => {
        // A call that a busy machine answers 503 is repeated under its idempotency key.
        const headers = { 'idempotency-key': randomUUID() };
        return callUntilSettled(urlOf(i), 'POST', '/verify', { key: tenants.rpKey, body, headers });
      }),
    );
    const reasons = answers.map((answer) => receiptOf(answer).reason ?? 'ALLOW');
    expect(reasons.filter((reason) => reason === 'ALLOW')).toHaveLength(1);
    expect(reasons.filter((reason) => reason === 'PROOF_REPLAYED')).toHaveLength(63);
  }
});

it('a denied Proof is not spent: with the right Action it is allowed once', async () => {
  const grant = await issueGrant(tenants);
  const body = await verifyBody(tenants, grant);
  const wrong = { ...body, action: { ...body.action, amount: 5 } };
  expect(receiptOf(await call(urlOf(0), 'POST', '/verify', { key: tenants.rpKey, body: wrong })).reason).toBe(
    'PROOF_ACTION_MISMATCH',
  );
  expect(receiptOf(await call(urlOf(1), 'POST', '/verify', { key: tenants.rpKey, body })).decision).toBe(
    'ALLOW',
  );
  expect(receiptOf(await call(urlOf(0), 'POST', '/verify', { key: tenants.rpKey, body })).reason).toBe(
    'PROOF_REPLAYED',
  );
});

it('a spent Proof stays spent when the relying party increases its Proof window afterwards', async () => {
  const narrow = await createTenants(urlOf(0), { proof_window_seconds: 30 });
  const grant = await issueGrant(narrow);
  const body = await verifyBody(narrow, grant);
  expect(receiptOf(await call(urlOf(0), 'POST', '/verify', { key: narrow.rpKey, body })).decision).toBe(
    'ALLOW',
  );
  const did = encodeURIComponent(narrow.rpDid);
  const patched = await call(urlOf(0), 'PATCH', `/relying-parties/${did}`, {
    key: ADMIN_TOKEN,
    body: { proof_window_seconds: 300 },
  });
  expect(patched.status).toBe(200);
  expect(receiptOf(await call(urlOf(1), 'POST', '/verify', { key: narrow.rpKey, body })).reason).toBe(
    'PROOF_REPLAYED',
  );
});

it('64 requests with one Idempotency-Key to two nodes get the same bytes; another body with that key is 409', async () => {
  const grant = await issueGrant(tenants);
  const body = await verifyBody(tenants, grant);
  const headers = { 'idempotency-key': 'order-4711' };
  const answers = await Promise.all(
    Array.from({ length: 64 }, (_, i) =>
      callUntilSettled(urlOf(i), 'POST', '/verify', { key: tenants.rpKey, body, headers }),
    ),
  );
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers.map((answer) => receiptOf(answer).decision)).toEqual(Array(64).fill('ALLOW'));
  // Empty where the call that was stored had been answered 503 before.
  const first = answers.filter((answer) => answer.headers['svc-idempotent-replay'] !== 'true');
  expect(first.length).toBeLessThanOrEqual(1);
  const other = await call(urlOf(0), 'POST', '/verify', {
    key: tenants.rpKey,
    body: { ...body, proof: 'x' },
    headers,
  });
  expect(other.status).toBe(409);
});
