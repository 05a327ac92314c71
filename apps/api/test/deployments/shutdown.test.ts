/** Stopping a process loses nothing: no request is cut, no answered decision is missing, the process ends by itself. */
import { signProof } from '@svc/sdk-principal/agent';
import { withDatabase } from '@svc/testkit';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { startApiProcesses } from '../world/api-process.ts';
import { DEAR } from '../world/approvals.ts';
import { call, createTenants, issueGrant, receiptOf, verifyBody } from '../world/tenants.ts';

const database = withDatabase();
/** So few that a loaded machine answers each before its deadline, which is a request's own: 503 would be one as well. */
const CLIENTS = 5;

it('SIGTERM under load: every request sent before is answered, every answered decision is stored, exit code 0', async () => {
  const api = await startApiProcesses(1, database.url);
  const [one] = api.processes;
  if (one === undefined) throw new Error('no process');
  try {
    const tenants = await createTenants(one.baseUrl);
    const grant = await issueGrant(tenants);
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
          if (answered.length === 100) exit = one.stop();
        } catch (error) {
          failed.push(error);
        }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    expect(failed).toEqual([]);
    expect(await exit).toBe(0);
    const sql = new Client({ connectionString: database.url });
    await sql.connect();
    const { rows } = await sql.query<{ receipt_id: string }>('select receipt_id from receipts');
    await sql.end();
    const stored = new Set(rows.map(({ receipt_id: id }) => id));
    expect(answered.filter((id) => !stored.has(id))).toEqual([]);
    expect(answered.length).toBeGreaterThanOrEqual(100);
  } finally {
    await api.stop();
  }
});

it('SIGTERM while a call waits for an approval: it is answered as pending, and not cut after 10 s', async () => {
  const api = await startApiProcesses(1, database.url);
  try {
    const baseUrl = api.processes[0]?.baseUrl ?? '';
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
    const waiting = call(baseUrl, 'GET', `/access/v1/requests/${task.id}?wait=20`, { key });
    // Read by then: what comes on later connections is answered.
    await call(baseUrl, 'GET', '/me', { key });
    const exit = api.processes[0]?.stop();
    const answer = await waiting;
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      200,
      expect.objectContaining({ task: expect.objectContaining({ status: 'pending' }) }),
    ]);
    expect(await exit).toBe(0);
  } finally {
    await api.stop();
  }
});
