/**
 * Stopping a process loses nothing: no request is cut off, no answered decision is missing, and the process ends by
 * itself.
 */
import { signProof } from '@svc/sdk-principal/agent';
import { withDatabase } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import { runSql } from '@svc/testkit/store/session';
import { expect, it } from 'vitest';
import { startApiProcesses } from '../world/api-process.ts';
import { DEAR } from '../world/approvals.ts';
import { call, createTenants, issueGrant, receiptOf, verifyBody } from '../world/tenants.ts';

const database = withDatabase();
/** Few, so that a loaded machine answers each before the deadline of its request; a 503 would be an answer as well. */
const CLIENTS = 5;
const ANSWERS = sampled({ quick: 20, deep: 100 });

/** Sends a call that waits for an approval; resolves once the process has received it. */
const waitForApproval = async (baseUrl: string) => {
  const tenants = await createTenants(baseUrl, { profile: 'svc-base-v2' });
  const { rpKey: key } = tenants;
  const { grant, grantId } = await issueGrant(tenants);
  const { agent, rpDid } = tenants;
  const [method, url] = ['POST', 'https://shop.example/orders'];
  const proof = await signProof({ agent, grantId, audience: rpDid, method, url, action: DEAR });
  const body = { grant, proof, action: DEAR };
  const { receipt_id } = receiptOf(await call(baseUrl, 'POST', '/verify', { key, body }));
  const asked = await call(baseUrl, 'POST', '/access/v1/requests', { key, body: { receipt_id, proof } });
  const { task } = JSON.parse(asked.text) as { task: { id: string } };
  const answer = call(baseUrl, 'GET', `/access/v1/requests/${task.id}?wait=20`, { key });
  // It has been read by then: a call on a later connection is answered.
  await call(baseUrl, 'GET', '/me', { key });
  return { answer };
};

it('SIGTERM under load: every request is answered, a waiting approval as pending, every answered decision is stored, exit code 0', async () => {
  const api = await startApiProcesses(1, database.url);
  const [one] = api.processes;
  if (one === undefined) throw new Error('no process');
  try {
    const tenants = await createTenants(one.baseUrl);
    const grant = await issueGrant(tenants);
    const waiting = await waitForApproval(one.baseUrl);
    const answered: string[] = [];
    const failed: unknown[] = [];
    let exit: Promise<number | null> | undefined;
    const client = async () => {
      while (exit === undefined && failed.length === 0)
        try {
          const body = await verifyBody(tenants, grant);
          if (exit !== undefined) return;
          const answer = await call(one.baseUrl, 'POST', '/verify', { key: tenants.rpKey, body });
          answered.push(receiptOf(answer).receipt_id);
          if (answered.length === ANSWERS) exit = one.stop();
        } catch (error) {
          failed.push(error);
        }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    expect(failed).toEqual([]);
    const pending = await waiting.answer;
    expect([pending.status, JSON.parse(pending.text)]).toEqual([
      200,
      expect.objectContaining({ task: expect.objectContaining({ status: 'pending' }) }),
    ]);
    expect(await exit).toBe(0);
    const rows = await runSql<{ receipt_id: string }>(database.url, 'select receipt_id from receipts');
    const stored = new Set(rows.map(({ receipt_id: id }) => id));
    expect(answered.filter((id) => !stored.has(id))).toEqual([]);
    expect(answered.length).toBeGreaterThanOrEqual(ANSWERS);
  } finally {
    await api.stop();
  }
});
